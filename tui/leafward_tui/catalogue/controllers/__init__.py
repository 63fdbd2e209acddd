"""What the keys of the catalogue do, each part with a state of its own; none knows the screen but through its port."""

from __future__ import annotations
