"""Blame: the turn and session that wrote each line of a file on disk, and the purpose of that turn.

`screen.BlameScreen` is the entrance for other features; it opens the session of a line on top of itself and hands
nothing back.
"""
