"""The real Claude Code, resuming what Leafward forked, sends what it sent from the source.

Runs where ``LEAFWARD_CLAUDE`` names the program, or several with colons between them; skipped elsewhere.
"""

from __future__ import annotations

import json
import re
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from leafward.branches.fork import cuts
from leafward.context.model_context import context_at
from leafward.session.entries import Kind
from tests.claude_transcript import Pieces, joined, opened, pieces_of, pieces_sent
from tests.oracle.forked import compacted_beside, differences, fork, in_order, prompts, seal
from tests.oracle.installed_agents import each_claude, needs_claude
from tests.oracle.orchard import Tools, planted, script
from tests.oracle.real_agents import AgentFailed, Asked, ClaudeClient
from tests.oracle.scripted_model import Model, Step, scripted
from tests.surroundings import CORPORA, THOROUGH, needs_corpora

if TYPE_CHECKING:
    from collections.abc import Iterator

    from leafward.branches.fork import Fork
    from leafward.session.session import Session

NEW = "And what comes after that?"

pytestmark = [needs_claude, each_claude]


@dataclass(frozen=True, slots=True)
class Yard:
    """A project, a home and a model for one test."""

    client: ClaudeClient
    project: Path
    model: Model

    @property
    def folder(self) -> Path:
        """Where the transcripts of the project lie."""
        return self.client.config / "projects" / re.sub(r"[^A-Za-z0-9]", "-", str(self.project))

    def opened(self, session: str) -> Session:
        return opened(self.folder / f"{session}.jsonl")

    def forked(self, session: Session, entry: int, *, injected: str = "", cwd: Path | None = None) -> Fork:
        """A fork, written where the client looks for it."""
        env = self.client.environment()
        return fork(session, entry, env, to="claude", source="claude", injected=injected, cwd=str(cwd or ""))

    def resumed(self, made: Fork, prompt: str) -> Asked:
        """Request of a fork for a prompt, resumed as its draft says."""
        resume = made.draft.resume
        assert resume.argv[0] == "claude"
        return self.client.ask(Path(resume.cwd), prompt, *resume.argv[1:])


@pytest.fixture
def yard(program: str, tmp_path: Path) -> Iterator[Yard]:
    project, home = planted(tmp_path / "orchard"), tmp_path / "home"
    home.mkdir()
    with scripted({**HELPER, **script(project, TOOLS), **SUMMARY}) as model:
        yield Yard(ClaudeClient(program, home, model, home / ".claude"), project, model)


TOOLS = Tools(
    lambda path: ("Read", {"file_path": path}),
    lambda path, text: ("Write", {"file_path": path, "content": text}),
    ("Bash", {"command": "ls nowhere", "description": "look"}),
)
_AGENT = {"description": "look", "prompt": "HELPER: count the files", "subagent_type": "general-purpose"}
HELPER = {
    "HELPER": [Step("", (("Bash", {"command": "ls", "description": "list"}),)), Step("Three files.")],
    "Ask a helper": [Step("I send one.", (("Agent", _AGENT),)), Step("The helper says three.")],
}
SUMMARY = {
    "detailed summary": [Step("<analysis>long</analysis>\n<summary>\n1. Fruit was compared.\n</summary>")]
}


def made(yard: Yard, *said: str) -> tuple[str, dict[str, Asked]]:
    """A session of the real client with these prompts; what was sent for each."""
    session, sent = "", dict[str, Asked]()
    for prompt in said:
        resume = ("--resume", session) if session else ()
        command = prompt.startswith("/")
        asked = yard.client.ask(yard.project, prompt, *resume, fails=command)
        session = asked.session or session
        if not command:
            sent[prompt] = asked
    return session, sent


SESSIONS = {
    "plain": ("Hello there", "Compare the fruit", "Write the list down", "Thank you"),
    "helper": ("Ask a helper for it", "Compare the fruit", "Thank you"),
    "compacted": (
        "Compare the fruit",
        "Write the list down",
        "/compact",
        "Thank you",
        "Ask a helper for it",
        "/compact",
        "Hello there",
        "Good night",
    ),
}


