"""The application: wiring, the command palette, the jobs beside the screen."""

from __future__ import annotations
