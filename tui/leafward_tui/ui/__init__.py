"""Widgets and screens that know no feature, and the services that a feature asks for."""

from __future__ import annotations
