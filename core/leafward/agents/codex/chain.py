"""Which segments make a thread: its own, and of others what they are based on, each after what it begins at."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from leafward.agents.codex.records import framed, payload_of
from leafward.base.errors import NotASession
from leafward.session.line_decoding import decode_line

if TYPE_CHECKING:
    from collections.abc import Callable

    from leafward.agents.codex.rollout import Rollout
    from leafward.agents.codex.store import Segment
    from leafward.session.entries import Body
    from leafward.session.source import Note


@dataclass(slots=True)
class Thread:
    """What is known of a thread besides its segments."""

    id: str
    segments: list[Segment]
    """Oldest first."""
    live: Segment
    find: Callable[[str], Segment | None]
    """A segment of any thread, by the name a base is given by."""
    source: Callable[[str], Segment | None]
    """The first segment of another thread."""
    name: str | None = None
    title: str | None = None
    """What the database calls it where nobody named it: its own first prompt."""
    spawner: str | None = None
    """The thread that spawned it, as the database says."""
    notes: list[Note] = field(default_factory=list)
    original: Segment | None = None
    """The file that counts for Codex, where the thread's only one is another of its name that went on differently."""

    def owns(self, segment: Segment) -> bool:
        """Whether a segment is one of its own."""
        return any(one.path == segment.path for one in self.segments)


_BEGINNING = 48 << 10
"""Bytes in which the first message is looked for."""


class Base(NamedTuple):
    """Where a segment begins: in which other one, and before which of its lines."""

    segment: str
    ordinal: int
    """The first line that is no longer part of it."""


@dataclass(slots=True)
class Step:
    """One segment to be read."""

    segment: Segment
    rollout: Rollout
    base: Base | None
    limit: int | None
    """The ordinal before which reading stops; None for the whole file."""
    missing: str | None = None
    """Why what it is based on is not there, in one line."""


@dataclass(slots=True)
class Chain:
    """The segments of a thread in the order they are read."""

    steps: list[Step] = field(default_factory=list)
    fork_points: dict[str, set[int]] = field(default_factory=dict)
    """By segment, the ordinals that others begin at."""
    metas: dict[str, dict[str, Any]] = field(default_factory=dict)
    """The description at the beginning of each file."""


def base_of(meta: dict[str, Any]) -> Base | None:
    """What a segment says it is based on."""
    base = meta.get("history_base")
    if not isinstance(base, dict):
        return None
    segment, ordinal = base.get("thread_id"), base.get("end_ordinal_exclusive")
    if not isinstance(segment, str) or not isinstance(ordinal, int) or isinstance(ordinal, bool):
        return None
    return Base(segment.lower(), ordinal)


_FOLDER = re.compile(
    rb'<environment_context>\\n\s*(?:<cwd>|Current working directory: )((?:[^"\\<]|\\[^n"])+)'
)
"""Where the first message names the folder, as it stands in a line."""


def with_folder(meta: dict[str, Any], head: bytes) -> dict[str, Any]:
    """A description with its folder: before September 2025 only what Codex put in ahead of the first prompt said it."""
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
) -> Chain:
    """The chain of a thread's own segments and everything they are based on.

    Raises NotASession where the first cannot be opened; of others that cannot it is said.
    """
    chain = Chain()
    begun: dict[str, Step | None] = {}
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
    segment: Segment, chain: Chain, opened: Callable[[Segment], Rollout], *, first: bool
) -> Step | None:
    """A segment opened and described; None where it cannot be."""
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
    # Where the description names no time, or there is none, the thread began when its first line was written.
    chain.metas[segment.path] = {"timestamp": line.get("timestamp"), **meta}
    return Step(segment, rollout, base_of(meta), None)
