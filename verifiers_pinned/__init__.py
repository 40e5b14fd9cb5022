"""Pinned copies of the verifiers that people run, fetched, checked and called safely."""
