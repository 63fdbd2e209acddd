"""Damaged bytes in what is appended to: whatever they are, a write is refused or leaves them as they are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from leafward.agents.recognition import agent_of
from leafward.base.errors import LeafwardError
from leafward.session.journal import session_operations
from leafward.session.sidecar import sidecar_folder
from tests.foreign_stores import make
from tests.torture.scenes import STORED, World
from tests.torture.worlds import Moment

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path
    from random import Random


def mutated(world: World, chance: Random, limit: int) -> Iterator[dict[str, Any] | None]:
    """For each damaged file None, or what did not hold."""
    empty = Moment((world.root, world.other), {})
    for number in range(limit):
        empty.come_back()
        world.enter()
        session, target = _made(world, chance)
        data, how = _damaged(target.read_bytes(), chance)
        target.write_bytes(data)
        try:
            _written(session, target, data)
        except Exception as error:
            yield {
                "mutation": number,
                "how": how,
                "file": target.name,
                "broken": f"{type(error).__name__}: {error}"[:400],
            }
        else:
            yield None
    empty.come_back()


def _made(world: World, chance: Random) -> tuple[Path, Path]:
    """A session, and which file of it is damaged: its own, or its sidecar."""
    kind = chance.choice(["pi", "pi", "claude", "codex"])
    if kind == "pi":
        name = chance.choice(["branches", "compacted-twice", "edits-and-extras", "moved-away", "version-1"])
        path = world.store / f"{name}.jsonl"
        path.write_bytes((STORED / f"{name}.jsonl").read_bytes())
        return path, path
    store = make(kind, world.root / "home")
    session = store.open()
    for text in ("one", "two", "three"):
        session_operations.label(session, 0, text)
    session_operations.move(session, 1)
    store.close()
    [book] = sidecar_folder().rglob("*.jsonl")
    return store.path, book


def _damaged(data: bytes, chance: Random) -> tuple[bytes, str]:
    at = chance.randrange(len(data))
    size = chance.choice([1, 7, 100, 4096])
    how = chance.choice(["cut", "nul", "flip", "gone", "twice", "garbage", "newlines", "swap"])
    middle = {
        "cut": b"",
        "nul": b"\0" * size,
        "flip": bytes([data[at] ^ (1 << chance.randrange(8))]) + data[at + 1 : at + size],
        "gone": b"",
        "twice": data[at : at + size] * 2,
        "garbage": chance.randbytes(size),
        "newlines": b"\n" * size,
        "swap": data[at : at + size][::-1],
    }[how]
    rest = b"" if how == "cut" else data[at + size :]
    return data[:at] + middle + rest, f"{how} {size} at {at}"


def _written(path: Path, target: Path, data: bytes) -> None:
    """Opens, writes and takes back. What is damaged may be refused; what is not must be as it was."""
    try:
        session = agent_of(path).open(path)
    except LeafwardError:
        assert target.read_bytes() == data, "changed by reading"
        return
    try:
        version = session.version
        for index in (0, len(session) - 1):
            try:
                session_operations.label(session, index, "a label")
                session_operations.move(session, index)
                session_operations.undo(session)
                session_operations.undo(session)
            except LeafwardError:
                pass
        now = target.read_bytes()
        if version >= 3 or not session.is_native:
            assert now.startswith(data), "bytes that were there changed"
        assert now in (data, data[: len(now)]) or now.endswith(b"\n"), "torn"
    finally:
        session.close()
