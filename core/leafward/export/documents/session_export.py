"""A session for other readers: Markdown, one self-contained page, or its entries as JSON.

Every text is made safe, and secrets in it are redacted unless that is switched off; removed secrets are counted.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import orjson

from leafward.base.safe_text import safe_json
from leafward.export.documents.content import content_of
from leafward.export.documents.markdown import markdown
from leafward.export.documents.web_page import web_page
from leafward.session.entries import DAMAGE_CODE

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Iterator

    from leafward.export.documents.content import Content
    from leafward.session.session import Session


@dataclass(frozen=True, slots=True)
class Exported:
    """A finished export."""

    text: str
    entries: int
    """Entries that it shows or holds."""
    redacted: Counter[str]
    """Secrets removed, by name."""


def export(
    session: Session,
    form: str,
    at: int | None = None,
    *,
    whole: bool = False,
    secrets: bool = False,
    only: frozenset[int] | None = None,
) -> Exported:
    """Exports a session as `md`, `html` or `json`: the path to `at` (default: the leaf), or every branch where `whole`.

    `only` limits the entries where it is given. Secrets stay where `secrets`. Raises KeyError for another format.
    """
    content = content_of(session, at, whole=whole, secrets=secrets, only=only)
    if form == "json":
        text = _json(content)
    else:
        pieces: Iterator[str] = {"md": markdown, "html": web_page}[form](content)
        text = "".join(pieces)
    return Exported(text, content.size, content.redactor.found)


def _json(content: Content) -> str:
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
