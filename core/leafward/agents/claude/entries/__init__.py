"""The rows of a transcript, and the entries that they make: their parents, ids and native bodies."""
