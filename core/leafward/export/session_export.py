"""A session for other readers: Markdown, one self-contained page, or its entries as JSON.

Every text is made safe, and secrets in it are redacted unless that is switched off; removed secrets are counted.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from leafward.export.content import content_of
from leafward.export.json_document import json_document
from leafward.export.markdown import markdown
from leafward.export.web_page import web_page

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Iterator

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
        text = json_document(content)
    else:
        pieces: Iterator[str] = {"md": markdown, "html": web_page}[form](content)
        text = "".join(pieces)
    return Exported(text, content.size, content.redactor.found)
