"""The real opencode, going on in what Leafward forked and it imported, sends what it sent from the source.

Runs where ``LEAFWARD_OPENCODE`` names the program; skipped elsewhere.
"""

from __future__ import annotations

import dataclasses
import shutil
import sqlite3
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from leafward.agents.opencode.entries.parts import REQUEST_TEXT
from leafward.branches.fork import cuts
from leafward.context.message_columns import message_body
from leafward.context.model_context import context_at
from leafward.session.entries import Kind
from tests.opencode_store import opened
from tests.oracle.forked import compacted_beside, differences, fork, in_order, prompts
from tests.oracle.installed_agents import each_opencode, needs_opencode
from tests.oracle.orchard import Tools, planted, script
from tests.oracle.real_agents import Asked, OpenCodeClient
from tests.oracle.scripted_model import Model, Step, scripted
from tests.surroundings import CORPORA, needs_corpora

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from leafward.session.session import Session

NEW = "Continue"

pytestmark = [needs_opencode, each_opencode]


@dataclass(frozen=True, slots=True)
class Yard:
    """A project, a home and a model for one test."""

    client: OpenCodeClient
    project: Path
    model: Model

    def opened(self, session: str) -> Session:
        return opened(self.client.database / session)

    def forked(self, session: Session, entry: int, cwd: Path | None = None) -> Any:
        """A fork, imported by the command of its draft."""
        made = fork(
            session,
            entry,
            self.client.environment(self.project),
            to="opencode",
            source="opencode",
            cwd=str(cwd or ""),
        )
        self.imported(made)
        return made

    def imported(self, made: Any) -> None:
        assert made.draft.imported is not None
        command = made.draft.imported.command
        ran = self.client.run(Path(command.cwd), *command.argv[1:])
        assert ran.returncode == 0, ran.stderr

    def resumed(self, made: Any, prompt: str) -> Asked:
        """Request of a fork for a prompt, resumed as its draft says."""
        name, *argv = made.draft.resume.argv
        assert name == "opencode"
        return self.client.ask(Path(made.draft.resume.cwd), prompt, *argv)

    def prompted(self, post: Callable[..., Any], session: str, prompt: str) -> dict[str, Any]:
        """The first request for a prompt in a session, through the server."""
        since = len(self.model.requests)
        post(f"/session/{session}/message", {"parts": [{"type": "text", "text": prompt}]})
        return self.model.main(since)[0]


@pytest.fixture
def yard(program: str, tmp_path: Path) -> Iterator[Yard]:
    project, home = repository(tmp_path / "orchard"), tmp_path / "home"
    home.mkdir()
    with scripted({**SUMMARY, **script(project, TOOLS)}) as model:
        yield Yard(OpenCodeClient(program, home, model), project, model)


TOOLS = Tools(
    lambda path: ("read", {"filePath": path}),
    lambda path, text: ("write", {"filePath": path, "content": text}),
    ("bash", {"command": "ls nowhere", "description": "look"}),
)
SUMMARY = {"summary": [Step("## Goal\n- Fruit was compared.")]}


def repository(folder: Path) -> Path:
    """A project as opencode knows them."""
    planted(folder)
    who = ("-c", "user.name=Ada", "-c", "user.email=ada@example.org")
    for argv in (("init", "-q"), ("add", "."), (*who, "commit", "-qm", "Fruit")):
        subprocess.run(["git", *argv], cwd=folder, check=True, capture_output=True)
    return folder


def rows_of(path: Path, session: str) -> list[Any]:
    """Everything that the database holds of a session."""
    base = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    try:
        found: list[Any] = base.execute("SELECT * FROM session WHERE id = ?", (session,)).fetchall()
        for table in ("message", "part"):
            found += base.execute(
                f"SELECT * FROM {table} WHERE session_id = ? ORDER BY id", (session,)
            ).fetchall()
        return found
    finally:
        base.close()


def made(yard: Yard, *prompts: str) -> tuple[str, dict[str, Asked]]:
    """A session of the real client with these prompts, one word each, as others are stored in quotes; what was sent for each."""
    session, sent = "", dict[str, Asked]()
    for prompt in prompts:
        asked = yard.client.ask(yard.project, prompt, *(("-s", session) if session else ()))
        session = asked.session or session
        sent[prompt] = asked
    return session, sent


