"""The lines of rollouts, and the entries that they make: their links, ids and native bodies."""
