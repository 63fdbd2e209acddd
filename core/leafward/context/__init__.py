"""The messages that the model receives at an entry, and their sizes.

`projection` decides which entries of a path are sent, `model_context` makes the messages, `message_columns` holds them. `basis` is
the one figure for the size of a context: from `recorded_usage` where the file has it, else from `sizes`, `entry_metrics` and
`estimators`. `price` is what a leaf move costs; `call_status` and `open_calls` tell how calls ended.
"""
