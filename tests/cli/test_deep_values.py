"""Values that JavaScript reads and Python's parsers refuse: no line that holds one loses its place in the tree."""

from __future__ import annotations

import json
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson
import pytest

import leafward
from tests.opencode_store import Conversation, Database, write_tree

if TYPE_CHECKING:
    from tests.cli.conftest import Run

DATA = Path(__file__).parents[1] / "data"
DEEP = "[" * 2_000 + "]" * 2_000
VALUES = {
    "brackets": DEEP,
    "braces": '{"a":' * 2_000 + "1" + "}" * 2_000,
    "digits": "7" * 6_000,
    "exponent": "-7e" + "9" * 5_000,
}


def _with(line: str, value: str, where: str) -> str:
    """A line with one more value: in front of, behind or inside what stands there."""
    body: dict[str, Any] = json.loads(line)
    if where == "first":
        body = {"zzz": "@@", **body}
    elif where == "last":
        body["zzz"] = "@@"
    else:
        inner = next((one for one in body.values() if isinstance(one, dict)), body)
        inner["zzz"] = "@@"
    return json.dumps(body, separators=(",", ":"), ensure_ascii=False).replace('"@@"', value)


def _shape(run: Run, path: Path) -> list[tuple[object, ...]]:
    found = run("tree", str(path), "--json")
    assert found.code == 0, found.err
    entries = found.document["entries"]
    # Ids that a reader makes up tell of the bytes.
    order = {entry["id"]: number for number, entry in enumerate(entries)}
    return [(order.get(entry["parent"]), entry["kind"], entry["role"], entry["damage"]) for entry in entries]


def _sessions(folder: Path) -> dict[str, Path]:
    own = Path(leafward.__file__).parent / "data" / "demo.jsonl"
    found = {"pi": Path(shutil.copy(own, folder / "pi.jsonl"))}
    for name, pattern in (("claude", "5016a1ec*.jsonl"), ("codex", "rollout-*a550*.jsonl")):
        shutil.copytree(DATA / name, folder / name)
        found[name] = next((folder / name).rglob(pattern))
    return found


@pytest.mark.parametrize("where", ["first", "last", "inside"])
@pytest.mark.parametrize("value", VALUES)
@pytest.mark.parametrize("agent", ["pi", "claude", "codex"])
def test_a_line_keeps_its_id_and_its_parent(
    run: Run, tmp_path: Path, agent: str, value: str, where: str
) -> None:
    path = _sessions(tmp_path)[agent]
    lines = path.read_text("utf-8").splitlines()
    for number in (1, 2, len(lines) // 2, len(lines) - 1):
        lines[number] = _with(lines[number], "1", where)
    path.write_text("\n".join(lines) + "\n", "utf-8")
    wanted = _shape(run, path)
    path.write_text(
        "\n".join(
            line.replace('"zzz":1', f'"zzz":{VALUES[value]}') if '"zzz":1' in line else line for line in lines
        )
        + "\n",
        "utf-8",
    )
    assert VALUES[value] in path.read_text("utf-8")
    assert _shape(run, path) == wanted
    for verb in ("context", "doctor", "ls"):
        assert run(verb, str(path)).code in (0, 1)


@pytest.mark.parametrize("value", VALUES)
@pytest.mark.parametrize("stored", ["database", "files"])
def test_a_message_of_opencode_keeps_its_place(run: Run, tmp_path: Path, stored: str, value: str) -> None:
    talk = Conversation()
    talk.turn("one")
    talk.turn("two")
    if stored == "files":
        path = write_tree(tmp_path, talk)
        wanted = _shape(run, path)
        for file in [*tmp_path.rglob("msg_*.json"), *tmp_path.rglob("prt_*.json")]:
            file.write_text(_with(file.read_text("utf-8"), VALUES[value], "last"), "utf-8")
    else:
        store = Database(tmp_path)
        path = store.write(talk)
        wanted = _shape(run, path)
        with closing(sqlite3.connect(store.path)) as base, base:
            for table in ("message", "part"):
                for row, data in base.execute(f"SELECT rowid, data FROM {table}").fetchall():
                    base.execute(
                        f"UPDATE {table} SET data = ? WHERE rowid = ?",
                        (_with(data, VALUES[value], "last"), row),
                    )
    assert _shape(run, path) == wanted


@pytest.mark.parametrize("name", ["pi", "claude"])
@pytest.mark.parametrize("deep", [180, 400, 1_021])
def test_what_is_shown_of_a_deep_value_is_read_by_other_parsers(
    run: Run, tmp_path: Path, name: str, deep: int
) -> None:
    path = _sessions(tmp_path)[name]
    lines = path.read_text("utf-8").splitlines()
    for number in range(1, len(lines)):
        lines[number] = _with(lines[number], "[" * deep + "7" + "]" * deep, "inside")
    path.write_text("\n".join(lines) + "\n", "utf-8")
    ids = [entry["id"] for entry in run("tree", str(path), "--json").document["entries"]]
    for entry in ids[1:4]:
        shown = run("show", str(path), entry, "--json").out.encode()
        assert orjson.loads(shown)["id"] == entry
        assert b"[" * min(deep, 190) in shown, "as much of it as can be read stays"
        assert b"[" * 201 not in shown
