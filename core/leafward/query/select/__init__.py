"""Entries that a query chooses, for filter, search, export and the command line."""
