"""What the keys of the operation log do; none knows the screen but through its port."""

from __future__ import annotations
