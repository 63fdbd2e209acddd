"""The summariser without a model: it quotes the span, and chooses among the lines.

Its steps, each of which may import those before it: what the model said (`answers`), what the user asked for (`requests`), what
is still so at the end (`state`), what an earlier summary told (`earlier_summary`), and the choice of lines (`selection`).
"""
