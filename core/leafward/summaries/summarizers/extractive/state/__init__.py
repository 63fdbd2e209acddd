"""The state at the end of a span: what later work made wrong, and what holds instead."""
