"""Widgets: each is given a model and posts messages; none reads a file."""

from __future__ import annotations
