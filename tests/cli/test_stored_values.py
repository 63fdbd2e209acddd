"""Our own stored data is trusted no more than that of others: any value of it may be of any type."""

from __future__ import annotations

import copy
import json
import os
from typing import TYPE_CHECKING, Any

import pytest

from leafward.base.config import load
from leafward.base.paths import cache_dir
from leafward.catalogue.index import Index
from leafward.catalogue.trash import trash_folder
from leafward.session.sidecar import Owner, sidecar_path
from tests.opencode_store import Conversation, Database
from tests.pi_file import HEADER, PiFile
from tests.surroundings import THOROUGH

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.cli.conftest import Run

WRONG: tuple[Any, ...] = (None, True, -1, 10**30, 1.5, "", "x\x1b[31m\n", [], [None], {}, {"all": []})


@pytest.fixture
def store(isolated_environment: Path) -> Path:
    root = isolated_environment / ".pi" / "agent" / "sessions"
    for number in range(4):
        folder = root / f"--home-ada-p{number % 2}--"
        folder.mkdir(parents=True, exist_ok=True)
        header = HEADER | {"id": f"01a1fff{number}-4aff-76cb", "cwd": f"/home/ada/p{number % 2}"}
        file = PiFile(folder / f"{number}_{header['id']}.jsonl", header)
        file.user(f"prompt {number}")
        file.reply("so" * number)
        os.utime(file.path, (1_800_000_000 + number, 1_800_000_000 + number))
    return root


