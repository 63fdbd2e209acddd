"""The verb `audit`: places of secrets in all sessions, or in those of the folders and files named."""

from __future__ import annotations

from collections import Counter
from difflib import get_close_matches
from functools import cache, partial
from typing import TYPE_CHECKING, Any

import click

from leafward.base import config as settings
from leafward.base.figures import counted
from leafward.base.safe_text import safe_line
from leafward.base.shown_path import project_name
from leafward.base.times import iso_time
from leafward.catalogue.listing import Catalogue
from leafward.catalogue.lookup import typed_ids
from leafward.cli.output.page import Page, emit_json, local_time, note, page, say, table, with_path
from leafward.cli.output.progress_line import ProgressLine
from leafward.cli.selection import narrowing, sessions_at
from leafward.cli.settings import say_excluded
from leafward.export.audit import Audit, SecretPlace
from leafward.redaction.redaction import every_kind, listed, redact

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from leafward.cli.options.catalogue_options import AuditOptions


_LIST = "list"
"""Given as a kind, it lists the kinds."""
_NAMED_AT_MOST = 5
"""Most unreadable sessions that the text output names."""


def audit(paths: Sequence[str], options: AuditOptions, as_json: bool) -> int:
    """`leafward audit`. Raises UsageError for a kind that there is not."""
    kinds = options.kinds
    if _LIST in kinds:
        if as_json:
            emit_json({"kinds": every_kind()})
        else:
            say(every_kind())
        return 0
    for kind in kinds:
        _known(kind)
    places = [sessions_at(path) for path in paths]
    fits = narrowing(options)
    config, problems = settings.load()
    line = ProgressLine()
    catalogue = Catalogue(config, places)
    catalogue.refresh(publish=line.show_reading)
    cards = [card for card in catalogue.cards() if fits(card)]
    cards.sort(key=lambda card: (-card.when, card.path))
    running = Audit(cards)
    found: list[SecretPlace] = []
    others: list[SecretPlace] = []
    stopped = False
    try:
        # One by one, so that results are kept if the search is stopped.
        for place in running.run(partial(_show, line)):
            (found if not kinds or place.kind in kinds else others).append(place)
    except KeyboardInterrupt:
        stopped = True
    line.wipe()
    remarks = _unread(problems, catalogue, running)
    for kind in (kind for kind in kinds if all(place.kind != kind for place in found)):
        remarks.append({"code": "no-such-kind", "text": _without(kind, [*found, *others])})
    if stopped:
        left = len(cards) - running.searched - len(running.unread)
        remarks.append({"code": "stopped", "text": f"stopped: {counted(left, 'session')} not searched"})
    if as_json:
        emit_json(_document(found, running, catalogue.excluded, remarks))
    else:
        say(_lines(found, bool(kinds), running, page(), typed_ids(catalogue.cards(), config, places)))
        say_excluded(catalogue.excluded)
        _remark(remarks)
    if stopped:
        raise KeyboardInterrupt
    return 0


def _unread(problems: Iterable[object], catalogue: Catalogue, running: Audit) -> list[dict[str, str]]:
    """Remarks on the configuration, and on what could not be read."""
    remarks = [{"code": "config", "text": str(problem)} for problem in problems]
    remarks += [
        {"code": "unreadable-folder", "text": f"{one.path}: {one.reason}"} for one in catalogue.trouble
    ]
    remarks += [{"code": "unreadable", "text": with_path(one.path, one.reason)} for one in running.unread]
    return remarks


def _known(kind: str) -> None:
    """Raises UsageError with the nearest kinds for a name that no kind of secret has."""
    if kind in (known := every_kind()):
        return
    near = get_close_matches(kind.lower().replace("-", " ").replace("_", " "), known)
    meant = f"; the nearest: {', '.join(near)}" if near else ""
    raise click.UsageError(
        f"no kind of secret is called {safe_line(kind, 40)!r}{meant} (leafward audit --kind {_LIST} names all)"
    )


def _document(
    found: Sequence[SecretPlace], running: Audit, excluded: int, remarks: Sequence[Mapping[str, str]]
) -> dict[str, Any]:
    told = cache(redact)
    return {
        "secrets": [
            {
                "secret": place.secret,
                "kind": place.kind,
                "agent": place.card.agent,
                "session": told(place.card.id),
                "path": told(place.card.path),
                "project": told(place.card.project),
                "entry": told(place.entry) if place.entry else place.entry,
                "time": iso_time(place.time),
            }
            for place in found
        ],
        "totals": _totals(found),
        "sessions": {
            "total": len(running.cards),
            "searched": running.searched,
            "with_secrets": len({place.card.path for place in found}),
        },
        "excluded": excluded,
        "diagnostics": list(remarks),
    }


def _totals(found: Sequence[SecretPlace]) -> dict[str, int]:
    """Number of different secrets by kind."""
    return dict(sorted(Counter({place.secret: place.kind for place in found}.values()).items()))


def _lines(
    found: Sequence[SecretPlace], narrowed: bool, running: Audit, page: Page, short: Mapping[str, str]
) -> Iterator[str]:
    looked = counted(running.searched, "session")
    if not found:
        yield f"no secret {'of these kinds ' if narrowed else ''}found in {looked}"
        return
    every: dict[int, list[SecretPlace]] = {}
    for place in found:
        every.setdefault(place.secret, []).append(place)
    rows = []
    for number, places in every.items():
        for at, place in enumerate(_newest_of_each(places)):
            first = at == 0
            rows.append(
                (
                    str(number) if first else "",
                    place.kind if first else "",
                    local_time(place.time) if place.time is not None else "",
                    place.card.agent,
                    safe_line(redact(short.get(place.card.id, place.card.id)), 40),
                    safe_line(redact(place.entry) if place.entry else "header", 40),
                    str(sum(1 for one in places if one.card.path == place.card.path)),
                    project_name(redact(place.card.project)),
                )
            )
    head = ("secret", "kind", "last", "agent", "session", "entry", "entries", "project")
    yield from table(head, rows, page, grow=7, right="secret entries")
    sessions = counted(len({place.card.path for place in found}), "session")
    yield ""
    yield f"{counted(len(every), 'secret')} in {sessions} of {running.searched:,}: {listed(Counter(_totals(found)))}"
    yield page.style("leafward keep SESSION --sanitised FOLDER writes a copy without them", "faint")


def _without(kind: str, every: Sequence[SecretPlace]) -> str:
    """The remark on a kind without a secret: the kinds that were found."""
    there = f"; kinds found: {listed(Counter(_totals(every)))}" if every else ", nor of any other"
    return f"no secret of the kind {safe_line(kind, 40)!r}{there}"


def _newest_of_each(places: Sequence[SecretPlace]) -> list[SecretPlace]:
    """The last place of a secret in each session."""
    last: dict[str, SecretPlace] = {}
    for place in places:
        last[place.card.path] = place
    return list(last.values())


def _remark(remarks: Sequence[Mapping[str, str]]) -> None:
    unread = [remark for remark in remarks if remark["code"] == "unreadable"]
    for remark in remarks:
        if remark["code"] != "unreadable":
            note(remark["text"])
    for remark in unread[:_NAMED_AT_MOST]:
        note(remark["text"])
    if len(unread) > _NAMED_AT_MOST:
        note(f"{counted(len(unread) - _NAMED_AT_MOST, 'more session')} could not be read")


def _show(line: ProgressLine, done: int, total: int) -> None:
    if done % 8 == 0:
        line.show("searching for secrets", done, total)
