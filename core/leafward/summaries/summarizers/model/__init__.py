"""The summariser that asks a model: what is sent, how it is sent, and the answer made into a summary."""
