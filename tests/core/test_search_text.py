"""The search of all text: what is found, by every road the same, whatever the agent and however it is stored."""

from __future__ import annotations

import json
import os
import random
import sys
import unicodedata
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from leafward.entries import Kind
from leafward.search.folding import folded, original_spans
from leafward.search.matching import KEPT, Phrase, snippet
from leafward.search.needles import needle
from leafward.search.passages import passages
from leafward.search.patterns import complaint, needed_runs
from leafward.search.running import FIRST_BATCH, Search
from leafward.search.sieve import crowds, ripgrep
from tests.claude_transcript import Transcript
from tests.codex_rollout import Rollout, zstd
from tests.opencode_store import Conversation, Database, call, files_of, said, write_tree
from tests.pi_file import HEADER, PiFile
from tests.searched import ROADS, cards_in, entries, found, parts, searching

if TYPE_CHECKING:
    from leafward.search.running import Progress


@pytest.fixture
def file(tmp_path: Path) -> PiFile:
    return PiFile(tmp_path / "session.jsonl")


def called(file: PiFile, name: str, output: str = "", *, failed: bool = False, **arguments: object) -> None:
    """A call and its result."""
    content = [{"type": "toolCall", "id": "c", "name": name, "arguments": arguments}]
    file.entry("message", message={"role": "assistant", "content": content, "stopReason": "toolUse"})
    file.entry(
        "message",
        message={
            "role": "toolResult",
            "toolCallId": "c",
            "toolName": name,
            "content": [{"type": "text", "text": output}],
            "isError": failed,
        },
    )


# --- what is found ---


def test_every_part_of_an_entry_is_searched(file: PiFile, tmp_path: Path) -> None:
    file.user("needle in a prompt")
    content = [{"type": "thinking", "thinking": "a needle, hm"}, {"type": "text", "text": "no"}]
    file.entry("message", message={"role": "assistant", "content": content, "stopReason": "stop"})
    called(file, "bash", "the needle was printed", command="cat needle.txt")
    file.entry("compaction", summary="## Goal\nfind the needle", firstKeptEntryId="00000001", tokensBefore=1)
    file.entry("branch_summary", fromId="00000001", summary="needle left")
    file.entry("custom_message", customType="x", content="a needle was put in", display=True)
    file.entry("label", targetId="00000001", label="needle!")
    file.entry("session_info", name="The Needle")
    file.entry(
        "message", message={"role": "bashExecution", "command": "grep needle", "output": "", "exitCode": 1}
    )
    file.entry("message", message={"role": "system", "content": "you are a needle"})
    (session,) = found("NEEDLE", tmp_path)
    assert [hit.part for hit in session.hits] == [
        "prompt", "thinking", "call", "result", "summary", "summary", "injected", "name", "name", "call", "system",
    ]  # fmt: skip
    assert [(hit.kind, hit.role) for hit in session.hits[:3]] == [
        ("message", "user"), ("message", "assistant"), ("message", "assistant"),
    ]  # fmt: skip
    for hit in session.hits:
        assert [hit.text[start:stop].lower() for start, stop in hit.spans] == ["needle"]
    assert [parts(f"needle in:{part}", tmp_path)[0][1] for part in ("summary", "name", "call")] == [
        "needle", "needle", "needle",
    ]  # fmt: skip
    assert len(parts("needle in:summary", tmp_path)) == 2


def test_tools_errors_and_files_narrow(file: PiFile, tmp_path: Path) -> None:
    called(file, "read", "ENOENT: no such file", failed=True, path="src/theme.ts")
    called(file, "bash", "no such luck", command="ls src/theme.ts")
    called(file, "edit", "done", path="/home/ada/orchard/src/Theme.ts", oldText="one", newText="such")
    called(file, "mcp__github__search_code", "such code", query="q")
    assert parts("such error:", tmp_path) == [("result", "such")]
    assert parts('error:"no such"', tmp_path) == [("result", "no such")]
    assert parts("such tool:bash", tmp_path) == [("result", "such")]
    assert parts("such tool:edit", tmp_path) == [("call", "such")]
    assert parts("tool:search_code such", tmp_path) == [("result", "such")]
    assert parts("tool:mcp__* such", tmp_path) == [("result", "such")]
    assert parts("file:src/theme.ts", tmp_path) == [
        ("call", "src/theme.ts"), ("call", "/home/ada/orchard/src/Theme.ts"),
    ]  # fmt: skip
    assert parts("file:src/theme.ts tool:read", tmp_path) == [("call", "src/theme.ts")]
    assert [part for part, _ in parts("error:", tmp_path)] == ["result"]
    assert [part for part, _ in parts("tool:bash", tmp_path)] == ["call", "result"]
    assert parts("such not:luck not:code not:such", tmp_path) == []
    assert len(parts("such not:luck", tmp_path)) == 3