def told(session: Session, at: int) -> list[tuple[str, str]]:
    """Messages of a context in the form of a request: role, and text, calls and ids of results."""
    found = []
    for message in context_at(session, at).messages:
        body = message_body(session, message)
        if message.role == "system":
            continue
        if message.role == "compactionSummary":
            found.append(("assistant", body["summary"]))
            continue
        role = {"assistant": "assistant", "toolResult": "tool"}.get(message.role, "user")
        content = body["content"]
        blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
        text = "".join(block["text"] for block in blocks if block["type"] == "text")
        calls = [block["id"] for block in blocks if block["type"] == "toolCall"]
        found.append((role, " ".join([text, *calls, str(body.get("toolCallId", ""))]).strip()))
    return found


def said(body: dict[str, Any]) -> list[tuple[str, str]]:
    """The same of a request, the last prompt left out."""
    found = []
    for message in body["messages"][:-1]:
        if message["role"] == "system":
            continue
        content = message.get("content") or ""
        text = content if isinstance(content, str) else "".join(part.get("text", "") for part in content)
        calls = [call["id"] for call in message.get("tool_calls", ())]
        found.append((message["role"], " ".join([text, *calls, message.get("tool_call_id", "")]).strip()))
    return found


def test_before_each_prompt_the_fork_sends_what_the_source_sent(yard: Yard) -> None:
    session, sent = made(yard, "Hello", "Compare", "Write", "Thanks", "Goodbye")
    before = rows_of(yard.client.database, session)
    source = yard.opened(session)
    places = prompts(source)
    for prompt, asked in list(sent.items())[1:]:
        new = yard.forked(source, places[prompt])
        assert new.prompt == prompt
        again = yard.resumed(new, prompt).first
        assert differences(again, asked.first) == [], prompt
        assert said(again) == told(source, source.columns.parent[places[prompt]])
        assert rows_of(yard.client.database, session) == before
        copy = yard.opened(new.draft.id)
        kept = {row[0] for row in before}
        assert not kept & {row[0] for row in rows_of(yard.client.database, new.draft.id)}
        assert copy.header["cwd"] == source.cwd


def test_inside_a_turn_behind_all_results(yard: Yard) -> None:
    session, sent = made(yard, "Hello", "Compare")
    source = yard.opened(session)
    last = [index for index, kind in enumerate(source.columns.kind) if kind == Kind.TOOL_RESULT]
    first_three, rest = last[:3], last[3:]
    assert len(rest) == 2
    assert [cuts(source, index)["opencode"].legal for index in first_three] == [False, False, True]
    new = yard.forked(source, first_three[-1])
    again = yard.resumed(new, NEW).first
    assert said(again) == told(source, first_three[-1])
    assert again["messages"][:-1] == sent["Compare"].requests[1]["messages"]


def test_past_a_compaction_and_a_revert(yard: Yard) -> None:
    session, _ = made(yard, "Compare", "Write")
    model = {"providerID": "grove", "modelID": "pear-1"}
    with yard.client.serving(yard.project) as post:
        assert post(f"/session/{session}/summarize", model)
    asked = {prompt: yard.client.ask(yard.project, prompt, "-s", session) for prompt in ("Thanks", "Goodbye")}
    source = yard.opened(session)
    assert Kind.COMPACTION in source.columns.kind
    places = prompts(source)
    for prompt, known in asked.items():
        again = yard.resumed(yard.forked(source, places[prompt]), prompt).first
        assert differences(again, known.first) == [], prompt
        assert said(again) == told(source, source.columns.parent[places[prompt]])
    # Before the compaction the whole conversation is back.
    again = yard.resumed(yard.forked(source, places["Write"]), "Write").first
    assert said(again) == told(source, source.columns.parent[places["Write"]])
    with yard.client.serving(yard.project) as post:
        post(f"/session/{session}/revert", {"messageID": source.columns.id(places["Goodbye"])})
    source = yard.opened(session)
    places = prompts(source)
    at_leaf = yard.resumed(yard.forked(source, source.leaf), "Goodbye").first
    assert differences(at_leaf, asked["Goodbye"].first) == []
    # What the revert hides is there in a fork of it.
    hidden = max(index for index, kind in enumerate(source.columns.kind) if kind == Kind.ASSISTANT)
    assert hidden > places["Goodbye"]
    assert said(yard.resumed(yard.forked(source, hidden), NEW).first) == told(source, hidden)


