"""Stores of governance: our own TOML file, and the JSON files of the iDumb plugin. Read only."""

from __future__ import annotations

import json
import re
import tomllib
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import TYPE_CHECKING, Any

from leafward.base.safe_text import safe_line
from leafward.compaction.injection.builders.workspace import TextFile, Workspace
from leafward.compaction.injection.findings.collection import utc_time
from leafward.compaction.injection.values import InjectionRemark, SourceKind, SourceRef

if TYPE_CHECKING:
    from collections.abc import Mapping

OWN = ".leafward/governance.toml"
_LARGEST = 1 << 16
"""Characters of our own file. The time that a name of many parts takes grows with the square of their number."""
STATE = ".idumb/brain/state.json"
_STATES = (STATE, ".idumb/brain/hook-state.json")
_CONFIG = ".idumb/config.json"
_ANCHOR_FILES = (".idumb/brain/anchors.json", ".idumb/anchors/anchors.json")
_MOST = 500
"""Most anchors and actions that are read of a store."""


@dataclass(frozen=True, slots=True)
class Anchor:
    """A fact that must not be forgotten."""

    content: str
    type: str
    priority: str
    """`critical`, `high`, `medium`, `low`, or any other text in the store."""
    created: datetime | None
    modified: datetime | None
    source: SourceRef


@dataclass(frozen=True, slots=True)
class StoredAction:
    """An action in the store's history."""

    text: str
    source: SourceRef


@dataclass(slots=True)
class Store:
    """Contents of one store."""

    values: dict[str, tuple[str, SourceRef]] = field(default_factory=dict)
    """`phase`, `framework`, `style`, `language.communication`, `language.documents`."""
    validated: tuple[str, datetime | None, SourceRef] | None = None
    """The last validation as text and as a time; None if the store does not record one."""
    anchors: list[Anchor] = field(default_factory=list)
    actions: list[StoredAction] = field(default_factory=list)
    """The oldest action first."""


def read_own(where: Workspace | TextFile, diagnostics: list[InjectionRemark]) -> Store | None:
    """The store of our own file, from a workspace or given; None if there is no usable file."""
    file = where.read(OWN) if isinstance(where, Workspace) else where
    if file is None:
        return None
    if len(file.text) > _LARGEST:
        diagnostics.append(InjectionRemark("governance", f"{file.path} is longer than 64 KiB; it is skipped"))
        return None
    try:
        document = tomllib.loads(file.text)
    except (ValueError, RecursionError) as error:
        text = f"{file.path} is not TOML ({safe_line(str(error), 120)}); it is skipped"
        diagnostics.append(InjectionRemark("governance", text))
        return None
    place = _Lines(file, SourceKind.FILE if isinstance(where, Workspace) else SourceKind.CONFIG)
    store = Store()
    _values(store, document, document.get("language"), place)
    _style(store, document.get("style"), place, "style")
    validated = document.get("last-validation", document.get("last_validation"))
    if validated is not None:
        store.validated = (_as_text(validated) or "Never", utc_time(validated), place.of("last-validation"))
    for entry in _objects(document.get("anchors")):
        _anchor(store, entry, place)
    for entry in _objects(document.get("actions")):
        _action(store, entry, place)
    return store


def read_idumb(workspace: Workspace, diagnostics: list[InjectionRemark]) -> Store | None:
    """The store of the iDumb plugin's files; None if the plugin was never set up here."""
    store = Store()
    there = False
    for name in _STATES:
        state = _json(workspace, name, diagnostics)
        if state is None:
            continue
        there = True
        document, place = state
        _values(store, document, document.get("language"), place)
        _style(store, document.get("activeStyle"), place, "activeStyle")
        if "lastValidation" in document:
            validation = document["lastValidation"]
            store.validated = (
                _as_text(validation) or "Never",
                utc_time(validation),
                place.of("lastValidation"),
            )
        for entry in _objects(document.get("anchors")):
            _anchor(store, entry, place)
        for entry in _objects(document.get("history")):
            _action(store, entry, place)
        for session in _objects(_held(document.get("sessions"))):
            for entry in _objects(session.get("anchors")):
                _anchor(store, entry, place)
        break
    for name in _ANCHOR_FILES:
        listed = _json(workspace, name, diagnostics)
        if listed is not None:
            there = True
            document, place = listed
            for entry in _objects(document.get("anchors")):
                _anchor(store, entry, place)
    config = _json(workspace, _CONFIG, diagnostics)
    if config is not None:
        there = True
        document, place = config
        user = document.get("user")
        language = user.get("language") if isinstance(user, dict) else None
        _values(store, {}, language or document.get("language"), place)
    return store if there else None


