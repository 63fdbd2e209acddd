"""The catalogue: all sessions of every agent, grouped, nested and filtered as the user types, with a preview.

It opens sessions, archives, deletes and keeps copies of them. `screen.CatalogueScreen` is the entrance for other
features.
"""