def test_past_a_compaction_that_failed(yard: Yard) -> None:
    """What is before the tail that it was to keep is sent no more, though there is no summary."""
    yard = dataclasses.replace(yard, client=dataclasses.replace(yard.client, keeps=2_000))
    yard.model.script["Long"] = [Step("Much. " * 600)]
    session, _ = made(yard, "Long1", "Long2", "Long3", "Long4")
    with yard.client.serving(yard.project) as post:
        yard.model.sums_up = False
        post(f"/session/{session}/summarize", {"providerID": "grove", "modelID": "pear-1"})
        yard.model.sums_up = True
        # The next prompt is put behind a second try, and stays unanswered.
        post(f"/session/{session}/message", {"parts": [{"type": "text", "text": "Thanks"}]})
        known = yard.prompted(post, session, "Goodbye")
    source = yard.opened(session)
    assert Kind.COMPACTION not in source.columns.kind
    place = prompts(source)["Goodbye"]
    asked = ("user", REQUEST_TEXT)
    expected = told(source, source.columns.parent[place])
    assert expected.count(asked) == 1
    assert ("user", "Long4") in expected
    assert ("user", "Long1") not in expected
    # opencode moves the request ahead of what it was to keep.
    assert said(known) == [asked, *(one for one in expected if one != asked)]
    again = yard.resumed(yard.forked(source, place), "Goodbye").first
    assert differences(again, known) == []


def test_a_compaction_that_is_kept_beside_a_session_becomes_real(yard: Yard) -> None:
    session, _ = made(yard, "Hello", "Compare", "Thanks")
    before = rows_of(yard.client.database, session)
    source = yard.opened(session)
    expected = compacted_beside(source)
    sent = yard.resumed(yard.forked(source, source.place), NEW).first
    assert in_order(expected, [text for _, text in said(sent)])
    assert rows_of(yard.client.database, session) == before


@pytest.mark.parametrize("plant", [repository, planted], ids=["repository", "folder"])
def test_in_another_folder_the_same_is_said(
    yard: Yard, tmp_path: Path, plant: Callable[[Path], Path]
) -> None:
    session, _ = made(yard, "Hello", "Compare")
    source = yard.opened(session)
    before = rows_of(yard.client.database, session)
    elsewhere = plant(tmp_path / "other-orchard")
    new = yard.forked(source, source.leaf, elsewhere)
    sent = yard.resumed(new, NEW).first
    assert said(sent) == told(source, source.leaf)
    assert str(elsewhere) in str(sent["messages"][0])
    assert yard.opened(new.draft.id).cwd == str(elsewhere)
    assert rows_of(yard.client.database, session) == before


def stored(yard: Yard) -> list[str]:
    """The ids of the stored sessions, in the project of the test."""
    database = yard.client.database
    database.parent.mkdir(parents=True)
    shutil.copy(CORPORA / "opencode" / "v1.18.33" / "opencode" / "opencode.db", database)
    database.chmod(0o600)
    yard.client.ask(yard.project, "Hello")
    base = sqlite3.connect(database)
    with base:
        (project,) = base.execute(
            "SELECT id FROM project WHERE worktree = ?", (str(yard.project),)
        ).fetchone()
        base.execute(
            "UPDATE session SET directory = ?, project_id = ? WHERE directory = '/tmp/demo-project'",
            (str(yard.project), project),
        )
        query = "SELECT id FROM session WHERE parent_id IS NULL AND time_archived IS NULL AND json_extract(model, '$.id') = ?"
        names = [row[0] for row in base.execute(query, ("fake-model",))]
    base.close()
    return names


@needs_corpora
def test_before_an_automatic_compaction_a_fork_is_not_compacted_at_once(yard: Yard) -> None:
    willing = dataclasses.replace(yard, client=dataclasses.replace(yard.client, compacts=True))
    tried = 0
    for name in stored(willing):
        source = willing.opened(name)
        for entry, kind in enumerate(source.columns.kind):
            new = None
            if kind == Kind.ASSISTANT and cuts(source, entry)["opencode"].legal:
                new = fork(
                    source, entry, willing.client.environment(yard.project), to="opencode", source="opencode"
                )
            if new is None or [one.code for one in new.draft.remarks] != ["recounted"]:
                continue
            willing.imported(new)
            assert said(willing.resumed(new, NEW).first) == told(source, entry), name
            tried += 1
    assert tried


@needs_corpora
def test_at_the_leaf_of_a_stored_session_both_send_the_same(yard: Yard) -> None:
    database = yard.client.database
    names = stored(yard)
    # A start takes it longer than all the rest: one server answers for all sessions.
    with yard.client.serving(yard.project) as post:
        for name in names:
            source = yard.opened(name)
            before = rows_of(database, name)
            new = yard.forked(source, source.leaf)
            forked = yard.prompted(post, new.draft.id, NEW)
            assert rows_of(database, name) == before
            known = yard.prompted(post, name, NEW)
            assert differences(forked, known) == [], name
    assert len(names) == 16