@pytest.mark.parametrize("road", ROADS)
def test_a_failed_call_is_found_by_the_file_that_it_touched(file: PiFile, tmp_path: Path, road: str) -> None:
    called(file, "read", "ENOENT: no such file", failed=True, path="src/a.py")
    called(file, "read", "import os", path="src/a.py")
    # Names of calls may be given again.
    called(file, "read", "EACCES: not allowed", failed=True, path="src/b.py")
    called(file, "bash", "cat: cannot open", failed=True, command="cat elsewhere")
    called(file, "edit", "no match in src/a.py", failed=True, path="src/a.py", oldText="x", newText="y")

    def hits(text: str) -> list[tuple[str, str, str]]:
        return [
            (hit.part, hit.tool, hit.text)
            for session in found(text, tmp_path, road=road)
            for hit in session.hits
        ]

    failures = [
        ("result", "read", "ENOENT: no such file"),
        ("result", "edit", "no match in src/a.py"),
    ]
    assert hits("error: file:src/A.py") == failures
    assert hits("error: file:a.py in:result") == failures
    assert hits("error: file:a.py tool:read") == failures[:1]
    assert hits('error:"no match" file:a.py') == failures[1:2]
    assert hits("tool:read error:") == [failures[0], ("result", "read", "EACCES: not allowed")]
    assert hits("error: file:c.py") == []
    assert [tool for _, tool, _ in hits("file:src/a.py")] == ["read", "read", "edit"]


@pytest.mark.parametrize("road", ROADS)
def test_a_failed_call_of_other_agents_is_found_by_its_file(tmp_path: Path, road: str) -> None:
    transcript = Transcript(tmp_path / "claude")
    transcript.prompt("look at it")
    transcript.call("Read", "c1", file_path="/home/ada/src/a.py")
    transcript.result("c1", "File does not exist.", failed=True)
    rollout = Rollout(tmp_path / ".codex")
    rollout.turn("look", "yes")
    rollout.call(
        "shell", {"command": ["bash", "-lc", "cat src/a.py"]}, "Exit code: 1\nOutput:\ncat: no such file"
    )
    talk = Conversation("ses_one")
    talk.ask("read it")
    talk.reply(call("read", status="error", error="not found", filePath="/home/ada/src/a.py"))
    Database(tmp_path / "opencode").write(talk)
    sessions = found("error: file:src/a.py", tmp_path, road=road)
    assert sorted((session.card.agent, hit.part, hit.tool) for session in sessions for hit in session.hits) == [
        ("claude", "result", "Read"), ("codex", "result", "shell"), ("opencode", "result", "read"),
    ]  # fmt: skip


def test_a_reply_that_failed_is_an_error(file: PiFile, tmp_path: Path) -> None:
    message = {"role": "assistant", "content": [], "stopReason": "error", "errorMessage": "529 overloaded"}
    file.user("go on, overloaded")
    file.entry("message", message=message)
    assert parts("overloaded error:", tmp_path) == [("reply", "overloaded")]


def test_all_words_in_one_entry_come_before_words_all_over_the_session(tmp_path: Path) -> None:
    one, two, three = (PiFile(tmp_path / f"{name}.jsonl", HEADER | {"id": name}) for name in "abc")
    one.user("stripe webhook")
    one.reply("webhook only")
    two.user("stripe")
    two.reply("webhook")
    three.user("stripe")
    for road in ROADS:
        hits = {
            session.card.id: [hit.entry for hit in session.hits]
            for session in found("stripe webhook", tmp_path, road=road)
        }
        assert hits == {"a": ["00000001"], "b": ["00000001", "00000002"]}


def test_a_phrase_goes_on_over_line_ends(file: PiFile, tmp_path: Path) -> None:
    file.user("the rate\n   limit")
    file.reply("a limit of the rate")
    assert parts('"rate limit"', tmp_path) == [("prompt", "rate\n   limit")]
    assert len(parts("rate limit", tmp_path)) == 2


def test_patterns_ignore_case_and_know_lines(file: PiFile, tmp_path: Path) -> None:
    file.user("first\nRetrying in 30s")
    file.reply("retry in 5s")
    assert parts(r"/retry(ing)? in \d+s/", tmp_path) == [
        ("prompt", "Retrying in 30s"), ("reply", "retry in 5s"),
    ]  # fmt: skip
    assert parts(r"re:^retry\w+", tmp_path) == [("prompt", "Retrying")]
    assert parts(r're:"in \d+s$"', tmp_path) == [("prompt", "in 30s"), ("reply", "in 5s")]


