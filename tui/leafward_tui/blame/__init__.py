"""Blame: which turn of which session wrote each line of a file as it stands on disk, and what that turn was for.

`screen.BlameScreen` is what others open; it opens the session of a line on top of itself and hands nothing back.
"""

from __future__ import annotations
