"""What a text names in a form of its own: paths, numbers, identifiers, commands, addresses."""
