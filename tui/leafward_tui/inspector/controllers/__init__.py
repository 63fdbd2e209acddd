"""What the inspector does; knows the pane through its port alone."""

from __future__ import annotations
