"""The compaction lab as values: what is chosen, what a plan makes of each turn, and the lines that say so. No widget.

Nothing here reads a file or decodes an entry: the path was measured once, and what a line needs to be worded is handed in.
"""

from __future__ import annotations
