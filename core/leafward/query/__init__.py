"""Sessions and entries found by what is typed.

Public: `grammar` (one language, read as one tree; `vocabulary` has its words), `search` (all text of all sessions, and their
cards), `select` (entries of one session by an expression).
"""

from __future__ import annotations
