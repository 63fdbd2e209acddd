"""What the keys of the blame do; none knows the screen but through its port."""

from __future__ import annotations
