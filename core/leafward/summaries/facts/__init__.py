"""Facts in what was said and done, each with the entries that hold it.

Paths, commands with their exit status, numbers, errors, identifiers, URLs, the user's demands, decisions with their
reasons, and work that is still to be done.
"""
