"""The search of all text: every road finds the same, however a text is stored and whatever lies beside it."""

from __future__ import annotations

import json
import os
import random
import unicodedata
from pathlib import Path
from shlex import quote
from threading import Barrier, get_ident
from typing import TYPE_CHECKING, Any

import pytest
import regex

from leafward.agents.registry import agent_named
from leafward.base.errors import LeafwardError
from leafward.files.tool_calls import table_of
from leafward.query.passages import passages
from leafward.query.search import corpus as corpus_module
from leafward.query.search.case_folding import folded
from leafward.query.search.corpus import Corpus
from leafward.query.search.literals import needle
from leafward.query.search.prefilter import Prefilter, Sweep, ripgrep
from leafward.query.search.text_search import TextSearch
from leafward.query.search.typed_query import parse
from leafward.session.entries import Kind
from tests.pi_file import HEADER, PiFile
from tests.searched import ROADS, cards_in, entries, found, searching
from tests.surroundings import THOROUGH

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable


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


@pytest.mark.parametrize("seed", range(12 if THOROUGH else 4))
def test_all_roads_find_the_same_in_random_texts(tmp_path: Path, seed: int) -> None:
    rng = random.Random(seed)
    texts: list[str] = []
    # So many that ripgrep is given their folder.
    for number in range(10):
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
    assert found.pattern.startswith(b"(?i:%s)|" % looked_for.encode())
    assert found.held_by(b'{"type":"message","text":"a %s"}' % word.upper().encode())
    assert not found.held_by(b'{"type":"custom","text":"toolCall"}') or word == "type"


@pytest.mark.parametrize(
    ("word", "looked_for"),
    [
        # The pair that the sample has least often, where enough of the word stands behind it.
        ("lighthouse", rb"(?:GH|Gh|gH|gh)(?i:thouse)|"),
        ("kiwi2go.now", rb"(?:2G|2g)(?i:o\.now)|"),
        # None is rare enough.
        ("configuration", rb"(?i:onfiguration)|"),
        ("light", rb"(?i:light)|"),
    ],
)
def test_ripgrep_begins_with_two_letters_that_are_rare(word: str, looked_for: bytes) -> None:
    sample = b"Configuration, LI, ig, ht, kiwi2, .now" * 40
    found = needle([word])
    assert found is not None
    assert found.pattern_in(sample).startswith(looked_for)
    search = regex.compile(found.pattern_in(sample)).search
    for stored in (word, word.upper(), word.title(), f"\\u00{ord(word[0]):02x}{word[1:]}"):
        assert search(b'"text":"a %s"' % stored.encode()) is not None
    assert search(b'"text":"another one"') is None


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


