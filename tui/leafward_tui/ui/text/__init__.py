"""Texts and values fitted into terminal cells. Pure."""
