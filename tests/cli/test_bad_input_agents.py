"""Whatever the files of other agents hold: a session opens with the damage shown and placed, or is refused in one line."""

from __future__ import annotations

import contextlib
import io
import json
import random
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

from leafward.cli.main import main
from tests.opencode_store import Conversation, Database, call, said, write_tree
from tests.surroundings import THOROUGH
from tests.untouched import contents

if TYPE_CHECKING:
    from collections.abc import Callable

DATA = Path(__file__).parents[1] / "data"
VERBS = ("tree", "context", "files", "doctor", "show")
FORMATS = ("md", "html", "json")
ROUNDS = 12 if THOROUGH else 4


class Store(NamedTuple):
    """A store in a folder of its own."""

    root: Path
    session: Path
    """The command that is run."""
    files: list[Path]
    """The bytes that are damaged."""


def codex(folder: Path, version: str, part: str) -> Store:
    root = Path(shutil.copytree(DATA / "codex" / version, folder / ".codex"))
    files = sorted(path for path in root.rglob("rollout-*.jsonl") if part in path.name)
    return Store(root, files[0], files)


def claude(folder: Path, version: str, part: str) -> Store:
    root = Path(shutil.copytree(DATA / "claude" / version, folder / ".claude"))
    [file] = root.rglob(f"{part}*.jsonl")
    return Store(root, file, [file])


def conversation() -> Conversation:
    talk = Conversation()
    talk.ask("Prune the pear trees")
    talk.reply(
        {"type": "reasoning", "text": "Which?"}, said("I look."), call("read", "1: pears", filePath="t.txt")
    )
    talk.turn("two")
    talk.compaction("Pears were pruned.")
    talk.turn("three")
    return talk


def in_database(folder: Path) -> Store:
    session = Database(folder).write(conversation())
    return Store(folder, session, [session.parent])


def in_files(folder: Path, *, nested: bool) -> Store:
    session = write_tree(folder, conversation(), nested=nested)
    return Store(folder, session, sorted(folder.rglob("*.json")))


STORES: dict[str, Callable[[Path], Store]] = {
    "codex 0.80": lambda folder: codex(folder, "0.80", "9f21"),
    "codex 0.125": lambda folder: codex(folder, "0.125", "a550"),
    "codex 0.169 reverted": lambda folder: codex(folder, "0.169", "cb54"),
    "codex 0.169 fork": lambda folder: codex(folder, "0.169", "cda2"),
    "claude 2.0": lambda folder: claude(folder, "2.0.65", "0977d252"),
    "claude 2.1": lambda folder: claude(folder, "2.1.330", "5016a1ec"),
    "opencode database": in_database,
    "opencode files": lambda folder: in_files(folder, nested=False),
    "opencode oldest files": lambda folder: in_files(folder, nested=True),
}


def quietly(*arguments: str | Path) -> tuple[int, str, str]:
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = main([str(one) for one in arguments])
    return code, out.getvalue(), err.getvalue()


def one_line(err: str) -> bool:
    return err.startswith("leafward: ") and err.count("\n") == 1 and "unforeseen" not in err


def mutilated(data: bytes, chance: random.Random) -> bytes:
    """Bytes with a few things done to them: lines dropped, doubled, swapped, glued; bytes cut, flipped, put in."""
    if not data:
        return data
    for _ in range(chance.randint(1, 4)):
        lines = data.splitlines(keepends=True) or [b""]
        at, other = chance.randrange(len(lines)), chance.randrange(len(lines))
        place = chance.randrange(len(data)) if data else 0
        what = chance.choice(
            ["drop", "double", "swap", "glue", "cut", "flip", "nul", "garbage", "hole", "name"]
        )
        if what == "drop" and len(lines) > 1:
            del lines[at]
        elif what == "double":
            lines.insert(other, lines[at])
        elif what == "swap":
            lines[at], lines[other] = lines[other], lines[at]
        elif what == "glue":
            lines[at] = lines[at].rstrip(b"\n")
        elif what == "name":
            # Ids name other rows: parents that are missing, circles, ids that occur twice.
            lines[at] = lines[at].replace(b"a", b"b").replace(b'"parentUuid":null', b'"parentUuid":"x"')
        else:
            piece = {
                "cut": (data[:place], b""),
                "flip": (data[:place] + bytes([chance.randrange(256)]), data[place + 1 :]),
                "nul": (data[:place] + bytes(chance.randint(1, 300)), data[place:]),
                "garbage": (data[:place] + chance.randbytes(chance.randint(1, 30)), data[place:]),
                "hole": (data[:place], data[place + chance.randint(1, 2000) :]),
            }.get(what)
            lines = [b"".join(piece)] if piece is not None else lines
        data = b"".join(lines)
    return data


@pytest.mark.parametrize("name", STORES)
def test_no_mutilation_is_too_much(name: str, tmp_path: Path) -> None:
    chance = random.Random(name)
    for number in range(ROUNDS):
        store = STORES[name](tmp_path / str(number))
        for file in chance.sample(store.files, min(len(store.files), chance.randint(1, 3))):
            file.write_bytes(mutilated(file.read_bytes(), chance))
        before = contents(store.root)
        answered(store)
        assert contents(store.root) == before