# --- however it is stored ---


def escaped_anyhow(text: str, rng: random.Random) -> str:
    """A JSON string with any of its characters escaped."""
    written = []
    for char in text:
        if char in '"\\' or char < " " or rng.random() < 0.15 or 0xD800 <= ord(char) < 0xE000:
            units = char.encode("utf-16-be", "surrogatepass")
            code = "".join(f"\\u{units[at : at + 2].hex()}" for at in range(0, len(units), 2))
            written.append(
                code.replace("\\U", "\\u")
                if rng.random() < 0.5
                else code[:2] + code[2:].upper().replace("\\U", "\\u")
            )
        elif char == "/" and rng.random() < 0.5:
            written.append("\\/")
        else:
            written.append(char)
    return '"' + "".join(written) + '"'


LETTERS = [
    *"aAbeEiIkKsSoOxz09_./\\-\"'<& \n",
    *"éÉñßǅσςΣйЙдДкİıſK日本語가각",
    "e\u0301",
    "a\u0323\u0302",
    "\u0301",
    "🌳",
    "\ud83d",
    "豈",
    "½",
]


@pytest.mark.parametrize("seed", range(12))
def test_all_roads_find_the_same_in_random_texts(tmp_path: Path, seed: int) -> None:
    rng = random.Random(seed)
    texts: list[str] = []
    for number in range(6):
        path = tmp_path / f"{number}.jsonl"
        lines = [json.dumps(HEADER | {"id": f"session-{number}"})]
        for entry in range(4):
            text = "".join(rng.choices(LETTERS, k=rng.randrange(1, 24)))
            text = unicodedata.normalize(rng.choice(("NFC", "NFD")), text) if rng.random() < 0.5 else text
            texts.append(text)
            lines.append(
                f'{{"type":"message","id":"{entry:08x}","parentId":null,"timestamp":"2026-11-21T21:18:10.175Z",'
                f'"message":{{"role":"user","content":{escaped_anyhow(text, rng)}}}}}'
            )
        path.write_bytes("\n".join([*lines, ""]).encode("utf-8", "surrogatepass"))
    cards = cards_in(tmp_path)
    hits = 0
    for _ in range(25):
        text = rng.choice(texts)
        at = rng.randrange(len(text))
        word = text[at : at + rng.randrange(1, 6)].replace('"', "").strip()
        word = rng.choice((str.upper, str.lower, str))(
            unicodedata.normalize(rng.choice(("NFC", "NFD")), word)
        )
        if not word:
            continue
        answers = [entries(searching(f'"{word}"', cards, road).run()) for road in ROADS]
        assert answers[0] == answers[1] == answers[2], ascii(word)
        hits += len(answers[0])
    assert hits > 20


@pytest.mark.parametrize(
    ("word", "looked_for"),
    [
        ("TypeError", "peerror"),
        ("messages", "messages"),
        ("toolCallback", "llback"),
        ("harvest", "harvest"),
        ("type", "type"),
    ],
)
def test_what_stands_in_every_line_is_no_beginning(word: str, looked_for: str) -> None:
    found = needle([word])
    assert found is not None
    assert found.pattern.startswith(b"(?i:%s|" % looked_for.encode())
    assert found.held_by(b'{"type":"message","text":"a %s"}' % word.upper().encode())
    assert not found.held_by(b'{"type":"custom","text":"toolCall"}') or word == "type"


@pytest.mark.parametrize("stored", ["café au lait", "CAFÉ AU LAIT", "cafe\u0301 au lait"])
@pytest.mark.parametrize("plain", [False, True], ids=["escaped", "as UTF-8"])
@pytest.mark.parametrize("road", ROADS)
def test_escaped_and_accented_forms_are_found(tmp_path: Path, stored: str, *, plain: bool, road: str) -> None:
    body = {
        "type": "message",
        "id": "00000001",
        "parentId": None,
        "message": {"role": "user", "content": stored},
    }
    path = tmp_path / "a.jsonl"
    path.write_text(json.dumps(HEADER) + "\n" + json.dumps(body, ensure_ascii=not plain) + "\n", "utf-8")
    for typed in ("café", "cafe\u0301", "É", "É au"):
        ((session),) = found(f'"{typed}"', tmp_path, road=road)
        (hit,) = session.hits
        assert folded(hit.matched) == folded(typed)
        ((start, stop),) = hit.spans
        assert hit.text[start:stop] == hit.matched
    assert found("cafe", tmp_path, road=road) == []


