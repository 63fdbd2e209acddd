"""Lists all sessions: at once from what earlier runs saw, then brought up to date in the background.

A card has what is shown of one session (`cards` makes them), the index keeps the cards, and an unchanged file is not opened.
Also here: which session came from which, sums of tokens and costs (`usage`), kept copies, and the trash.
"""
