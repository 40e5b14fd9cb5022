"""The plugins of the rooms: their options, fixtures and hooks."""

pytest_plugins = ("verifiers_pinned.plugin", "reports.plugin", "audit.plugin", "audit.wording_lock", "pytester")
