"""The lines of the catalogue: groups, order and nesting, the preview of a session, the table of totals. Pure."""
