"""GRPO on rewards that were audited first, thin around a trainer."""
