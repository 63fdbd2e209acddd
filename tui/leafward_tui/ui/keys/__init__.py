"""The keys as values: what each can do, how it is written, changed and explained."""
