"""The rules of pi, Codex and opencode: where a path may be cut, and which messages they summarise, keep and shorten.

Each strategy is a module with `RULES`, found in `by_name`; `division` is what each of them answers.
"""
