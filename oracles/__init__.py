"""What is right: oracles that never read a verifier."""
