"""The application: wiring, the command palette, keys that come faster than screens."""
