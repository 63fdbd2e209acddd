"""What the inspector is drawn with."""

from __future__ import annotations
