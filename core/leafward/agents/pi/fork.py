"""A copy of one path of a session in a new file (pi 1.5.2): entries, ids and lines as they are."""

from __future__ import annotations

from typing import TYPE_CHECKING

from leafward.agents.pi.new_file import Chain, draft_of, folder_of, header_of
from leafward.base.errors import Refused
from leafward.session.entries import MARK, EntryIndex, Kind
from leafward.session.journal.lines import encode_line
from leafward.session.journal.migration import migrated_line
from leafward.session.journal.operation_log import COPIED, LEAF_TYPE
from leafward.session.journal.targets import refuse_unreachable
from leafward.session.lines.line_decoding import CURRENT_VERSION, decode_line

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from leafward.agents.fork_draft import ForkDraft, ForkPoint, ForkTerms
    from leafward.session.entries import Body
    from leafward.session.session import Session


def forked(
    session: Session, cut: ForkPoint, terms: ForkTerms, root: Path | None = None, *, flat: bool = False
) -> ForkDraft:
    """The path to a cut as a new file: entries, ids and lines as they are, with labels and name.

    It lies beside the source's file, or in the store at `root`, where the sessions of all folders may lie together (`flat`).
    """
    tip = cut.tip(session)
    refuse_unreachable(session, tip)
    path = list(session.tree.path(tip))
    moves = {index for index in path if _is_move(session, index)}
    header = header_of(session, terms)
    held = [index for index in path if index not in moves]
    if held:
        header[MARK] = {COPIED: session.columns.id(EntryIndex(held[-1]))}
    return draft_of(
        header,
        _folder(session, header["cwd"])
        if root is None
        else root
        if flat
        else root / folder_of(header["cwd"]),
        lambda: _copied(session, header, path, moves, terms),
        terms,
        len(path) - len(moves),
        len(moves),
    )


def _folder(session: Session, cwd: str) -> Path:
    """The folder of a copy that works in `cwd`: its source's, unless pi keeps the sessions of the two working folders apart."""
    beside = session.path.absolute().parent
    return beside.with_name(folder_of(cwd)) if beside.name == folder_of(session.cwd) else beside


def _is_move(session: Session, index: int) -> bool:
    """Whether an entry only records a move of the leaf in the source: its log has no meaning in another file."""
    if session.columns.kind[index] != Kind.CUSTOM:
        return False
    return (session.body(index) or {}).get("customType") == LEAF_TYPE


def _copied(
    session: Session, header: Body, path: list[int], dropped: set[int], terms: ForkTerms
) -> Iterator[bytes]:
    columns = session.columns
    yield encode_line(header)
    instead: dict[str, str] = {}
    """By id of a left-out entry: the next entry behind it that is copied."""
    after: str | None = None
    for index in reversed(path):
        known = columns.id(EntryIndex(index))
        if index not in dropped:
            after = known
        elif after is not None:
            instead[known] = after
    above: str | None = None
    labels: dict[EntryIndex, str] = {}
    name: str | None = None
    held = set(path) - dropped
    for index in path:
        if index in dropped:
            continue
        raw = (
            migrated_line(session, index) if session.version < CURRENT_VERSION else session.raw(index) + b"\n"
        )
        body = decode_line(raw)
        if body is None:
            raise Refused(f"{session.path.name} changed while it was read")
        raw = _linked(raw, body, above, instead)
        kind = columns.kind[index]
        if kind == Kind.LABEL:
            target = columns.index(str(body.get("targetId")))
            labels.pop(target, None)
            if body.get("label"):
                labels[target] = str(body["label"])
        elif kind == Kind.SESSION_INFO:
            stored_name = body.get("name")
            name = stored_name.strip() or None if isinstance(stored_name, str) else None
        above = columns.id(EntryIndex(index))
        yield raw
    chain = Chain(above, terms)
    if terms.injected:
        yield chain.injected()
    kept_labels = {target: text for target, text in session.labels.items() if target in held}
    for target in sorted({*labels, *kept_labels}):
        if target in held and labels.get(target) != kept_labels.get(target):
            yield chain.line(
                {"type": "label", "targetId": columns.id(target), "label": kept_labels.get(target)}
            )
    if session.name != name:
        yield chain.line({"type": "session_info", "name": session.name or ""})


def _linked(raw: bytes, body: Body, above: str | None, instead: Mapping[str, str]) -> bytes:
    """A line linked to the line before it in the new file, without references to lines that were left out."""
    changed = {}
    if body.get("parentId") != above:
        changed["parentId"] = above
    first = body.get("firstKeptEntryId")
    if isinstance(first, str) and first in instead:
        changed["firstKeptEntryId"] = instead[first]
    return encode_line({**body, **changed}) if changed else raw
