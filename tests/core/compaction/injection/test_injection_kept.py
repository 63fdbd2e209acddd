"""Findings of an earlier run that are kept for the next one: the text is that of a run without them, byte for byte."""

from __future__ import annotations

import json
import os
import shutil
import stat
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from leafward.agents.claude.entries import kept_reading
from leafward.agents.recognition import agent_of
from leafward.base.paths import config_dir
from leafward.cli.main import main
from leafward.compaction.injection.findings import kept_findings
from leafward.compaction.injection.findings.collection import collect
from leafward.compaction.injection.findings.stored_findings import collect_on
from leafward.compaction.injection.injection import build
from leafward.compaction.injection.values import InjectionSettings
from leafward.session.foreign import ForeignFiles
from leafward.session.journal.session_operations import label
from leafward.session.session import Session
from tests.bench.generate import write_session
from tests.opencode_store import Conversation, Database, call, said

if TYPE_CHECKING:
    from collections.abc import Iterator

DATA = Path(__file__).parents[3] / "data"
NOWHERE = InjectionSettings(workspace=Path("/nonexistent/leafward"))
SETTINGS = (
    NOWHERE,
    replace(NOWHERE, budget=600),
    replace(NOWHERE, order="alpha", budget=40_000, off=frozenset({"workingset.modified"})),
)


@pytest.fixture(autouse=True)
def every_size(monkeypatch: pytest.MonkeyPatch) -> None:
    """Short sessions are kept too."""
    monkeypatch.setattr(kept_findings, "_SMALLEST", 0)
    monkeypatch.setattr(kept_findings, "_STEP", 0)


def told(path: Path, selector: str = "leaf") -> tuple[list[str], int]:
    """The texts with each of the settings, the same as those without a cache, and the entries that were read for them."""
    agent = agent_of(path)
    with closing(agent.open(path)) as session:
        found = collect(session, session.find(selector))
        cold = [build(found, settings) for settings in SETTINGS]
    kept = kept_findings.load(path)
    source = agent.source(path)
    if kept is not None:
        kept.lead(source)
    elif isinstance(source, ForeignFiles):
        source.go_on_from(b"")
    with closing(Session.of(source)) as session:
        made = collect_on(session, session.find(selector), kept.of(session) if kept is not None else None)
        kept_findings.save(session, made.stored, made.read)
    warm = [build(made.found, settings) for settings in SETTINGS]
    assert [one.text for one in warm] == [one.text for one in cold]
    assert [one.diagnostics for one in warm] == [one.diagnostics for one in cold]
    return [one.text for one in warm], made.read


def lines_of(path: Path, entries: int = 500, **given: Any) -> list[bytes]:
    """The lines of a generated session; the file is removed again."""
    write_session(path, entries, **given)
    lines = path.read_bytes().splitlines(keepends=True)
    path.unlink()
    return lines


def grown(path: Path, lines: list[bytes], *cuts: int) -> Iterator[tuple[list[str], int]]:
    """The texts at each of some lengths of a growing file."""
    path.touch()
    for begin, end in zip((0, *cuts), cuts, strict=False):
        with path.open("ab") as file:
            file.writelines(lines[begin:end])
        yield told(path)


@pytest.mark.parametrize(("branch_every", "compact_every"), [(0, 0), (0, 150), (40, 100)])
def test_a_session_that_grows_is_read_on(branch_every: int, compact_every: int, tmp_path: Path) -> None:
    path = tmp_path / "grown.jsonl"
    lines = lines_of(path, branch_every=branch_every, compact_every=compact_every)
    runs = list(grown(path, lines, 200, 201, len(lines)))
    assert len({texts[0] for texts, _ in runs}) > 1
    if not branch_every:
        # The last reply and what follows it are read again; the header is no entry.
        assert sum(read for _, read in runs) < len(lines)
    # Nothing was appended. An entry further up is read whole.
    assert told(path)[1] <= 0
    assert told(path, "#300")[1] > 100


