"""Summaries of a span of a session: the request, the result, and the protocol of summarisers.

`extractive` works offline and always; a summariser that asks a model fits the same protocol.
"""
