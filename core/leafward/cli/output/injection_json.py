"""An injection as JSON, with the sources of its lines."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable

    from leafward.compaction.injection.values import Injection, SourceRef
    from leafward.session.session import Session


def injection_json(session: Session, made: Injection) -> dict[str, Any]:
    """An injection as JSON."""
    return {
        "text": made.text,
        "lines": [
            {"text": line.text, "section": line.section, "sources": sources_json(session, line.sources)}
            for line in made.lines
        ],
        "sections": [
            {
                "key": section.key,
                "title": section.title,
                "tokens": section.tokens,
                "chars": section.chars,
                "shown": section.shown,
                "omitted": section.omitted,
            }
            for section in made.sections
        ],
        "omitted": [
            {
                "section": left.section,
                "text": left.text,
                "reason": left.reason.value,
                "sources": sources_json(session, left.sources),
            }
            for left in made.omitted
        ],
        "diagnostics": [{"code": remark.code, "text": remark.text} for remark in made.diagnostics],
        "tokens": {
            "total": made.tokens,
            "envelope": made.envelope,
            "sections": made.tokens - made.envelope,
            "chars": len(made.text),
            "budget": made.budget,
        },
        "digest": made.digest,
    }


def sources_json(session: Session, sources: Iterable[SourceRef]) -> list[dict[str, Any]]:
    """Sources as JSON, without empty fields."""
    found = []
    for source in sources:
        document: dict[str, Any] = {"kind": source.kind.value}
        if source.entry >= 0:
            document["entry"] = session.columns.id_at(source.entry)
        for name in ("call", "file", "line", "digest", "note"):
            value = getattr(source, name)
            if value:
                document[name] = value
        found.append(document)
    return found
