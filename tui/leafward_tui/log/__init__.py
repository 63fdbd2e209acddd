"""The operation log: what Leafward and the agent did to the tree of a session, and taking any of it back.

`screen.LogScreen` is what others open; it hands back an entry to go to.
"""

from __future__ import annotations
