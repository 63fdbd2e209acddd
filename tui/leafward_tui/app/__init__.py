"""The application: wiring, the command palette, the jobs beside the screen."""
