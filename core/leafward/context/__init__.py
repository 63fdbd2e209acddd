"""The messages that the model receives at an entry, and their sizes.

Public: `projection` (which entries), `model_context` (the context at an entry), `message_columns` (its messages as columns),
`recorded_usage`, `sizes` and `entry_metrics` (columns of tokens and calls), `basis` (the one figure for a context's size),
`estimators`, `price` (of a leaf move), `call_status`.
"""
