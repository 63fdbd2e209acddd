"""Governance of the work: language, phase and framework, anchors, recent actions, style.

Leafward's own store is `.leafward/governance.toml` in the workspace, and `governance.toml` in our data folder for all
projects. The store of the iDumb plugin (`.idumb`, versions 1 and 2) is read as well, and never written. The
workspace's own file takes precedence over `.idumb`, which takes precedence over the file for all projects; anchors of all
are combined.

    phase = "phase-2"
    framework = "none"
    style = "concise"
    last-validation = 2026-11-20T10:00:00Z

    [language]
    communication = "english"
    documents = "english"

    [[anchors]]
    content = "the public API stays as it is"
    priority = "critical"       # critical, high, medium, low
    type = "decision"
    modified = 2026-11-20T10:00:00Z

    [[actions]]
    action = "ran the gates"
    result = "pass"
    agent = "builder"
"""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from leafward.compaction.injection.findings.action_outcomes import OFFERED_ACTIONS
from leafward.compaction.injection.values import (
    Contribution,
    InjectionRemark,
    OfferedBullet,
    OmissionReason,
    SourceKind,
    SourceRef,
    Tier,
)

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from leafward.compaction.injection.builders.builder_input import BuildInput
    from leafward.compaction.injection.builders.stores import Anchor, Store

STALE_AFTER = timedelta(hours=48)
"""Age from which on an anchor or a validation is stale (iDumb 2)."""

_FOLDERS = (".leafward", ".idumb")
"""Folders of stores in a workspace."""
_WEIGHT = {"critical": 4, "high": 3}
"""Priorities that are carried over a compaction, with their weights."""


def governance(inputs: BuildInput) -> Contribution:
    """Language, phase, anchors and actions of the stores; without a store, only the session's own actions."""
    diagnostics: list[InjectionRemark] = []
    stores: list[Store] = []
    workspace = inputs.workspace
    if workspace is not None and not any(map(workspace.holds, _FOLDERS)):
        workspace = None
    if workspace is not None or inputs.governance is not None:
        # Few projects have a store, and an agent waits for what is loaded.
        from leafward.compaction.injection.builders.stores import read_idumb, read_own

        found = [read(workspace, diagnostics) for read in (read_own, read_idumb) if workspace is not None]
        found += [read_own(inputs.governance, diagnostics)] if inputs.governance is not None else []
        stores += [store for store in found if store is not None]
    left: list[tuple[str, OfferedBullet, OmissionReason]] = []
    actions, done = _actions(stores, inputs)
    items = {
        "gov.language": _language(stores),
        "gov.phase": _phase(stores, inputs.now),
        "gov.anchors": _anchors(stores, inputs.now, left),
        "gov.recent_actions": tuple(actions),
        "gov.style": _style(stores),
    }
    beyond = {"gov.recent_actions": done - len(actions)}
    return Contribution(items, tuple(left), beyond, tuple(diagnostics))


def _first(stores: Sequence[Store], name: str) -> tuple[str, SourceRef] | None:
    """The value of a name in the first store that has one, in the order of precedence."""
    return next((store.values[name] for store in stores if name in store.values), None)


def _language(stores: Sequence[Store]) -> tuple[OfferedBullet, ...]:
    found = []
    for name, text in (
        ("communication", "Communication: {} (answer the user in this language, also after the compaction)"),
        ("documents", "Documents: {} (write files in this language, also after the compaction)"),
    ):
        value = _first(stores, f"language.{name}")
        if value is not None:
            found.append(OfferedBullet(text.format(value[0].upper()), (value[1],), core=value[0]))
    return tuple(found)


def _phase(stores: Sequence[Store], now: datetime | None) -> tuple[OfferedBullet, ...]:
    found = []
    for name, label in (("phase", "Phase"), ("framework", "Framework")):
        value = _first(stores, name)
        if value is not None:
            found.append(OfferedBullet(f"{label}: {value[0]}", (value[1],), core=value[0]))
    validated = next((store.validated for store in stores if store.validated is not None), None)
    if validated is not None:
        text, time, source = validated
        age = ""
        if time is not None and now is not None:
            hours = max(0, int((now - time).total_seconds() // 3600))
            age = f" ({'stale' if now - time > STALE_AFTER else 'fresh'}, {hours} h before)"
        found.append(OfferedBullet(f"Last validation: {text}{age}", (source,), Tier.SECOND))
    return tuple(found)


def _anchors(
    stores: Sequence[Store], now: datetime | None, left: list[tuple[str, OfferedBullet, OmissionReason]]
) -> tuple[OfferedBullet, ...]:
    """Critical and high anchors: by priority, fresh before stale, newest first."""

    def is_stale(anchor: Anchor) -> bool:
        time = anchor.modified or anchor.created
        return time is not None and now is not None and now - time > STALE_AFTER

    ranked: list[tuple[tuple[int, bool, float, int], Anchor]] = []
    place = 0
    for store in stores:
        for anchor in store.anchors:
            time = anchor.modified or anchor.created
            age = -time.timestamp() if time is not None else 0.0
            ranked.append(((-_WEIGHT.get(anchor.priority, 0), is_stale(anchor), age, place), anchor))
            place += 1
    ranked.sort(key=lambda pair: pair[0])
    items = []
    for rank, (_, anchor) in enumerate(ranked):
        critical = anchor.priority == "critical"
        text = f"[{anchor.priority.upper()}] {anchor.type}: {anchor.content}"
        item = OfferedBullet(
            text, (anchor.source,), Tier.FIRST if critical else Tier.SECOND, rank, core=anchor.content
        )
        if anchor.priority not in _WEIGHT:
            left.append(("gov.anchors", item, OmissionReason.PRIORITY))
        # If the store records no time of change, an anchor holds until it is removed.
        elif not critical and anchor.modified is not None and is_stale(anchor):
            left.append(("gov.anchors", item, OmissionReason.STALE))
        else:
            items.append(item)
    return tuple(items)


def _actions(stores: Sequence[Store], inputs: BuildInput) -> tuple[list[OfferedBullet], int]:
    """The last actions of a store's history, else of the session, oldest first, and the number of all actions."""
    for store in stores:
        if store.actions:
            items = [
                OfferedBullet(action.text, (action.source,)) for action in store.actions[-OFFERED_ACTIONS:]
            ]
            return _newest(items), len(store.actions)
    done = [
        OfferedBullet(
            f"{operation.text} → {operation.outcome}" if operation.outcome else operation.text,
            (SourceRef(SourceKind.ENTRY, operation.entry, operation.call),),
        )
        for operation in inputs.found.actions[-OFFERED_ACTIONS:]
    ]
    return _newest(done), inputs.found.earlier_actions + len(inputs.found.actions)


def _newest(items: list[OfferedBullet]) -> list[OfferedBullet]:
    return [item._replace(rank=-place) for place, item in enumerate(items)]


def _style(stores: Sequence[Store]) -> tuple[OfferedBullet, ...]:
    value = _first(stores, "style")
    if value is None or value[0].casefold() == "default":
        return ()
    return (OfferedBullet(f"Active style: {value[0]}", (value[1],), core=value[0]),)
