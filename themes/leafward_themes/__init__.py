"""Built-in themes: one TOML file each in this folder, read exactly as a user's own theme is read."""

from __future__ import annotations
