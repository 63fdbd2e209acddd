"""A blame in words. Pure."""
