"""Oracles that no predicate says readably: `function(params, text)` gives True or False, or these by reading."""
