"""The entries that messages and their parts make: their kinds, links and native bodies."""
