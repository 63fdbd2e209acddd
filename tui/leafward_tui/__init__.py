"""The full-screen application on top of `leafward`.

Importing this package loads nothing else: the command line starts here too, and must answer before Textual is there.
"""
