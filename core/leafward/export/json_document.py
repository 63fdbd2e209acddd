"""A session's header and entries as one JSON document."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import orjson

from leafward.base.safe_text import safe_json
from leafward.session.entries import DAMAGE_CODE

if TYPE_CHECKING:
    from leafward.export.content import Content


def json_document(content: Content) -> str:
    """The header and the entries in full, of a path or of the whole file.

    A line that is not an entry is kept as text.
    """
    redactor = content.redactor
    session = content.session

    def fit(value: Any) -> Any:
        return value if content.secrets else redactor.value(value)

    entries = []
    for index in content.all_entries():
        entry = session.entry(index)
        if entry.body:
            entries.append(fit(entry.body))
            continue
        raw = fit(entry.raw.decode("utf-8", "backslashreplace"))
        damage = DAMAGE_CODE[entry.damage] if entry.damage is not None else None
        entries.append({"type": entry.type, "offset": entry.offset, "damage": damage, "raw": raw})
    document = {
        "header": fit(session.header),
        "at": fit(session.columns.id(content.at)) if content.at >= 0 else None,
        "entries": entries,
        "redacted": dict(redactor.found),
    }
    try:
        return safe_json(orjson.dumps(document, option=orjson.OPT_INDENT_2)).decode() + "\n"
    except TypeError:  # lone surrogates, integers beyond 64 bits, deep nesting
        return safe_json(json.dumps(document, indent=2).encode()).decode() + "\n"
