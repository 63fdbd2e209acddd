"""The options of the verbs, as typed values: what `--help` shows and what a verb gets come from one field."""