def test_only_ascii_is_folded_to_ascii() -> None:
    for code in range(0x80, sys.maxunicode + 1):
        if not 0xD800 <= code < 0xE000:
            assert all(char > "\x7f" for char in folded(chr(code))) or code in {0x149, 0x1F0}, hex(code)


@pytest.mark.parametrize(
    ("text", "wanted", "spans"),
    [
        ("xxÉy", "é", [(2, 3)]),
        ("xxE\u0301y", "é", [(2, 4)]),
        ("e\u0301e\u0301", "é", [(0, 2), (2, 4)]),
        ("🌳 Ünder", "ünder", [(2, 7)]),
        ("\u1112\u1161\u11abx", "한x", [(0, 4)]),
    ],
)
def test_spans_are_those_of_the_text_itself(text: str, wanted: str, spans: list[tuple[int, int]]) -> None:
    low = folded(text)
    at = [place for place in range(len(low)) if low.startswith(wanted, place)]
    assert original_spans(text, [(place, place + len(wanted)) for place in at], keep_case=False) == spans


def test_a_snippet_is_one_line_with_its_places() -> None:
    text = "w " * 300 + "the\n\n needle,\ta needle" + " v" * 300
    at = text.index("needle")
    line, spans = snippet(text, [(at, at + 6), (at + 10, at + 16)])
    assert [line[start:stop] for start, stop in spans] == ["needle", "needle"]
    assert "the needle, a needle v" in line
    assert len(line) < 400
    assert snippet("", []) == ("", ())
    assert snippet("  \n needle", [(4, 10)]) == ("needle", ((0, 6),))


# --- every agent ---


def test_the_segments_of_a_thread_are_searched_packed_ones_too(tmp_path: Path) -> None:
    home = tmp_path / ".codex"
    rollout = Rollout(home)
    rollout.turn("the needle of before", "yes")
    rollout.call("shell", {"command": ["bash", "-lc", "grep 'needle' /etc/hay"]}, "needle!")
    packed = Rollout(home, thread="01a1ffe0-0000-7000-8000-000000000009", minute=3)
    packed.turn("a needle, packed", "ok")
    data = packed.path.read_bytes()
    packed.path.unlink()
    packed.path.with_name(packed.path.name + ".zst").write_bytes(zstd.compress(data))
    for road in ROADS:
        sessions = found("needle", tmp_path, road=road)
        assert [len(session.hits) for session in sessions] == [1, 3]
        assert [hit.part for hit in sessions[1].hits] == ["prompt", "call", "result"]


