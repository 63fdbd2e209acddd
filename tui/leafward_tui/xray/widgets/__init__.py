"""Heads, both sides, and the ledger and text at the foot, drawn line by line."""