def test_nothing_of_the_corpora_is_lost(corpora: Path) -> None:
    """Words of what was said anywhere, and whether each road finds the sessions that hold them."""
    cards = cards_in(corpora)
    rng = random.Random(5)
    words = set()
    for card in rng.sample(
        [card for card in cards if card.problem is None and card.size < 1 << 21], 60 if THOROUGH else 20
    ):
        try:
            session = agent_named(card.agent).open(Path(card.path))
        except LeafwardError:
            continue
        for index, body in session.bodies(range(session.inherited, len(session))):
            if body is not None and rng.random() < 0.2:
                said = [
                    one
                    for one in passages(body, Kind(session.columns.kind[index]), table_of(session))
                    if one.text
                ]
                for passage in said[:1]:
                    words.add(rng.choice(passage.text.split() or [""]).strip('"'))
        session.close()
    some = rng.sample(
        sorted(word for word in words if len(word) > 4 and ":" not in word and '"' not in word),
        12 if THOROUGH else 2,
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
    monkeypatch.setattr("leafward.query.search.corpus.NEWEST", 1)
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
        # It is asked about the folder and about what lies below; where it stumbled, about all again. The newest is scanned.
        log, program = tmp_path / "log", tmp_path / "told"
        program.write_text(f'#!/bin/sh\necho "$#" >> {quote(str(log))}\nexec {ripgrep()} "$@"\n')
        program.chmod(0o755)
        assert len(list(TextSearch(search.corpus, search.query, program=str(program)).run())) == len(wanted)
        few = [int(count) < 30 for count in log.read_text().split()]
        assert sorted(few) == ([False, True] if broken else [True, True])


def test_all_folders_are_begun_before_anything_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ripgrep waits neither for the order of the sessions nor for their files to be named one by one."""
    monkeypatch.setattr("leafward.query.search.corpus.NEWEST", 2)
    for number in range(40):
        folder = tmp_path / str(number % 2)
        folder.mkdir(exist_ok=True)
        PiFile(folder / f"{number}.jsonl", HEADER | {"id": str(number)}).user(
            "a needle" if number == 9 else "hay"
        )
    search = searching("needle", cards_in(tmp_path), "rg")
    begun: list[tuple[bool, tuple[str, ...]]] = []
    looked_at: list[int] = []
    started, left_of = Prefilter._started, Sweep.left_of

    def counted(self: Prefilter, options: tuple[str, ...], pattern: bytes, paths: list[bytes]) -> object:
        if paths:
            begun.append(("in_order" in vars(search.corpus), tuple(map(os.fsdecode, paths))))
        return started(self, options, pattern, paths)

    def noted(self: Sweep, files: list[str]) -> list[str]:
        looked_at.append(len(files))
        return left_of(self, files)

    monkeypatch.setattr(Prefilter, "_started", counted)
    monkeypatch.setattr(Sweep, "left_of", noted)
    assert [session.card.id for session in search.run()] == ["9"]
    assert (begun[0][0], set(begun[0][1])) == (False, {str(tmp_path / "0"), str(tmp_path / "1")})
    # The two newest are scanned: it is not started again for them, nor are all put in order for one that passes.
    assert [len(paths) for _, paths in begun] == [2]
    assert looked_at == [0]
    assert "in_order" not in vars(search.corpus)


def test_what_searches_need_of_their_sessions_is_worked_out_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who types searches the same sessions at every pause, and ripgrep waits for what is worked out before it."""
    for number in range(12):
        PiFile(tmp_path / f"{number}.jsonl", HEADER | {"id": str(number)}).user(f"a needle {number}")
    corpus = Corpus(cards_in(tmp_path))
    if ripgrep() is None:
        pytest.skip("ripgrep is not installed")
    worked_out: list[str] = []
    for name in ("folders_of", "nlargest"):
        own = getattr(corpus_module, name)

        def counted(*told: Any, name: str = name, own: Any = own) -> Any:
            worked_out.append(name)
            return own(*told)

        monkeypatch.setattr(corpus_module, name, counted)
    for text in ("needle", "need", "needle 7"):
        assert list(TextSearch(corpus, parse(text, 0, whole=True), program=ripgrep()).run())
    assert sorted(worked_out) == ["folders_of", "nlargest"]


@pytest.mark.parametrize(
    ("little", "share", "first"),
    [
        # At most so many bytes, or so much of all; one at least. What is more than a little is left to ripgrep.
        (1 << 20, 1, 4),
        (600, 1 << 20, 2),
        (1, 20, 1),
        (1, 3, 3),
    ],
)
def test_few_sessions_are_looked_through_twice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, little: int, share: int, first: int
) -> None:
    monkeypatch.setattr("leafward.query.search.corpus.NEWEST", 4)
    monkeypatch.setattr("leafward.query.search.text_search._LITTLE", little)
    monkeypatch.setattr("leafward.query.search.text_search._SHARE", share)
    for number in range(10):
        PiFile(tmp_path / f"{number}.jsonl", HEADER | {"id": str(number)}).user("hay")
    cards = cards_in(tmp_path)
    assert {250 < card.size < 300 for card in cards} == {True}
    search = searching("needle", cards, "rg")
    named: list[int] = []
    started = Prefilter._started

    def counted(self: Prefilter, options: tuple[str, ...], pattern: bytes, paths: list[bytes]) -> object:
        if paths:
            named.append(0 if options else len(paths))
        return started(self, options, pattern, paths)

    monkeypatch.setattr(Prefilter, "_started", counted)
    assert [len(batch) for batch in search._batches()] == [first, 10 - first]
    assert list(search.run()) == []
    assert named == ([0] if sum(card.size for card in cards[:first]) <= little else [0, first])


