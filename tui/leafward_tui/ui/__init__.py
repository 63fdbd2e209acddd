"""Widgets, keys, words and values that any feature uses and that know no feature, and the services that a feature asks for.

`appearance`, `keys`, `text` and `words` are values. Widgets stand on them in this order: `panes`, `bars`, `sheets`, `screens`.
"""
