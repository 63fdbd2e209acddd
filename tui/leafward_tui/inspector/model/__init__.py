"""The pages of the inspector: pure, a module for each tab and for what a tab is made of."""

from __future__ import annotations
