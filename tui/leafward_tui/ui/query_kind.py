"""Whether what is typed into a search is a query of the query language, or words to be looked for as they stand. Pure.

A query calls a function or compares a field, `tool(edit) & tokens>2k`; a text in quotes alone is one, too, so that words that
look like a query can be searched for. A name that the language does not know, or a word outside of brackets, is plain text.
"""

from __future__ import annotations

__all__ = ["is_query"]

_SIGNS = frozenset('()<>=&|"')
"""A text without any of these is no query."""


def is_query(text: str) -> bool:
    """Whether a text is meant as a query. Loads the language only where it may be one."""
    if _SIGNS.isdisjoint(text):
        return False
    from leafward.query.select import FIELDS, FUNCTIONS, QueryError, parse
    from leafward.query.select.grammar import Both, Call, Compare, Either, Not, Quoted, Without, Word

    try:
        waiting = [parse(text)]
    except QueryError:
        return False
    if isinstance(waiting[0], Quoted):
        return True
    names = {name.partition("(")[0] for name in FUNCTIONS}
    asks = False
    while waiting:
        match waiting.pop():
            case Both(parts) | Either(parts) | Without(parts):
                waiting += parts
            case Not(inner):
                waiting.append(inner)
            case Word():
                return False
            case Call(name):
                if name not in names:
                    return False
                asks = True
            case Compare(field):
                if field not in FIELDS:
                    return False
                asks = True
            case _:
                pass
    return asks
