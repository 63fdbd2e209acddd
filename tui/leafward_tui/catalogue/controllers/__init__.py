"""Sessions of the catalogue, their order and filter, the preview, and acts on a session. Each has a state of its own."""