class _Lines:
    """Finds the lines of keys and texts in a file."""

    def __init__(self, file: TextFile, kind: SourceKind = SourceKind.FILE) -> None:
        self._file = file
        self._kind = kind
        self._lines = file.text.split("\n")
        self._next: dict[str, int] = {}
        """The line where the search for a text goes on, by the text."""

    def of(self, key: str) -> SourceRef:
        """The first line that names a key."""
        name = re.compile(rf"(?<![\w-]){re.escape(key)}[\"'\s]*[:=]")
        return self._at(next((at for at, line in enumerate(self._lines, 1) if name.search(line)), 0))

    def after(self, text: str) -> SourceRef:
        """The next line that holds a text; a repeated call finds a later line."""
        needle = text.strip().split("\n", 1)[0].strip()[:40]
        whole, start = self._file.text, self._next.get(needle, 0)
        found = [at for form in {needle, json.dumps(needle)[1:-1]} if (at := whole.find(form, start)) >= 0]
        if not needle or not found:
            return self._at(0)
        place = min(found)
        self._next[needle] = whole.find("\n", place) + 1 or len(whole)
        return self._at(whole.count("\n", 0, place) + 1)

    def _at(self, line: int) -> SourceRef:
        return SourceRef(self._kind, file=self._file.path, line=line, digest=self._file.digest)


def _json(
    workspace: Workspace, name: str, diagnostics: list[InjectionRemark]
) -> tuple[dict[str, Any], _Lines] | None:
    file = workspace.read(name)
    if file is None:
        return None
    try:
        document = json.loads(file.text)
    except (ValueError, RecursionError):
        diagnostics.append(InjectionRemark("governance", f"{name} is not JSON; it is skipped"))
        return None
    if isinstance(document, list):
        document = {"anchors": document}
    if not isinstance(document, dict):
        diagnostics.append(InjectionRemark("governance", f"{name} is not an object; it is skipped"))
        return None
    return document, _Lines(file)


def _objects(listed: object) -> list[dict[str, Any]]:
    return [entry for entry in listed[-_MOST:] if isinstance(entry, dict)] if isinstance(listed, list) else []


def _held(named: object) -> object:
    return list(named.values()) if isinstance(named, dict) else named


def _as_text(value: object) -> str:
    """A value as text; empty for a value that has no text."""
    if isinstance(value, (datetime, date)):
        return value.isoformat()
    if isinstance(value, bool) or value is None or isinstance(value, (dict, list)):
        return ""
    return str(value).strip()


def _values(store: Store, document: Mapping[str, Any], language: object, place: _Lines) -> None:
    for name in ("phase", "framework"):
        value = document.get(name)
        # Version 2 stores an object with a name.
        value = value.get("name") if isinstance(value, dict) else value
        text = _as_text(value)
        if text:
            store.values.setdefault(name, (text, place.of(name)))
    if isinstance(language, str):
        language = {"communication": language, "documents": language}
    for name in ("communication", "documents"):
        text = _as_text(language.get(name)) if isinstance(language, dict) else ""
        if text:
            store.values.setdefault(f"language.{name}", (text, place.of(name)))


def _style(store: Store, value: object, place: _Lines, key: str) -> None:
    text = _as_text(value)
    if text:
        store.values.setdefault("style", (text, place.of(key)))


def _anchor(store: Store, entry: Mapping[str, Any], place: _Lines) -> None:
    content = _as_text(entry.get("content"))
    kind = _as_text(entry.get("type")) or "context"
    if not content or kind == "output_style":
        return
    created = utc_time(entry.get("created", entry.get("createdAt")))
    modified = utc_time(entry.get("modified", entry.get("modifiedAt")))
    priority = (_as_text(entry.get("priority")) or "high").casefold()
    store.anchors.append(Anchor(content, kind, priority, created, modified, place.after(content)))


def _action(store: Store, entry: Mapping[str, Any], place: _Lines) -> None:
    action = _as_text(entry.get("action"))
    if not action:
        return
    result, agent = _as_text(entry.get("result")), _as_text(entry.get("agent"))
    text = action + (f" → {result}" if result else "") + (f" ({agent})" if agent else "")
    store.actions.append(StoredAction(text, place.after(action)))