@pytest.mark.parametrize("name", SESSIONS)
def test_before_each_prompt_the_fork_sends_what_the_source_sent(yard: Yard, name: str) -> None:
    session, sent = made(yard, *SESSIONS[name])
    source = yard.folder / f"{session}.jsonl"
    before = seal(source)
    opened_source = yard.opened(session)
    places = prompts(opened_source)
    assert sent.keys() <= places.keys()
    for prompt, asked in list(sent.items())[1:]:
        new = yard.forked(opened_source, places[prompt])
        assert new.prompt == prompt
        again = yard.resumed(new, prompt)
        assert differences(attachments_sorted(again.first), attachments_sorted(asked.first)) == [], prompt
        assert seal(source) == before


_ATTACHED = re.compile(r"\n\n(?=Called the Read tool|Available agent types)")


def attachments_sorted(body: dict[str, Any]) -> dict[str, Any]:
    """A request with what a compaction brings back in one order.

    Seen of Claude Code 2.1.197: it gives it times that may differ by a millisecond either way, and sends it in the order of these
    once, as it hangs together another time.
    """
    return body | {"messages": [_sorted(message) for message in body["messages"]]}


def _sorted(message: dict[str, Any]) -> dict[str, Any]:
    said = message["content"]
    if message["role"] != "system" or not isinstance(said, str):
        return message
    return message | {"content": "\n\n".join(sorted(_ATTACHED.split(said)))}


def pieces(body: dict[str, Any]) -> Pieces:
    """Texts of a request, in the form in which contexts are compared."""
    return joined(pieces_sent(body["messages"]))


SpanMessage = list[tuple[str, list[str]]]


def told(session: Session, at: int) -> SpanMessage:
    """Texts of a context that Leafward shows, without attachments: their place depends on the day and the model."""
    messages = [one for one in context_at(session, at).messages if one.sent]
    shown = [one for one in messages if not any(session.hoisted[one.entry : one.entry + 1])]
    together: SpanMessage = []
    for side, text in pieces_of(session, shown):
        text = re.sub(r"\s+", "", text) if side in ("user", "assistant") else text
        if side == "assistant" and not text:
            # A blank block is not sent.
            continue
        if together and together[-1][0] == side and side in ("user", "assistant"):
            together[-1][1].append(text)
        else:
            together.append((side, [text]))
    return together


def assert_context(session: Session, at: int, body: dict[str, Any]) -> None:
    """A request says what a context says, in its order, and behind it nothing but the new prompt."""
    ours, sent = told(session, at), pieces(body)
    sides = [side for side, _ in ours]
    assert [side for side, _ in sent] == (sides if sides[-1] == "user" else [*sides, "user"])
    for (side, texts), (_, theirs) in zip(ours, sent, strict=False):
        if side == "user":
            # The client puts its reminders between them.
            assert all(text in theirs for text in texts)
        else:
            assert "".join(texts) == theirs


REWOUND = ("Hello there", "Compare the fruit", "Write the list down")


def rewound(yard: Yard) -> str:
    """A session whose last two turns were taken back, and that went on from the first in the same file."""
    session, _ = made(yard, *REWOUND)
    source = yard.opened(session)
    first = prompts(source)["Compare the fruit"]
    rows = [json.loads(line) for line in source.path.read_text("utf-8").splitlines()]
    reply = next(row["uuid"] for row in rows if row["type"] == "assistant")
    assert source.columns.kind[source.tree.content_at(source.columns.parent[first])] == Kind.ASSISTANT
    back = ("--resume", session, "--resume-session-at", reply)
    assert yard.client.ask(yard.project, "Compare the fruit again", *back).session == session
    yard.client.ask(yard.project, "Thank you", "--resume", session)
    return session


@pytest.mark.parametrize("name", [*SESSIONS, "rewound"])
def test_what_is_sent_is_the_context_that_leafward_shows(yard: Yard, name: str) -> None:
    session = rewound(yard) if name == "rewound" else made(yard, *SESSIONS[name])[0]
    source = yard.opened(session)
    for prompt, index in list(prompts(source).items())[1:]:
        new = yard.forked(source, index)
        copy = opened(new.draft.path)
        at = source.columns.parent[index]
        assert told(copy, copy.leaf) == told(source, at)
        assert_context(source, at, yard.resumed(new, prompt).first)


