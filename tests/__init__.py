"""Tests: `core`, `tui`, `cli`, over small data in `data`; `bench` holds the measurements, which are not tests."""
