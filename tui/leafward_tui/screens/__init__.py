"""Full screens and modals, imported when they are shown."""

from __future__ import annotations
