"""Sessions and entries found by what is typed.

Public: `search` (all text of all sessions, and their cards), `select` (entries of one session by an expression).
"""

from __future__ import annotations