def test_each_branch_of_a_rewound_session_is_sent_as_it_was(yard: Yard) -> None:
    session = rewound(yard)
    source = yard.opened(session)
    before = seal(source.path)
    places = prompts(source)
    assert len(source.tree.branch_points()) == 1
    for prompt in ("Compare the fruit", "Write the list down", "Compare the fruit again", "Thank you"):
        new = yard.forked(source, places[prompt])
        sent = yard.resumed(new, prompt).first
        first = next(body for body in yard.model.main() if last_prompt(body) == prompt)
        assert first is not sent
        assert differences(sent, first) == [], prompt
    assert seal(source.path) == before


def last_prompt(body: dict[str, Any]) -> str:
    """The last text of the last message that a user sent."""
    message = next(message for message in reversed(body["messages"]) if message["role"] == "user")
    content = message["content"]
    return content if isinstance(content, str) else str(content[-1].get("text"))


def test_what_is_put_in_goes_with_the_next_prompt_and_nobody_answers_it(yard: Yard) -> None:
    session, _ = made(yard, *SESSIONS["plain"])
    source = yard.opened(session)
    new = yard.forked(source, source.place, injected="Mind the pears.")
    sent = pieces(yard.resumed(new, NEW).first)
    assert [side for side, _ in sent] == [*(side for side, _ in told(source, source.place)), "user"]
    assert "Mindthepears." in sent[-1][1]


def test_in_another_folder_the_same_is_said(yard: Yard, tmp_path: Path) -> None:
    session, _ = made(yard, *SESSIONS["plain"])
    source = yard.opened(session)
    before = seal(source.path)
    elsewhere = planted(tmp_path / "other orchard")
    new = yard.forked(source, source.place, cwd=elsewhere)
    asked = yard.resumed(new, NEW)
    assert_context(source, source.place, asked.first)
    assert str(elsewhere) in str(asked.first)
    assert seal(source.path) == before
    copy = opened(new.draft.path)
    assert copy.cwd == str(elsewhere), "Claude Code went on in the file that was written, and there"
    assert any(NEW in prompt for prompt in prompts(copy))


def test_a_compaction_that_is_kept_beside_a_session_becomes_real(yard: Yard) -> None:
    session, _ = made(yard, *SESSIONS["plain"])
    source = yard.opened(session)
    before = seal(source.path)
    expected = compacted_beside(source)
    new = yard.forked(source, source.place)
    found = [text for _, text in pieces(yard.resumed(new, NEW).first)]
    assert in_order([*expected, NEW], found)
    assert not any("Hello there" in text for text in found[1:])
    assert seal(source.path) == before


def test_a_fork_sends_what_lies_before_a_lost_row_and_the_agent_does_not(yard: Yard) -> None:
    session, _ = made(yard, "Hello there", "Thank you", "Compare the fruit")
    path = yard.folder / f"{session}.jsonl"
    rows = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    lost = next(at for at, row in enumerate(rows) if "Thank you" in str(row.get("message")))
    for row in rows[lost:]:
        # Within five seconds the agent finds the row before it by its time.
        row.update({"timestamp": "2030-01-01T00:00:00.000Z"} if "timestamp" in row else {})
    path.write_text("".join(json.dumps(row) + "\n" for row in [*rows[:lost], *rows[lost + 1 :]]), "utf-8")
    source = yard.opened(session)
    assert "gap" in [note.code for note in source.source.notes]
    new = yard.forked(source, source.place)
    assert "Hello there" in json.dumps(yard.resumed(new, NEW).first["messages"])
    left = yard.client.ask(yard.project, NEW, "--resume", session).first["messages"]
    assert "Hello there" not in json.dumps(left)


# --- stored sessions ---


def stored(version: str) -> list[Path]:
    folder = CORPORA / "claude" / version / ".claude" / "projects"
    return sorted(
        path
        for path in folder.glob("*/*.jsonl")
        if not path.name.startswith("agent-") and path.stat().st_size
    )


