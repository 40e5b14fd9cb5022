"""Specs of the constraint templates: one YAML file each, one loader."""
