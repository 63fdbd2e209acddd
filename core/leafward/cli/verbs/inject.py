"""The verb `inject`: the context that a compaction would carry beside its summary, exactly as it is sent."""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import TYPE_CHECKING

from leafward.agents.registry import agent_name, agent_named, hooks_of, is_installed
from leafward.cli.output.injection_json import injection_json
from leafward.cli.output.page import emit_json, note, write_text
from leafward.cli.selection import opened, opened_on
from leafward.cli.settings import configured
from leafward.compaction.injection.configured import configured_settings
from leafward.compaction.injection.findings.collection import collect, utc_time
from leafward.compaction.injection.findings.kept_findings import save
from leafward.compaction.injection.findings.stored_findings import collect_on
from leafward.compaction.injection.injection import build_within
from leafward.compaction.injection.sections import keys_of

if TYPE_CHECKING:
    from leafward.base.config import Config
    from leafward.cli.options.compaction_options import InjectOptions
    from leafward.compaction.injection.values import Injection, InjectionSettings
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
    again = is_installed(agent_name(session))
    if options is None:
        return session.leaf, replace(configured_settings(config), again=again)
    at = session.find(options.at) if options.at is not None else session.leaf
    settings = replace(injection_settings(config, options), again=again)
    if settings.pins:
        from leafward.compaction.stored_summary.pins import said_pins

        settings = replace(settings, pins=said_pins(session, at, settings.pins))
    return at, settings


def _room(session: Session) -> int | None:
    """UTF-16 units that the session's agent passes on whole, if it has Leafward's part; None: any."""
    agent = agent_name(session)
    return hooks_of(agent).room if is_installed(agent) else None


def _agent_title(session: Session) -> str:
    return agent_named(agent_name(session)).title


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