def test_a_session_with_a_broken_line_is_read_on(tmp_path: Path) -> None:
    """As an agent leaves it that was killed while it wrote; nothing mends it."""
    path = tmp_path / "broken.jsonl"
    lines = lines_of(path, 300, branch_every=0)
    lines.insert(100, b'{"type":"message","id":"dead\n')
    runs = list(grown(path, lines, 200, 201, len(lines)))
    assert runs[0][1] > 90
    assert abs(runs[1][1]) <= 2
    with closing(agent_of(path).open(path)) as session:
        kept = kept_findings.load(path)
        assert kept is not None
        assert kept.scan is not None
        columns = session.columns
        assert (kept.scan.columns.damage, kept.scan.columns.other_ids) == (columns.damage, columns.other_ids)
        assert len(columns.damage) == 1


def test_calls_and_requests_on_either_side_of_a_cut_belong_together(tmp_path: Path) -> None:
    path = tmp_path / "cuts.jsonl"
    lines = lines_of(path, 40, branch_every=0, compact_every=15)
    every = list(grown(path, lines, *range(2, len(lines) + 1)))
    assert max(read for _, read in every) < 10


OTHERS = (
    "claude/2.1.330/projects/-tmp-demo-project/d379888c-ffba-457b-bedd-142b9bb27a47.jsonl",
    "codex/0.169/sessions/2026/11/21/rollout-2026-11-21T20-51-39-01a1ffe1-044d-78c2-a2dd-b6f8195247da.jsonl",
)


@pytest.mark.parametrize("stored", OTHERS)
def test_sessions_of_other_agents_are_read_on_too(stored: str, tmp_path: Path) -> None:
    source = DATA / stored
    path = tmp_path / source.name
    lines = source.read_bytes().splitlines(keepends=True)
    half = len(lines) // 2
    runs = list(grown(path, lines, half, half + 1, len(lines)))
    assert runs[0][1] > 0
    assert abs(runs[1][1]) <= 1
    assert kept_findings.load(path) is not None
    # The same bytes, but another conversation: it counts as none.
    kept = kept_findings.load(path)
    with closing(agent_of(path).open(path)) as session:
        assert kept is not None
        assert kept.of(session) is not None
        session.columns.kind[0] ^= 1
        assert kept.of(session) is None


