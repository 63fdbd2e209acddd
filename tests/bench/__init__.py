"""Measurements: `make bench`. Never part of the tests; what can be counted instead of timed is asserted there."""

from __future__ import annotations
