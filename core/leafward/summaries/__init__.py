"""Facts in a session's messages, summaries of a span, and the facts of the span that survive in a summary.

Public: `facts`, `summarizers`, `survival`.
"""
