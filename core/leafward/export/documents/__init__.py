"""Documents of a session or a comparison: their content, and the forms in which it is written."""