@pytest.mark.parametrize("fails", ["before the batch", "while it is sifted"])
def test_a_search_that_fails_leaves_no_ripgrep_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fails: str
) -> None:
    for number in range(10):
        PiFile(tmp_path / f"{number}.jsonl", HEADER | {"id": str(number)}).user("a needle")
    program = tmp_path / "slow"
    program.write_text("#!/bin/sh\nexec sleep 60\n")
    program.chmod(0o755)
    search = searching("needle", cards_in(tmp_path), "scan")
    search = TextSearch(search.corpus, search.query, program=str(program))
    begun: list[subprocess.Popen[bytes]] = []
    started = Prefilter._started

    def noted(self: Prefilter, *told: Any) -> subprocess.Popen[bytes] | None:
        process = started(self, *told)
        if process is not None:
            begun.append(process)
        return process

    def failing(*_: object) -> Any:
        raise RuntimeError

    monkeypatch.setattr(Prefilter, "_started", noted)
    stop: Callable[[], bool] = failing
    if fails == "before the batch":
        monkeypatch.setattr(TextSearch, "_batches", failing)
        stop = bool
    with pytest.raises(RuntimeError):
        list(search.run(stop))
    assert begun
    for process in begun:
        assert process.returncode is not None
        assert process.stdout is not None
        assert process.stdout.closed


def test_files_named_singly_are_asked_for_the_needle_as_it_is(tmp_path: Path) -> None:
    """Which letters are rare in the folders that ripgrep goes through says nothing of them."""
    folder, below = tmp_path / "folder", tmp_path / "folder" / "below"
    below.mkdir(parents=True)
    for number in range(10):
        PiFile(folder / f"{number}.jsonl", HEADER | {"id": str(number)}).user("hay")
    PiFile(below / "one.jsonl", HEADER | {"id": "one"}).user("hay")
    log, program = tmp_path / "log", tmp_path / "rg"
    program.write_text(
        f'#!/bin/sh\nwhile [ "$1" != --regexp ]; do shift; done\nprintf "%s\\n" "$2" >> {quote(str(log))}\nexit 1\n'
    )
    program.chmod(0o755)
    cards = cards_in(folder)
    wanted = needle(["needlework"])
    assert wanted is not None
    found = list(Prefilter(wanted, str(program), Corpus(cards)).passing(cards, bool))
    folders, files = log.read_bytes().splitlines()
    assert (found, files) == ([], wanted.pattern)
    assert folders != files


def test_without_ripgrep_two_threads_look_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("leafward.query.search.corpus.NEWEST", 1)
    for number in range(4):
        PiFile(tmp_path / f"{number}.jsonl", HEADER | {"id": str(number)}).user("a needle")
    both, holds, met = Barrier(2, timeout=60), Prefilter._holds, set[int]()

    def together(self: Prefilter, file: str, stop: Callable[[], bool]) -> bool:
        """The first file of each thread waits until the other thread has one."""
        if get_ident() not in met:
            met.add(get_ident())
            both.wait()
        return holds(self, file, stop)

    monkeypatch.setattr(Prefilter, "_holds", together)
    assert len(list(searching("needle", cards_in(tmp_path), "scan").run())) == 4
    assert len(met) == 2


@pytest.mark.parametrize("largest", [16, 1 << 14], ids=["in batches", "at once"])
@pytest.mark.parametrize("road", ROADS)
def test_more_sessions_than_are_looked_through_together(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, road: str, largest: int
) -> None:
    monkeypatch.setattr("leafward.query.search.corpus.NEWEST", 2)
    monkeypatch.setattr("leafward.query.search.text_search._LARGEST_BATCH", largest)
    for number in range(60):
        folder = tmp_path / str(number % 3)
        folder.mkdir(exist_ok=True)
        path = PiFile(folder / f"{number}.jsonl", HEADER | {"id": str(number)})
        path.user("a needle" if number % 7 == 0 else "hay")
    search = searching("needle", cards_in(tmp_path), road)
    found = [session.card for session in search.run()]
    assert {card.id for card in found} == {str(number) for number in range(0, 60, 7)}
    assert found == [card for card in search.corpus.in_order if card in found]
    assert search.progress.done == search.progress.total == 60
    assert search.work.opened == (len(found) if road != "all" else 60)


def test_a_folder_with_sessions_that_are_left_out_is_never_looked_through_whole(tmp_path: Path) -> None:
    for folder in ("all", "some"):
        for number in range(3):
            path = tmp_path / folder / f"{number}.jsonl"
            path.parent.mkdir(exist_ok=True)
            PiFile(path, HEADER | {"id": f"{folder}{number}"}).user("needle")
    cards = cards_in(tmp_path)
    left_out = next(card for card in cards if card.id == "some1")
    assert Corpus(cards).crowds == {str(tmp_path / "all"): 3, str(tmp_path / "some"): 3}
    wanted = [card for card in cards if card is not left_out]
    assert Corpus(wanted, cards).crowds == {str(tmp_path / "all"): 3}
