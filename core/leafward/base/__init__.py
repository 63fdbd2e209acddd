"""Foundations of every room: errors, times, folders, settings, safe and redacted text. Imports nothing of Leafward.

Public: `errors`, `times`, `paths`, `config`, `safe_text`, `redact`, `globs`, `gc_pause`.
"""

from __future__ import annotations