@pytest.mark.parametrize("stored", OTHERS)
def test_a_session_with_labels_beside_it_is_read_on(stored: str, tmp_path: Path) -> None:
    source = DATA / stored
    path = tmp_path / source.name
    lines = source.read_bytes().splitlines(keepends=True)
    runs = grown(path, lines, len(lines) // 2, len(lines) // 2 + 1, len(lines))
    whole = next(runs)[1]
    with closing(agent_of(path).open(path)) as session:
        label(session, session.leaf, "here")
        book = session.source.book_path
    assert told(path)[1] <= 1
    assert next(runs)[1] <= 1 < whole
    # The agent goes on behind the label, which is on its path no more.
    next(runs)
    # Another text of an entry of ours counts as another session.
    kept = kept_findings.load(path)
    assert kept is not None
    for text, same in ((b'"here"', True), (b'"gone"', False)):
        book.write_bytes(book.read_bytes().replace(b'"here"', text))
        with closing(agent_of(path).open(path)) as session:
            assert (kept.of(session) is not None) is same


@pytest.mark.parametrize("change", ["went on", "rewritten", "replaced", "gone"])
def test_a_thread_of_several_files_is_read_on_while_each_begins_as_before(
    change: str, tmp_path: Path
) -> None:
    shutil.copytree(DATA / "codex/0.169", tmp_path / ".codex")
    day = tmp_path / ".codex/sessions/2026/11/21"
    source = day / "rollout-2026-11-21T20-53-33-01a1ffe2-c1f8-7991-b6cc-f62ac308d761.jsonl"
    (path,) = tmp_path.rglob("*c70c-7ba2-9a05-85b2559603f7.jsonl")
    whole = told(path)[1]
    assert whole > 10
    assert told(path)[1] <= 0
    if change == "went on":
        # Behind the branch point, in the thread that it is a fork of.
        with source.open("ab") as file:
            file.write(source.read_bytes().splitlines(keepends=True)[-1])
        assert told(path)[1] <= 0
        return
    if change == "rewritten":
        data = source.read_bytes()
        source.write_bytes(data.replace(b"zero", b"nine"))
        os.utime(source, ns=(0, 1))
        assert source.read_bytes() != data
    elif change == "replaced":
        other = tmp_path / "other"
        other.write_bytes(source.read_bytes())
        other.replace(source)
    else:
        source.unlink()
    assert kept_findings.load(path) is None
    read = told(path)[1]
    assert 0 < read < whole if change == "gone" else read == whole


def test_a_session_of_opencode_is_looked_through_only_behind_what_is_kept(tmp_path: Path) -> None:
    """Its rows are read in any case: all their bytes have to be the same, as a row changes without getting longer."""
    base, talk = Database(tmp_path), Conversation(directory="/home/ada/orchard")
    path = base.path / talk.id
    for number in range(12):
        talk.ask(f"Look at src/{number}.py")
        talk.reply(said("Now."), call("edit", number=number, filePath=f"/home/ada/orchard/src/{number}.py"))
        talk.reply(said("Edited."))
    base.write(talk)
    whole = told(path)[1]
    assert whole > 30
    assert told(path)[1] <= 0
    talk.ask("Go on with the pears, in docs/pears.md")
    talk.reply(call("bash", "gone", number="mv", command="rm src/3.py"))
    base.write(talk)
    texts, read = told(path)
    assert read < 6
    assert "docs/pears.md" in texts[2]
    assert kept_findings.load(path) is not None
    base.execute("UPDATE part SET data = replace(data, 'src/4.py', 'src/x.py')")
    texts, read = told(path)
    assert read >= whole
    assert "src/x.py" in texts[0]
    base.execute("UPDATE session SET directory = '/home/ada'")
    assert told(path)[1] >= whole


@pytest.mark.parametrize("fits", [True, False])
def test_a_value_that_cannot_be_kept_loses_only_what_was_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fits: bool
) -> None:
    source = DATA / "claude/2.1.330/projects/-tmp-demo-project/d379888c-ffba-457b-bedd-142b9bb27a47.jsonl"
    path = tmp_path / source.name
    deep = b"[" * 200 + b"]" * 200
    path.write_bytes(source.read_bytes().replace(b'"gitBranch":"main"', b'"gitBranch":' + deep))
    assert deep in path.read_bytes()

    def too_deep(_value: object) -> bytes:
        raise RecursionError

    if not fits:
        # How many levels there is room for is a matter of the version of Python: 3.12.1 has none for all that a line may have.
        monkeypatch.setattr(kept_reading, "packed", too_deep)
    told(path)
    kept = kept_findings.load(path)
    assert kept is not None
    assert bool(kept.reading) == fits


@pytest.mark.parametrize("change", ["shorter", "rewritten", "replaced", "same size"])
def test_a_file_that_was_changed_is_read_whole(change: str, tmp_path: Path) -> None:
    path = tmp_path / "changed.jsonl"
    lines = lines_of(path, 450, branch_every=0)
    list(grown(path, lines, 400))
    assert kept_findings.load(path) is not None
    if change == "shorter":
        os.truncate(path, sum(map(len, lines[:220])))
    elif change == "rewritten":
        path.write_bytes(b"".join([*lines[:100], *lines[120:]]))
    elif change == "replaced":
        other = tmp_path / "other"
        other.write_bytes(b"".join(lines))
        other.replace(path)
    else:
        path.write_bytes(path.read_bytes().replace(b"src/", b"lib/"))
        os.utime(path, ns=(0, 1))
    assert kept_findings.load(path) is None
    assert told(path)[1] > 200


