"""Facts in a session's messages, summaries of a span, and the facts of the span that survive in a summary.

Each knows those before it: `facts` finds facts in texts and calls, `survival` reads a span and tells whether a text has a fact of
it, `summarizers` make summaries, `fates` report what became of each fact.
"""
