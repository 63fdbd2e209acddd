"""The search of all text: results by session, and each hit in its text.

`SearchScreen` is the entrance for other features; it hands back a `LeftSearch`, with which the next one goes on.
"""
