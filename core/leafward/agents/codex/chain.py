"""The segments of a thread: its own, and those that they are based on, each after its base."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from leafward.agents.codex.entries.records import framed, payload_of
from leafward.base.errors import NotASession
from leafward.session.lines.line_decoding import decode_line

if TYPE_CHECKING:
    from collections.abc import Callable

    from leafward.agents.codex.rollout import Rollout
    from leafward.agents.codex.store import Segment
    from leafward.session.entries import Body
    from leafward.session.source import SourceRemark


@dataclass(slots=True)
class Thread:
    """Facts about a thread besides its segments."""

    id: str
    segments: list[Segment]
    """Oldest first."""
    live: Segment
    find: Callable[[str], Segment | None]
    """Finds a segment of any thread, by its name in a base."""
    source: Callable[[str], Segment | None]
    """Finds the first segment of another thread."""
    name: str | None = None
    title: str | None = None
    """The database's title where nobody named the thread: its own first prompt."""
    spawner: str | None = None
    """The thread that spawned it, according to the database."""
    notes: list[SourceRemark] = field(default_factory=list)
    original: Segment | None = None
    """The file that counts for Codex, where the thread's only file is another one of the same name that continued differently."""

    def owns(self, segment: Segment) -> bool:
        """Whether a segment belongs to the thread itself."""
        return any(one.path == segment.path for one in self.segments)


_BEGINNING = 48 << 10
"""Bytes that are searched for the first message."""


class SegmentBase(NamedTuple):
    """The beginning of a segment: a place in another segment."""

    segment: str
    ordinal: int
    """The first line of that segment that does not belong to the thread."""


@dataclass(slots=True)
class ChainStep:
    """One segment to read."""

    segment: Segment
    rollout: Rollout
    base: SegmentBase | None
    limit: int | None
    """The ordinal before which reading stops; None for the whole file."""
    missing: str | None = None
    """Why its base is missing, on one line."""


@dataclass(slots=True)
class SegmentChain:
    """The segments of a thread, in reading order."""

    steps: list[ChainStep] = field(default_factory=list)
    fork_points: dict[str, set[int]] = field(default_factory=dict)
    """By segment, the ordinals at which other segments begin."""
    metas: dict[str, dict[str, Any]] = field(default_factory=dict)
    """The description at the beginning of each file."""


def base_of(meta: dict[str, Any]) -> SegmentBase | None:
    """The base that a segment names."""
    base = meta.get("history_base")
    if not isinstance(base, dict):
        return None
    segment, ordinal = base.get("thread_id"), base.get("end_ordinal_exclusive")
    if not isinstance(segment, str) or not isinstance(ordinal, int) or isinstance(ordinal, bool):
        return None
    return SegmentBase(segment.lower(), ordinal)


_FOLDER = re.compile(
    rb'<environment_context>\\n\s*(?:<cwd>|Current working directory: )((?:[^"\\<]|\\[^n"])+)'
)
"""The working folder in the first message, as a line contains it."""


def with_folder(meta: dict[str, Any], head: bytes) -> dict[str, Any]:
    """A description with its folder: before September 2025 only Codex's text ahead of the first prompt named it."""
    found = _FOLDER.search(head) if meta and "cwd" not in meta else None
    turn = decode_line(b'{"cwd":"%b"}' % found[1]) if found is not None else None
    return {**meta, **turn} if turn is not None else meta


def meta_of(line: bytes) -> dict[str, Any]:
    """The description in the first line of a rollout; empty where there is none."""
    return _meta_in(framed(decode_line(line) or {}))


def _meta_in(first: Body) -> dict[str, Any]:
    return payload_of(first) if first.get("type") == "session_meta" else {}


def resolved(
    segments: list[Segment], find: Callable[[str], Segment | None], opened: Callable[[Segment], Rollout]
) -> SegmentChain:
    """The chain of a thread's own segments and of all their bases.

    Raises NotASession where the first segment cannot be opened; for other segments a note says so.
    """
    chain = SegmentChain()
    begun: dict[str, ChainStep | None] = {}
    done: set[str] = set()
    for segment in segments:
        stack = [segment]
        while stack:
            one = stack[-1]
            if one.path not in begun:
                begun[one.path] = _begun(one, chain, opened, first=one.path == segments[0].path)
            step = begun[one.path]
            if one.path in done or step is None:
                stack.pop()
                continue
            below = find(step.base.segment) if step.base is not None else None
            if step.base is not None and (below is None or begun.get(below.path, step) is None):
                step.missing = (
                    f"based on segment {step.base.segment}, which is not here: what came before is missing"
                )
            elif step.base is not None and below is not None and below.path not in done:
                if below not in stack:
                    stack.append(below)
                    continue
                step.missing = f"based on segment {step.base.segment}, which is based on this one: cut here"
            done.add(one.path)
            chain.steps.append(step)
            stack.pop()
    own = {one.path for one in segments}
    for step in chain.steps:
        if step.base is not None and step.missing is None:
            chain.fork_points.setdefault(step.base.segment, set()).add(step.base.ordinal)
    for step in chain.steps:
        if step.segment.path not in own:
            step.limit = max(chain.fork_points.get(step.segment.id, {0}))
    return chain


def _begun(
    segment: Segment, chain: SegmentChain, opened: Callable[[Segment], Rollout], *, first: bool
) -> ChainStep | None:
    """A segment, opened and described; None where it cannot be opened."""
    try:
        rollout = opened(segment)
    except NotASession:
        if first:
            raise
        return None
    line = framed(decode_line(rollout.first_line()) or {})
    meta = _meta_in(line)
    if "cwd" not in meta:
        meta = with_folder(meta, rollout.at(0, _BEGINNING))
    # Where the description has no time or is missing, the thread began when its first line was written.
    chain.metas[segment.path] = {"timestamp": line.get("timestamp"), **meta}
    return ChainStep(segment, rollout, base_of(meta), None)
