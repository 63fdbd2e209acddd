"""Searches of sessions: by their cards on every key press, and by all text in them.

`cards` filters the list. A search of all text is prepared as a `query` (`conjunction` says which part is asked where), passes over files by
their bytes (`literals`, `prefilter`) in the `corpus`, and matches the rest entry by entry (`text_search`, `text_match`). `in_session`
searches one open session, `typed_query` reads what is being typed.
"""
