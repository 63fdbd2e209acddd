"""Facts in what was said and done, each with the entries that hold it.

Paths, commands with their exit status, numbers, errors, identifiers, URLs, the user's demands, decisions with their
reasons, and work that is still to be done.

`reader` reads messages one after the other, with `request_reader` and `call_reader`; `text_facts` reads a single text. They
ask `forms`, `sentences` and `calls` what is in it. `values` has the facts themselves.
"""