@needs_corpora
@pytest.mark.parametrize(("version", "count"), [("v2.0.65", 10), ("v2.1.330", 14)])
def test_at_the_leaf_of_a_stored_session_both_send_the_same(yard: Yard, version: str, count: int) -> None:
    yard.folder.mkdir(parents=True)
    compared = unreadable = 0
    for path in stored(version):
        copy = Path(shutil.copy(path, yard.folder / path.name))
        copy.chmod(0o600)
        source = opened(copy)
        if source.place < 0 or not cuts(source, source.place)["claude"].legal:
            continue
        before = seal(copy)
        # It was made in a folder that is not here.
        new = yard.forked(source, source.place, cwd=yard.project)
        try:
            forked = yard.resumed(new, NEW)
        except AgentFailed:
            # Written by a newer version, which this one cannot read.
            with pytest.raises(AgentFailed):
                yard.client.ask(yard.project, NEW, "--resume", path.stem)
            unreadable += 1
            continue
        assert seal(copy) == before
        known = yard.client.ask(yard.project, NEW, "--resume", path.stem)
        assert differences(forked.first, known.first) == [], path.name
        compared += 1
    assert compared + unreadable == count
    assert not unreadable or yard.client.version() < version.removeprefix("v")


AROUND = 8
"""Entries above and below a compaction of which each is tried as an end; of the others every `APART`-th."""
APART = 1 if THOROUGH else 24
MADE_UP = "Noresponserequested."
"""The reply that Claude Code puts in, without its spaces."""
WITH_COMPACTIONS = [
    *("v2.0.65/0977d252", "v2.0.65/46bd280c", "v2.0.65/4fced97c"),
    *("v2.1.330/67ca6781", "v2.1.330/1dd894bd", "v2.1.330/7c64f94e", "v2.1.330/d379888c"),
    *(f"real/{path.stem}" for path in sorted((CORPORA / "real" / "claude").glob("*.jsonl"))),
]


def with_compactions(name: str) -> Path:
    folder, _, stem = name.partition("/")
    root = CORPORA / "real" / "claude" if folder == "real" else CORPORA / "claude" / folder
    return next(root.rglob(f"{stem}*.jsonl"))


def numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"[0-9]+", version))


@needs_corpora
@pytest.mark.parametrize("name", WITH_COMPACTIONS)
def test_at_every_end_around_a_compaction_what_is_sent_is_the_context(yard: Yard, name: str) -> None:
    path = with_compactions(name)
    yard.folder.mkdir(parents=True)
    copy = Path(shutil.copy(path, yard.folder / path.name))
    copy.chmod(0o600)
    source = opened(copy)
    version = yard.client.version()
    if numbers(str(source.header.get("agentVersion"))) > numbers(version):
        pytest.skip("written by a newer version, which this one cannot read")
    kinds = source.columns.kind
    near = {
        entry
        for place, kind in enumerate(kinds)
        if kind == Kind.COMPACTION
        for entry in range(place - AROUND, place + AROUND + 1)
    }
    tried, wrong = 0, list[str]()
    for entry in range(len(source)):
        if entry not in near and entry % APART:
            continue
        cut = cuts(source, entry)["claude"]
        if not cut.legal:
            continue
        new = yard.forked(source, entry, cwd=yard.project)
        sent = yard.resumed(new, NEW).first
        tried += 1
        told_of = [remark.text for remark in new.draft.remarks if remark.code == "notice"]
        # A source may hold one itself.
        adds = (MADE_UP in [text for _, text in pieces(sent)[-2:]]) > ([MADE_UP] in told(source, cut.end)[-1])
        if told_of and "does not" not in told_of[0] and not adds:
            wrong.append(f"{entry}: it was said that a reply is put in")
        elif adds and not told_of:
            wrong.append(f"{entry}: a reply was put in")
        elif not adds and numbers(version) >= (2, 1, 330):
            try:
                assert_context(source, cut.end, sent)
            except AssertionError:
                wrong.append(f"{entry}: another context")
        new.draft.path.unlink()
    assert tried
    assert wrong == []
