"""The application: wiring, the command palette, what runs beside the screen."""

from __future__ import annotations
