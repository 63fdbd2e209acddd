"""The controller of the inspector; it knows the pane by its port only."""

from __future__ import annotations
