"""The verb `inject`: the context that a compaction would carry beside its summary, exactly as it is sent."""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from leafward.agents.registry import agent_named, agent_names, hooks_of, is_installed
from leafward.cli.output.page import emit_json, note, write_text
from leafward.cli.selection import opened, opened_on
from leafward.cli.settings import configured
from leafward.compaction.injection.configured import configured_settings
from leafward.compaction.injection.findings.collection import collect, utc_time
from leafward.compaction.injection.findings.kept_findings import save
from leafward.compaction.injection.findings.stored_findings import collect_on
from leafward.compaction.injection.injection import build_within
from leafward.compaction.injection.sections import keys_of
from leafward.session.foreign import ForeignFiles

if TYPE_CHECKING:
    from collections.abc import Iterable

    from leafward.base.config import Config
    from leafward.cli.options.compaction_options import InjectOptions
    from leafward.compaction.injection.values import Injection, InjectionSettings, SourceRef
    from leafward.session.entries import EntryIndex
    from leafward.session.session import Session


def inject_verb(selector: str, options: InjectOptions | None = None, as_json: bool = False) -> int:
    """`leafward inject`; without options, as the configuration has it."""
    config = configured()
    if as_json:
        # The sources of lines are complete only where the whole path is read.
        with opened(selector) as session:
            at, settings = _asked(session, config, options)
            made = build_within(collect(session, at), settings, _room(session))
            document = {"at": session.columns.id_at(at), **injection_json(session, made)}
            document["diagnostics"] = _remarks(session, at, made, settings) + document["diagnostics"]
            emit_json(document)
        return 0
    with opened_on(selector) as (session, stored):
        at, settings = _asked(session, config, options)
        path = collect_on(session, at, stored)
        made = build_within(path.found, settings, _room(session))
        for remark in _remarks(session, at, made, settings):
            note(remark["text"])
        for one in made.diagnostics:
            note(one.text)
        # Byte for byte to a file or a pipe; on a terminal, a newline puts the prompt on a line of its own.
        write_text(made.text + ("\n" if made.text and sys.stdout.isatty() else ""))
        save(session, path.stored, path.read)
    return 0


def _remarks(
    session: Session, at: EntryIndex, made: Injection, settings: InjectionSettings
) -> list[dict[str, str]]:
    """Remarks on a text beside those that were found while it was made."""
    found = []
    if made.budget < settings.budget:
        text = f"shortened: {_agent_title(session)} passes on no more of a text"
        found.append({"code": "shortened", "text": text})
    if session.what_if and at == session.leaf:
        own = session.columns.id_at(session.own_leaf)
        text = f"the leaf is a preview; {_agent_title(session)} itself is at {own}: --at {own}"
        found.append({"code": "what-if", "text": text})
    return found


def _asked(
    session: Session, config: Config, options: InjectOptions | None
) -> tuple[EntryIndex, InjectionSettings]:
    """The entry and the settings that the options name."""
    again = is_added_again(session)
    if options is None:
        return session.leaf, replace(configured_settings(config), again=again)
    at = session.find(options.at) if options.at is not None else session.leaf
    settings = replace(injection_settings(config, options), again=again)
    if settings.pins:
        from leafward.compaction.stored_summary.pins import said_pins

        settings = replace(settings, pins=said_pins(session, at, settings.pins))
    return at, settings


def is_added_again(session: Session) -> bool:
    """Whether the session's agent has Leafward's part, which adds the text behind each of its compactions."""
    return is_installed(_agent_name(session))


def _room(session: Session) -> int | None:
    """UTF-16 units that the session's agent passes on whole, if it has Leafward's part; None: any."""
    return hooks_of(_agent_name(session)).room if is_added_again(session) else None


def _agent_name(session: Session) -> str:
    source = session.source
    return source.agent_name if isinstance(source, ForeignFiles) else agent_names()[0]


def _agent_title(session: Session) -> str:
    return agent_named(_agent_name(session)).title


def injection_settings(config: Config, options: InjectOptions) -> InjectionSettings:
    """The settings from the options, else from the configuration. Raises a usage error for invalid values."""
    import click

    off: set[str] = set()
    for name in options.off:
        keys = keys_of(name)
        if not keys:
            raise click.UsageError(f"no section {name!r}; --json lists the names in sections[].key")
        off |= keys
    now = utc_time(options.now) if options.now is not None else None
    if options.now is not None and now is None:
        raise click.UsageError(f"--now takes an ISO 8601 time, not {options.now!r}")
    settings = configured_settings(config, options.workspace)
    return replace(
        settings,
        budget=settings.budget if options.budget is None else options.budget,
        order=options.order or settings.order,
        now=now,
        off=settings.off | off,
        pins=options.pins,
    )


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