@pytest.mark.parametrize("damage", ["cut", "flipped", "empty", "other version", "a folder"])
def test_a_damaged_cache_counts_as_none(damage: str, tmp_path: Path) -> None:
    path = tmp_path / "damaged.jsonl"
    list(grown(path, lines_of(path, 200), 201))
    kept = kept_findings.place(path)
    data = kept.read_bytes()
    if damage == "cut":
        kept.write_bytes(data[:-9])
    elif damage == "flipped":
        kept.write_bytes(data[:-9] + bytes([data[-9] ^ 1]) + data[-8:])
    elif damage == "empty":
        kept.write_bytes(b"")
    elif damage == "other version":
        kept.write_bytes(data.replace(b'"format":', b'"format":9', 1))
    else:
        kept.unlink()
        kept.mkdir()
    assert kept_findings.load(path) is None
    assert told(path)[1] > 100


def test_a_result_far_behind_its_call_has_the_path_read_whole(tmp_path: Path) -> None:
    path = tmp_path / "late.jsonl"
    lines = lines_of(path, 100, branch_every=0)
    result = next(at for at, line in enumerate(lines) if b'"role":"toolResult"' in line and at > 30)
    late = json.loads(lines[result])
    late |= {"id": "aaaa0001", "parentId": json.loads(lines[-1])["id"]}
    late["message"]["isError"] = True
    del lines[result]
    following = json.loads(lines[result])
    following["parentId"] = json.loads(lines[result - 1])["id"]
    lines[result] = json.dumps(following, separators=(",", ":")).encode() + b"\n"
    lines.append(json.dumps(late, separators=(",", ":")).encode() + b"\n")
    runs = list(grown(path, lines, len(lines) - 1, len(lines)))
    assert runs[0][1] > 50
    assert runs[1][1] == 0


def test_no_text_and_nothing_secret_is_kept(tmp_path: Path) -> None:
    """Only paths and names; nothing where one of them looks like a secret, or where the project is excluded."""
    path = tmp_path / "private.jsonl"
    lines = lines_of(path, 60, branch_every=0, cwd="/home/ada/secret-project")
    said = json.loads(lines[1])
    said["message"]["content"] = [
        {"type": "text", "text": "The word is xylophone, in src/tune.ts. Please go on with it."}
    ]
    lines[1] = json.dumps(said, separators=(",", ":")).encode() + b"\n"
    list(grown(path, lines, 40))
    kept = kept_findings.place(path)
    assert b"src/" in kept.read_bytes()
    assert b"xylophone" not in kept.read_bytes()
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    kept_findings.forget()
    assert not kept.exists()
    config_dir().mkdir(parents=True, exist_ok=True)
    (config_dir() / "config.toml").write_text('exclude = ["secret-project"]\n')
    told(path)
    assert not kept.exists()
    (config_dir() / "config.toml").unlink()
    said["message"]["content"][0]["text"] = (
        "Look at src/ghp_" + "a1B2" * 9 + "/key.ts and go on with the work there."
    )
    lines[1] = json.dumps(said, separators=(",", ":")).encode() + b"\n"
    path.write_bytes(b"".join(lines))
    told(path)
    assert not kept.exists()


def test_the_verb_prints_the_same_again(tmp_path: Path, capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    path = tmp_path / "twice.jsonl"
    write_session(path, 300)
    printed = []
    for _ in range(2):
        assert main(["inject", str(path)]) == 0
        printed.append(capsysbinary.readouterr().out)
    assert printed[0] == printed[1] != b""
    # With --json every line names all its sources.
    documents = []
    for _ in range(2):
        assert main(["inject", "--json", str(path)]) == 0
        documents.append(capsysbinary.readouterr().out)
        kept_findings.forget()
    assert documents[0] == documents[1]