def places(value: Any, above: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Where every value inside of one lies, itself among them."""
    yield above
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, one in inside:
        yield from places(one, (*above, key))


def changed(document: Any, place: tuple[Any, ...], value: Any) -> Any:
    if not place:
        return value
    found = copy.deepcopy(document)
    at = found
    for key in place[:-1]:
        at = at[key]
    at[place[-1]] = value
    return found


def renamed(document: Any, place: tuple[Any, ...], name: str) -> Any:
    """The same with another key at the end of a path, in the same order."""
    at = document
    for key in place[:-1]:
        at = at[key]
    return changed(
        document, place[:-1], {name if key == place[-1] else key: value for key, value in at.items()}
    )


def _written(blocks: list[Any]) -> bytes:
    """An index of these three lines that says itself how long they are, where it says anything."""
    lines = [json.dumps(block).encode() for block in blocks]
    if isinstance(blocks[0], dict) and blocks[0].get("bytes") == _SIZES:
        lines[0] = json.dumps({**blocks[0], "bytes": [len(lines[1]), len(lines[2])]}).encode()
    return b"\n".join(lines) + b"\n"


_SIZES = [0, 0]


def test_whatever_stands_in_the_index_the_listing_is_right_and_the_index_heals(run: Run, store: Path) -> None:
    path = cache_dir() / "catalogue.json"
    wanted = run("ls", "--json")
    assert wanted.code == 0
    assert len(wanted.document["sessions"]) == 4
    text = run("ls").out
    blocks = [json.loads(line) for line in path.read_bytes().splitlines()]
    blocks[0]["bytes"] = _SIZES
    good = Index(path)
    expected = {place: good.reading(place) for place in good.cards}
    tried = 0
    for number in range(3):
        for place in places(blocks[number]):
            for turn, value in enumerate(WRONG):
                # Each value is tried at many places, each place with some of them.
                if place and (turn + len(str(place))) % (4 if THOROUGH else 8):
                    continue
                spoilt = list(blocks)
                spoilt[number] = changed(blocks[number], place, value)
                path.write_bytes(_written(spoilt))
                found = run("ls", "--json")
                said = found.document if found.code == 0 else {}
                assert found.code == 0, (number, place, value, found.err)
                assert said.keys() == wanted.document.keys()
                # A value of the right type and within bounds cannot be told from what was stored.
                if not _is_plausible(place, value):
                    assert said["sessions"] == wanted.document["sessions"], (number, place, value)
                again = Index(path)
                assert again.rejected is None, (number, place, value, again.rejected)
                if not _is_plausible(place, value):
                    assert {one: again.reading(one) for one in again.cards} == expected, (
                        number,
                        place,
                        value,
                    )
                tried += 1
    assert tried > 300
    assert run("ls").out == text
    for name in ("a\0b", "\ud800", "", ".."):
        for place in [("folders", next(iter(blocks[1]["folders"]))), ("kept",)]:
            if place == ("kept",):
                spoilt = [blocks[0], {**blocks[1], "kept": {name: [1, 2]}}, blocks[2]]
            else:
                spoilt = [blocks[0], renamed(blocks[1], place, name), blocks[2]]
            path.write_bytes(_written(spoilt))
            found = run("ls", "--json")
            assert found.code == 0
            assert found.document["sessions"] == wanted.document["sessions"]


def _is_plausible(place: tuple[Any, ...], value: Any) -> bool:
    """Whether what was put there is what a session might say of itself, or makes no difference."""
    names = {one for one in place if isinstance(one, str)}
    if ("cards" in names and place[-1] in ("all", "none")) or (len(place) > 2 and "table" in names):
        return True
    if place and place[0] in ("changed", "read", "last_prompt", "last_reply", "mark", "spent"):
        return len(place) > 1
    return "cards" in names and len(place) > 2


def test_an_index_that_is_no_file_is_none(run: Run, store: Path) -> None:
    path = cache_dir() / "catalogue.json"
    wanted = run("ls", "--json").document
    path.unlink()
    path.mkdir()
    assert run("ls", "--json").document == wanted
    path.rmdir()
    if hasattr(os, "mkfifo"):
        os.mkfifo(path)
        assert run("ls", "--json").document == wanted
        assert Index(path).rejected is None
    path.unlink()
    path.symlink_to(path)
    assert run("ls", "--json").document == wanted


class TestOtherFiles:
    """Our other stored data: each value of it may be of any type too."""

    def test_a_note_in_the_trash(self, run: Run, store: Path) -> None:
        [file, *_] = sorted(store.rglob("0_*.jsonl"))
        assert run("delete", str(file)).code == 0
        [folder] = trash_folder().iterdir()
        note = folder / "note.json"
        good = json.loads(note.read_bytes())
        for place in places(good):
            for value in (*WRONG, 10**400, "/", "/a/..", "a.jsonl", "/x/\0", "/x/note.json", "/x/\ud800"):
                note.write_text(json.dumps(changed(good, place, value)))
                found = run("delete", "--undo", good["id"])
                listed = run("delete", "--undo", "nothing")
                assert listed.code in (1, 2), (place, value)
                assert "unforeseen" not in found.err + listed.err, (place, value, found.err, listed.err)
                if found.code == 0:
                    assert place in (("title",), ("when",), ("order",)), (place, value)
                    assert file.exists()
                    assert run("delete", str(file)).code == 0
                    [folder] = trash_folder().iterdir()
                    note = folder / "note.json"
        for text in ("", "[" * 100_000, "1" * 10_000, "\0", "null"):
            note.write_text(text)
            assert "the trash has no session" in run("delete", "--undo", "x").err
        # Another file than the session is never brought back.
        (folder / file.name).unlink()
        (folder / file.name).symlink_to("/etc/hostname")
        note.write_text(json.dumps(good))
        assert "the trash has no session" in run("delete", "--undo", good["id"]).err

    @pytest.mark.parametrize(
        "text",
        [
            "window = " + "1" * 5_000,
            "window = " + "[" * 5_000 + "]" * 5_000,
            "model = 1e999",
            "windows = 3",
            "keymap = [1]",
            "exclude = [[]]",
            "[summaries]\ntimeout = nan",
            "[roots]\npi = {}",
            "\0",
        ],
        ids=lambda text: text[:16],
    )
    def test_a_configuration(self, run: Run, store: Path, tmp_path: Path, text: str) -> None:
        path = tmp_path / "config.toml"
        path.write_text(text)
        problems = load(path)[1]
        assert problems
        assert all(problem.code in ("syntax", "bad-value", "unknown-key") for problem in problems)

    def test_a_sidecar_that_is_a_fifo(self, run: Run, isolated_environment: Path) -> None:
        if not hasattr(os, "mkfifo"):
            pytest.skip("the system has no FIFOs")
        talk = Conversation()
        talk.turn("one")
        root = isolated_environment / ".local" / "share" / "opencode"
        root.mkdir(parents=True)
        path = Database(root).write(talk)
        fifo = sidecar_path(Owner("opencode", "ses_one"))
        fifo.parent.mkdir(parents=True)
        os.mkfifo(fifo)
        assert run("ls", "--json").code == 0
        shown = run("tree", str(path))
        assert shown.code == 0
        assert "not a regular file" in " ".join(shown.out.split())
