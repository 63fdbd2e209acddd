"""The keys: what each can do, how it is written, changed and explained."""
