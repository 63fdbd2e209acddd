"""Widgets, keys, words and values that any feature uses and that know no feature, and the services that a feature asks for.

`screens`, `sheets`, `panes` and `bars` are widgets; `keys` says what keys do; `text`, `words` and `appearance` are values.
"""
