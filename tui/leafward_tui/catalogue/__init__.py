"""The catalogue: all sessions of every agent, grouped, nested, filtered as one types, with a preview of the one under the cursor.

It opens sessions, archives, deletes and keeps copies of them. `screen.CatalogueScreen` is what others open.
"""

from __future__ import annotations
