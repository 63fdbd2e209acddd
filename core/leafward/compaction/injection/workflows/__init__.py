"""Workflows as data: their stages, artifacts, gates and texts. One TOML file each."""
