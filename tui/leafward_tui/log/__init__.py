"""The operation log: the operations of Leafward and the agent on the tree of a session, and their undo.

`screen.LogScreen` is the entrance for other features; it hands back an entry to go to.
"""