def test_a_torn_archive_is_opened_to_know(tmp_path: Path) -> None:
    rollout = Rollout(tmp_path / ".codex")
    for number in range(400):
        rollout.turn(f"question {number} " + os.urandom(300).hex(), f"needle-{number}")
    data = zstd.compress(rollout.path.read_bytes())
    rollout.path.unlink()
    rollout.path.with_name(rollout.path.name + ".zst").write_bytes(data[: len(data) // 2])
    assert entries(found("needle-3", tmp_path)) == entries(found("needle-3", tmp_path, road="all"))


def test_claude_and_its_sub_agents(tmp_path: Path) -> None:
    transcript = Transcript(tmp_path)
    transcript.prompt("look for the needle")
    transcript.call("Bash", "c1", command="grep needle hay")
    transcript.result("c1", "needle not found", failed=True)
    transcript.boundary("## Summary\nthe needle")
    (session,) = found("needle", tmp_path)
    assert [hit.part for hit in session.hits] == ["prompt", "call", "result", "summary"]
    assert parts("needle error: tool:bash", tmp_path) == [("result", "needle")]


def test_what_was_copied_is_found_where_it_was_said(tmp_path: Path) -> None:
    transcript = Transcript(tmp_path)
    transcript.turn("the needle", "seen")
    original = transcript.path.read_bytes()
    source = transcript.path.stem
    copy = transcript.path.with_name("99999999-aaaa-4bbb-8ccc-dddddddddddd.jsonl")
    rows = [json.loads(line) for line in original.splitlines()]
    for row in rows:
        row["sessionId"] = copy.stem
        row["forkedFrom"] = {"sessionId": source, "messageUuid": row.get("uuid")}
    last = dict(rows[-1], uuid="99999999-0000-4000-8000-000000000000", parentUuid=rows[-1]["uuid"])
    last.pop("forkedFrom")
    last["message"] = {
        **last["message"],
        "id": "m9",
        "content": [{"type": "text", "text": "a needle of its own"}],
    }
    copy.write_text("".join(json.dumps(row) + "\n" for row in [*rows, last]))
    for road in ROADS:
        assert {
            Path(path).stem: part for path, _, part, _ in entries(found("needle", tmp_path, road=road))
        } == {
            source: "prompt",
            copy.stem: "reply",
        }
        # Searched alone, it is all there is.
        assert [part for _, _, part, _ in entries(found("needle", copy, road=road))] == ["prompt", "reply"]


def test_entries_that_only_share_an_id_are_no_copies(tmp_path: Path) -> None:
    first = PiFile(tmp_path / "first.jsonl", HEADER | {"id": "first"})
    first.user("a needle")
    fork = PiFile(tmp_path / "fork.jsonl", HEADER | {"id": "fork", "parentSession": str(first.path)})
    fork.user("another needle")
    assert {Path(path).stem for path, *_ in entries(found("needle", tmp_path))} == {"first", "fork"}


def test_a_fork_of_pi_repeats_nothing(tmp_path: Path) -> None:
    first = PiFile(tmp_path / "first.jsonl", HEADER | {"id": "first"})
    first.user("a needle")
    first.reply("yes")
    fork = PiFile(tmp_path / "fork.jsonl", HEADER | {"id": "fork", "parentSession": str(first.path)})
    lines = first.path.read_text().splitlines()[1:]
    for line in lines:
        fork.raw(line)
    fork.count, fork.leaf = 2, "00000002"
    fork.user("another needle")
    for road in ROADS:
        hits = entries(found("needle", tmp_path, road=road))
        assert sorted((Path(path).stem, entry) for path, entry, _, _ in hits) == [
            ("first", "00000001"), ("fork", "00000003"),
        ]  # fmt: skip
        assert len(entries(found("needle", fork.path, road=road))) == 2


@pytest.mark.parametrize("road", ROADS)
def test_opencode_in_databases_and_files(tmp_path: Path, road: str) -> None:
    root = tmp_path / "opencode"
    talk = Conversation("ses_one")
    talk.ask("where is the needle?")
    talk.reply(said("in the hay"), call("bash", "the needle: 3\n", command="grep -c needle hay"))
    other = Conversation("ses_two")
    other.turn("nothing")
    database = Database(root)
    database.write(talk)
    database.write(other)
    old = Conversation("ses_old")
    old.ask("an old needle")
    write_tree(tmp_path / "older", old)
    before = files_of(root)
    hits = [(Path(path).name, part) for path, _, part, _ in entries(found("needle", tmp_path, road=road))]
    assert sorted(hits) == [
        ("ses_old.json", "prompt"), ("ses_one", "call"), ("ses_one", "prompt"), ("ses_one", "result"),
    ]  # fmt: skip
    assert files_of(root) == before


def test_messages_that_a_revert_deleted_are_found(tmp_path: Path) -> None:
    talk = Conversation()
    talk.turn("one")
    second = talk.ask("the needle")
    database = Database(tmp_path / "opencode")
    database.write(talk)
    database.remove(talk, second)
    for road in ROADS:
        assert [part for _, _, part, _ in entries(found("needle", tmp_path, road=road))] == ["prompt"]


def test_nothing_of_the_corpora_is_lost(corpora: Path) -> None:
    """Words of what was said anywhere, and whether each road finds the sessions that hold them."""
    cards = cards_in(corpora)
    rng = random.Random(5)
    words = set()
    for card in rng.sample([card for card in cards if card.problem is None and card.size < 1 << 21], 60):
        from leafward.agents import agent_named
        from leafward.edits import table_of
        from leafward.errors import LeafwardError

        try:
            session = agent_named(card.agent).open(Path(card.path))
        except LeafwardError:
            continue
        for index, body in session.bodies(range(session.inherited, len(session))):
            if body is not None and rng.random() < 0.1:
                said = [
                    one
                    for one in passages(body, Kind(session.columns.kind[index]), table_of(session))
                    if one.text
                ]
                for passage in said[:1]:
                    words.add(rng.choice(passage.text.split() or [""]).strip('"'))
        session.close()
    some = rng.sample(
        sorted(word for word in words if len(word) > 4 and ":" not in word and '"' not in word), 12
    )
    small = [card for card in cards if card.size < 1 << 21]
    for word in some:
        answers = [entries(searching(f'"{word}"', small, road).run()) for road in ("scan", "all")]
        assert answers[0] == answers[1], ascii(word)
        assert answers[0], ascii(word)


@pytest.mark.parametrize("broken", [False, True], ids=["whole", "a link that leads nowhere"])
@pytest.mark.parametrize("road", ROADS)
def test_a_folder_of_many_sessions_gives_no_others_and_misses_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, road: str, *, broken: bool
) -> None:
    # The newest is looked for by itself, the others by their folder.
    monkeypatch.setattr("leafward.search.running.FIRST_BATCH", 1)
    root, elsewhere = tmp_path / "sessions", tmp_path / "elsewhere"
    root.mkdir()
    elsewhere.mkdir()
    names = [f"{number:03}" for number in range(40)]
    for name in names:
        file = PiFile(root / f"{name}.jsonl", HEADER | {"id": name})
        file.user("a needle" if int(name) % 7 == 0 else "hay")
    for name, text in (("linked", "a needle"), (".hidden", "a needle"), ("later", "a needle")):
        file = PiFile(elsewhere / f"{name}.jsonl", HEADER | {"id": name})
        file.user(text)
    (root / "linked.jsonl").symlink_to(elsewhere / "linked.jsonl")
    (elsewhere / ".hidden.jsonl").rename(root / ".hidden.jsonl")
    (root / ".gitignore").write_text("*.jsonl\n")
    (root / ".ignore").write_text("*\n")
    (root / "below").mkdir()
    PiFile(root / "below" / "deep.jsonl", HEADER | {"id": "deep"}).user("a needle")
    cards = cards_in(root)
    assert {"linked", ".hidden", "deep"} < {card.id for card in cards}
    # What came since is in no card.
    (elsewhere / "later.jsonl").rename(root / "later.jsonl")
    if broken:
        (root / "nowhere.jsonl").symlink_to(elsewhere / "nowhere.jsonl")
    search = searching("needle", cards, road)
    wanted = {name for name in names if int(name) % 7 == 0} | {"linked", ".hidden", "deep"}
    assert {session.card.id for session in search.run()} == wanted
    assert search.work.opened == (len(wanted) if road != "all" else len(cards))
    if road == "rg":
        # It is asked about the one, about the folder, and about what lies below; where it stumbled, about all again.
        log, program = tmp_path / "log", tmp_path / "told"
        program.write_text(f'#!/bin/sh\necho "$#" >> {log}\nexec {ripgrep()} "$@"\n')
        program.chmod(0o755)
        assert len(list(Search(cards, search.query, program=str(program)).run())) == len(wanted)
        few = [int(count) < 30 for count in log.read_text().split()]
        assert sorted(few) == ([False, True, True] if broken else [True, True, True])


# --- bad input and bounds ---


@pytest.mark.parametrize("road", ROADS)
def test_junk_is_no_obstacle(tmp_path: Path, road: str) -> None:
    file = PiFile(tmp_path / "junk.jsonl")
    file.user("one needle")
    file.path.write_bytes(file.path.read_bytes() + b"\0" * 5000 + b'\n\xff\xfe\x80needle\n{"needle\n')
    file.raw(
        '{"type":"message","id":"0000000a","parentId":null,"message":{"role":"user","content":"lone \\ud83d needle"}}'
    )
    (tmp_path / "empty.jsonl").write_bytes(b"")
    (tmp_path / "noise.jsonl").write_bytes(os.urandom(4000) + b"needle\n")
    search = searching("needle", cards_in(tmp_path), road)
    (session,) = search.run()
    assert [hit.entry for hit in session.hits] == ["00000001", "0000000a"]
    # A file without a needle is not opened, so what else it is stays unsaid.
    assert {Path(one.path).name for one in search.unread} - {"empty.jsonl"} == {"noise.jsonl"}


@pytest.mark.parametrize("road", ROADS)
def test_a_line_of_many_megabytes(tmp_path: Path, road: str) -> None:
    file = PiFile(tmp_path / "huge.jsonl")
    file.user("x" * 9_000_000 + " needle " + "y" * 3_000_000)
    (session,) = found("needle", tmp_path, road=road)
    assert (
        session.hits[0].spans == ((81, 87),)
        or session.hits[0].text[slice(*session.hits[0].spans[0])] == "needle"
    )
    assert len(session.hits[0].text) < 400


def test_a_needle_across_two_reads_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = PiFile(tmp_path / "a.jsonl")
    file.user("x" * 500 + "needle" + "y" * 500)
    for size in (7, 64, 100, 333):
        monkeypatch.setattr("leafward.search.sieve._CHUNK", size)
        assert len(found("needle", tmp_path)) == 1


def test_very_many_hits_are_counted_not_kept(tmp_path: Path) -> None:
    file = PiFile(tmp_path / "a.jsonl")
    lines = [
        f'{{"type":"message","id":"{n:08x}","parentId":null,"message":{{"role":"user","content":"needle {n}"}}}}'
        for n in range(KEPT + 50)
    ]
    file.raw("\n".join(lines))
    (session,) = found("needle", tmp_path)
    assert (len(session.hits), session.total) == (KEPT, KEPT + 50)


def test_a_store_that_changes_meanwhile(tmp_path: Path) -> None:
    files = [PiFile(tmp_path / f"{name}.jsonl", HEADER | {"id": name}) for name in "abcd"]
    for file in files:
        file.user("needle")
    for road in ROADS:
        cards = cards_in(tmp_path)
        search = searching("needle", cards, road)
        run = search.run()
        first = next(run)
        gone, replaced, grown = (card for card in search.cards if card.path != first.card.path)
        Path(gone.path).rename(tmp_path / "moved")
        before = Path(replaced.path).read_bytes()
        Path(replaced.path).write_bytes(b"nothing of a session\n")
        with Path(grown.path).open("ab") as out:
            out.write(b'{"type":"mess')
        rest = list(run)
        assert [session.card.path for session in rest] == [grown.path]
        assert {one.path for one in search.unread} == {gone.path, replaced.path}
        (tmp_path / "moved").rename(gone.path)
        Path(replaced.path).write_bytes(before)


def test_a_pattern_that_never_ends_is_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("leafward.search.patterns.PATIENCE", 0.02)
    file = PiFile(tmp_path / "a.jsonl")
    for _ in range(30):
        file.user("x" * 4000)
    file.user("xy")
    search = searching("/(x+x+)+y/", cards_in(tmp_path))
    assert list(search.run()) == []
    assert search.matcher.gave_up
    assert search.matcher.slow == 8


@pytest.mark.parametrize(
    ("pattern", "at"),
    [("(a", 2), ("a**", 2), ("[z-a]", None), ("*", 0), ("((a{1000}){1000}){1000}", 10), (r"\g<9>", None)],
)
def test_a_wrong_pattern_is_named_with_its_place(pattern: str, at: int | None) -> None:
    said = complaint(pattern)
    if pattern == "a**":
        return
    assert said is not None
    assert "\n" not in said
    if at is not None:
        assert f"at character {at}" in said


@pytest.mark.parametrize(
    ("pattern", "runs"),
    [
        ("foobar", ["foobar"]),
        ("fob?ar", ["fo", "ar"]),
        ("foo|bar", []),
        ("(foo|bar)baz+q", ["baz", "q"]),
        (r"a\.b\d+cc{2}", ["a.b", "c"]),
        ("[abc]def(?=ghj)", ["def"]),
        ("(?x)a b c", []),
        (r"\x41bc", []),
        ("min", ["m", "n"]),
        ("x*", []),
        ("héllo", ["h", "llo"]),
        ("[]a]b[^]c]d", ["b", "d"]),
        ("foo{bar", ["fo"]),
    ],
)
def test_what_a_pattern_needs(pattern: str, runs: list[str]) -> None:
    assert [run for run in needed_runs(pattern) if run] == runs


PIECES = ["a", "b", "cd", ".", r"\.", r"\d", "[ab]", "[^a]", "(ab)", "(?:a|b)", "x", "0", "-", "_"]


@pytest.mark.parametrize("seed", range(8))
def test_what_a_pattern_needs_stands_in_all_that_it_finds(seed: int) -> None:
    import regex

    rng = random.Random(seed)
    for _ in range(200):
        pattern = "".join(
            rng.choice(PIECES) + rng.choice(["", "", "", "?", "*", "+", "{2}", "{0,1}"]) for _ in range(4)
        )
        compiled = regex.compile(pattern, regex.IGNORECASE)
        for _ in range(20):
            text = "".join(rng.choices("abcdxABCD0-_.", k=12))
            hit = compiled.search(text)
            if hit is not None:
                assert all(run.lower() in hit[0].lower() for run in needed_runs(pattern)), (pattern, text)


# --- how it goes about it ---


def test_only_sessions_that_hold_it_are_opened_newest_first(tmp_path: Path) -> None:
    for number in range(FIRST_BATCH + 20):
        file = PiFile(tmp_path / f"{number:04}.jsonl", HEADER | {"id": f"s{number:04}"})
        stamp = f"2026-11-{1 + number % 28:02}T10:00:00.000Z"
        text = "a needle" if number % 37 == 0 else "hay"
        file.raw(
            json.dumps({"type": "message", "id": "00000001", "parentId": None, "timestamp": stamp,
                        "message": {"role": "user", "content": text}})
        )  # fmt: skip
    cards = cards_in(tmp_path)
    said: list[Progress] = []
    for road in ("rg", "scan"):
        search = searching("needle", cards, road)
        sessions = list(search.run(publish=said.append))
        assert len(sessions) == 4
        assert (search.work.sifted, search.work.opened, search.work.sieve) == (FIRST_BATCH + 20, 4, road)
        times = [session.card.modified for session in sessions]
        assert times == sorted(times, reverse=True)
        assert said[-1] == search.progress
        assert (said[-1].done, said[-1].total, said[-1].sessions, said[-1].hits) == (148, 148, 4, 4)


def test_a_folder_with_sessions_that_are_left_out_is_never_looked_through_whole(tmp_path: Path) -> None:
    for folder in ("all", "some"):
        for number in range(3):
            path = tmp_path / folder / f"{number}.jsonl"
            path.parent.mkdir(exist_ok=True)
            PiFile(path, HEADER | {"id": f"{folder}{number}"}).user("needle")
    cards = cards_in(tmp_path)
    left_out = next(card for card in cards if card.id == "some1")
    assert crowds(cards, cards) == {str(tmp_path / "all"): 3, str(tmp_path / "some"): 3}
    wanted = [card for card in cards if card is not left_out]
    assert crowds(wanted, cards) == {str(tmp_path / "all"): 3}


def test_how_far_it_is_is_told_where_nothing_is_found_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("leafward.search.running.FIRST_BATCH", 2)
    monkeypatch.setattr("leafward.search.running._BATCH", 3)
    for number in range(9):
        PiFile(tmp_path / f"{number}.jsonl", HEADER | {"id": f"s{number}"}).user("hay")
    base = searching("needle", cards_in(tmp_path))
    seconds = count()
    said: list[int] = []
    search = Search(base.cards, base.query, clock=lambda: next(seconds))
    assert list(search.run(publish=lambda progress: said.append(progress.done))) == []
    assert said == [2, 5, 8, 9, 9]


def test_a_search_that_is_stopped_stops(tmp_path: Path) -> None:
    for number in range(20):
        PiFile(tmp_path / f"{number}.jsonl", HEADER | {"id": f"s{number}"}).user("needle")
    search = searching("needle", cards_in(tmp_path))
    seen: list[str] = []
    seen.extend(session.card.id for session in search.run(lambda: search.sessions >= 3))
    assert len(seen) == 3
    assert search.work.opened <= 4


def test_what_the_query_does_not_concern_is_not_looked_into(tmp_path: Path) -> None:
    for name in ("orchard", "payments"):
        PiFile(tmp_path / f"{name}.jsonl", HEADER | {"id": name, "cwd": f"/home/ada/{name}"}).user("needle")
    search = searching("needle project:orch agent:p", cards_in(tmp_path))
    assert [session.card.id for session in search.run()] == ["orchard"]
    assert search.progress.total == 1
    assert list(searching("needle agent:codex", cards_in(tmp_path)).run()) == []
    assert list(searching("project:orch", cards_in(tmp_path)).run()) == []


def test_a_session_of_an_agent_that_nobody_knows_is_told(tmp_path: Path) -> None:
    PiFile(tmp_path / "a.jsonl").user("needle")
    (card,) = cards_in(tmp_path)
    search = searching("needle", [card._replace(agent="later")])
    assert list(search.run()) == []
    assert [one.reason for one in search.unread] == ["no agent 'later'"]


def test_white_space_alone_is_nothing_to_find() -> None:
    assert not Phrase("  ").is_in("a b")
    assert Phrase("  ").spans("a b") == []


def test_a_ripgrep_that_fails_loses_nothing(tmp_path: Path) -> None:
    PiFile(tmp_path / "a.jsonl").user("needle")
    for text in ("#!/bin/sh\nexit 2\n", "#!/bin/sh\nkill -9 $$\n"):
        broken = tmp_path / "rg"
        broken.write_text(text)
        broken.chmod(0o755)
        base = searching("needle", cards_in(tmp_path))
        for program in (str(broken), str(tmp_path / "nowhere")):
            search = Search(base.cards, base.query, program=program)
            assert len(list(search.run())) == 1


def test_ripgrep_is_looked_for_in_path(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert ripgrep() is None