JUNK: tuple[Any, ...] = (
    None, 0, -1, 1.5, 1e300, 10**25, "", "x", "../x", "\ud800", "\0", "9999-12-31T23:59:59Z",
    [], [None], [[]], ["x"], {}, {"a": 1}, True,
)  # fmt: skip
"""Values that may replace any other in a record."""
MORE: tuple[tuple[str, ...], ...] = (
    ("ls", "--totals"),
    ("tree", "--entries"),
    ("plan", "--keep-recent", "1"),
    ("diff", "#0", "leaf"),
    ("survival",),
    ("fork", "leaf", "--to", "pi", "--dry-run"),
    ("fork", "leaf", "--dry-run"),
)


def retyped(value: object, chance: random.Random, share: float) -> object:
    """A value of JSON in which some values are of another type, or missing."""
    if isinstance(value, dict):
        kept = {key: one for key, one in value.items() if chance.random() > share / 3}
        return {key: retyped(one, chance, share) for key, one in kept.items()}
    if isinstance(value, list):
        return [retyped(one, chance, share) for one in value]
    return chance.choice(JUNK) if chance.random() < share else value


def retype(file: Path, chance: random.Random) -> None:
    """Gives values in a file of JSON, in one of JSON lines, or in a database other types."""
    share = chance.choice((0.01, 0.03, 0.1))

    def changed(text: str) -> str:
        return json.dumps(retyped(json.loads(text), chance, share)) if chance.random() < 0.7 else text

    if file.suffix == ".json":
        file.write_text(changed(file.read_text()))
    elif file.suffix == ".jsonl":
        lines = [changed(line) for line in file.read_text().splitlines() if line.strip()]
        file.write_text("\n".join(lines) + "\n")
    else:
        with closing(sqlite3.connect(file)) as base, base:
            for table in ("message", "part"):
                rows = base.execute(f"SELECT rowid, data FROM {table}").fetchall()
                base.executemany(
                    f"UPDATE {table} SET data = ? WHERE rowid = ?",
                    [(changed(data), row) for row, data in rows],
                )
            column = chance.choice(("time_created", "time_updated", "title", "revert", "directory"))
            base.execute(
                f"UPDATE session SET {column} = ?", (chance.choice((None, "x", 9e18, b"\xff", "[]")),)
            )


@pytest.mark.parametrize("name", STORES)
def test_no_type_is_too_much(name: str, tmp_path: Path) -> None:
    chance = random.Random(name)
    for number in range(ROUNDS):
        store = STORES[name](tmp_path / str(number))
        for file in store.files:
            if file.suffix in (".json", ".jsonl", ".db"):
                retype(file, chance)
        for verb, *options in (*((verb,) for verb in VERBS), *MORE):
            code, _, err = quietly(verb, store.root if verb == "ls" else store.session, *options)
            assert code in (0, 1), (number, verb, err)
            assert "unforeseen" not in err, (number, verb, err)


def answered(store: Store) -> None:
    """Every verb answers, or all refuse in one line; and all that is damaged has a place that `doctor` names."""
    codes: set[int] = set()
    documents: dict[str, Any] = {}
    for verb in VERBS:
        code, out, err = quietly(verb, store.session, "--json")
        if verb == "show" and code and "no entr" in err:
            continue
        codes.add(code)
        assert one_line(err) if code else not err, (verb, err)
        documents[verb] = json.loads(out) if not code else None
    assert len(codes) == 1, "one verb opens what another refuses"
    code, out, err = quietly("ls", store.root, "--json")
    assert (code, err) == (0, "")
    cards = json.loads(out)["sessions"]
    assert cards, "what is broken is still listed"
    if codes == {1}:
        return
    for form in FORMATS:
        code, out, err = quietly("export", store.session, "--all", "--format", form, "--keep-secrets")
        assert (code, err) == (0, "")
        assert "\x1b" not in out
    code, out, _ = quietly("tree", store.session)
    assert code == 0
    assert "\x1b" not in out
    damaged = [entry for entry in documents["tree"]["entries"] if entry["damage"]]
    told = [problem for problem in documents["doctor"]["problems"] if problem["offset"] is not None]
    assert len(told) >= len(damaged)


@pytest.mark.parametrize("name", [name for name in STORES if not name.startswith("opencode")])
def test_a_torn_line_is_told_of_at_its_byte(name: str, tmp_path: Path) -> None:
    store = STORES[name](tmp_path)
    file = store.files[0]
    lines = file.read_bytes().splitlines(keepends=True)
    at = next(
        number
        for number in range(1, len(lines))
        if len(lines[number]) > 300
        and b'"response_item"' in lines[number] + b'"response_item"' * ("claude" in name)
    )
    lines[at] = lines[at][:60] + b"\n"
    file.write_bytes(b"".join(lines))
    code, out, _ = quietly("doctor", store.session, "--json")
    assert code == 0
    problems = json.loads(out)["problems"]
    assert ("malformed", sum(map(len, lines[:at]))) in {(one["code"], one["offset"]) for one in problems}


def test_empty_files_are_counted_by_doctor(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = tmp_path / ".claude"
    shutil.copytree(DATA / "claude" / "2.0.65", root)
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(root))
    [empty] = [path for path in root.rglob("*.jsonl") if not path.stat().st_size]
    code, out, err = quietly("doctor", "--json")
    assert (code, err) == (0, "")
    found = [one for one in json.loads(out)["problems"] if one["code"] == "empty"]
    assert [(one["session"], one["offset"]) for one in found] == [(str(empty), 0)]
    assert "nothing was said" in found[0]["text"]
    code, _, err = quietly("tree", empty)
    assert code == 1
    assert one_line(err)
