"""The newer engine of the real opencode, behind `/api` of its server: what it sends is what our context of its session says.

Runs where ``LEAFWARD_OPENCODE`` names the program (1.18.33 was used); skipped elsewhere.
"""

from __future__ import annotations

import html
import json
import sqlite3
import time
from typing import TYPE_CHECKING, Any

import pytest

from leafward.agents.opencode.entries.parts import REQUEST_TEXT
from leafward.base.errors import Refused
from leafward.context.message_columns import message_body
from leafward.context.model_context import context_at
from leafward.session.entries import Kind
from leafward.session.messages import message_text
from tests.opencode_store import OPENCODE, opened
from tests.oracle.forked import fork
from tests.oracle.installed_agents import each_opencode, needs_opencode
from tests.oracle.real_agents import LIMIT, OpenCodeClient
from tests.oracle.scripted_model import Step, scripted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from leafward.session.session import Session


pytestmark = [needs_opencode, each_opencode]


class NewerClient(OpenCodeClient):
    """opencode as the newer engine needs it: models from a file, a key from the environment."""

    def environment(self, folder: Path) -> dict[str, str]:
        found = super().environment(folder)
        del found["OPENCODE_CONFIG_CONTENT"]
        path = self.home / "models.json"
        path.write_text(json.dumps({"grove": self._provider()}), encoding="utf-8")
        return {**found, "OPENCODE_MODELS_PATH": str(path), "GROVE_API_KEY": "none"}

    def _provider(self) -> dict[str, Any]:
        model = {
            "id": "pear-1",
            "name": "Pear",
            "release_date": "2026-01-01",
            "last_updated": "2026-01-01",
            "attachment": False,
            "reasoning": False,
            "temperature": True,
            "tool_call": True,
            "open_weights": False,
            "modalities": {"input": ["text"], "output": ["text"]},
            "cost": {"input": 1, "output": 2},
            "limit": {"context": 36_000, "output": 2_000},
        }
        return {
            "id": "grove",
            "name": "Grove",
            "npm": "@ai-sdk/openai-compatible",
            "api": f"{self.model.url}/v1",
            "env": ["GROVE_API_KEY"],
            "models": {"pear-1": model},
        }


class Talk:
    """A session of the newer engine while its server runs."""

    def __init__(
        self, client: NewerClient, project: Path, post: Callable[[str, dict[str, Any] | None], Any]
    ) -> None:
        self.client, self.project, self._post = client, project, post
        model = {"id": "pear-1", "providerID": "grove"}
        while not post("/api/model", None)["data"]:
            time.sleep(0.1)
        made = post("/api/session", {"location": {"directory": str(project)}, "model": model})
        self.id = str(made["data"]["id"])

    def opened(self) -> Session:
        return opened(self.client.database / self.id)

    def post(self, what: str, body: dict[str, Any] | None = None) -> Any:
        return self._post(f"/api/session/{self.id}/{what}", body or {})

    def ask(self, prompt: str) -> list[dict[str, Any]]:
        """Asks, waits until the turn ended; returns what the first request for it holds."""
        since = len(self.client.model.requests)
        before = self._ended()
        self.post("prompt", {"prompt": {"text": prompt}})
        deadline = time.monotonic() + LIMIT
        while self._ended() == before:
            assert time.monotonic() < deadline, f"no answer to {prompt}"
            time.sleep(0.1)
        request = self.client.model.main(since)[0]
        return [one for one in request["messages"] if one["role"] != "system"]

    def _ended(self) -> int:
        base = sqlite3.connect(f"file:{self.client.database}?mode=ro", uri=True)
        try:
            query = "SELECT COUNT(*) FROM session_message WHERE json_extract(data, '$.finish') = 'stop'"
            return int(base.execute(query).fetchone()[0])
        finally:
            base.close()


@pytest.fixture
def talk(program: str, tmp_path: Path) -> Iterator[Talk]:
    project, home = tmp_path / "orchard", tmp_path / "home"
    project.mkdir()
    home.mkdir()
    (project / "apples.txt").write_text("apple\n" * 3, encoding="utf-8")
    with scripted(_script(project)) as model:
        client = NewerClient(program, home, model)
        with client.serving(project) as post:
            yield Talk(client, project, post)


def _script(project: Path) -> dict[str, list[Step]]:
    def path(name: str) -> dict[str, Any]:
        return {"path": str(project / name)}

    return {
        "summary": [Step("## Goal\n- Fruit was compared.")],
        "Compare": [
            Step("Both.", (("read", path("apples.txt")), ("bash", {"command": "ls nowhere"})), "Which?"),
            Step("They differ."),
        ],
        "Write": [Step("Now.", (("write", {**path("list.md"), "content": "- a\n"}),)), Step("Written.")],
        "Long": [Step("Much. " * 3_000)],
        "Thanks": [Step("You are welcome.", (), "Polite.")],
    }


def told(session: Session, at: int) -> list[tuple[str, str]]:
    """Role and text of each message of a context, calls apart."""
    found = []
    for one in context_at(session, at).messages:
        body = message_body(session, one)
        blocks = body.get("content")
        text = message_text(body)
        if isinstance(blocks, list):
            text = "\n".join(block["text"] for block in blocks if block.get("type") == "text")
        role = {"toolResult": "tool", "assistant": "assistant"}.get(one.role, "user")
        found.append((role, text))
    return found


def agrees(sent: list[dict[str, Any]], session: Session, at: int) -> None:
    """Each text of a context stands in the message that was sent for it; a summary and what is kept with it go in one."""
    expected = told(session, at)
    if session.columns.kind[context_at(session, at).messages[0].entry] == Kind.COMPACTION:
        for _, text in expected[:2]:
            assert text.strip() in sent[0]["content"]
        expected = [("user", ""), *expected[2:]]
    assert [one["role"] for one in sent] == [role for role, _ in expected]
    for one, (role, text) in zip(sent, expected, strict=True):
        # What the engine itself says in between is sent escaped, a failure as JSON.
        content = html.unescape(one.get("content") or "")
        if role == "tool" and text not in content:
            content = json.loads(content)["error"]["message"]
        assert text.strip() in content


def places(session: Session, kind: Kind) -> list[int]:
    return [index for index, one in enumerate(session.columns.kind) if one == kind]


def test_each_prompt_is_sent_with_what_our_context_says(talk: Talk) -> None:
    sent = {prompt: talk.ask(prompt) for prompt in ("Compare", "Write", "Thanks")}
    session = talk.opened()
    for index in places(session, Kind.USER):
        (text,) = (block["text"] for block in session.entry(index).message["content"])
        agrees(sent[text], session, index)
    assert len(places(session, Kind.TOOL_RESULT)) == 3


def test_past_compactions(talk: Talk) -> None:
    talk.ask("Compare")
    compacted: list[int] = []
    for number in range(4):
        sent = talk.ask(f"Long {number} " + "word " * 4_000)
        session = talk.opened()
        prompt, compacted = places(session, Kind.USER)[-1], places(session, Kind.COMPACTION)
        # A compaction that the prompt set off comes behind it, and the text that it keeps ends with the prompt.
        agrees(sent, session, compacted[-1] + 1 if compacted and compacted[-1] > prompt else prompt)
    assert len(compacted) > 1


def test_a_revert(talk: Talk) -> None:
    for prompt in ("Compare", "Write", "Thanks"):
        talk.ask(prompt)
    whole = talk.opened()
    written = places(whole, Kind.USER)[1]
    talk.post("revert/stage", {"messageID": whole.columns.id(written)})
    sent = talk.ask("Thanks again")
    staged = talk.opened()
    agrees(sent, staged, places(staged, Kind.USER)[-1])
    talk.post("revert/stage", {"messageID": whole.columns.id(written)})
    talk.post("revert/commit")
    sent = talk.ask("Thanks at last")
    session = talk.opened()
    agrees(sent, session, places(session, Kind.USER)[-1])
    # What was deleted is a branch, as it was.
    assert [session.entry(index).message for index in range(len(staged))] == [
        staged.entry(index).message for index in range(len(staged))
    ]


def test_a_new_session_goes_on_in_the_usual_engine(talk: Talk) -> None:
    for number, prompt in enumerate(("Compare", "Write", *["Long " + "word " * 4_000] * 4)):
        talk.ask(f"{prompt} {number}")
    session = talk.opened()
    assert Kind.COMPACTION in session.columns.kind
    compacted = places(session, Kind.COMPACTION)[0]
    before = max(index for index in places(session, Kind.ASSISTANT) if index < compacted)
    client, project = talk.client, talk.project
    for end in (before, session.leaf):
        made = fork(session, end, client.environment(project), to="opencode", source="opencode")
        assert made.draft.imported is not None
        ran = client.run(project, *made.draft.imported.command.argv[1:])
        assert ran.returncode == 0, ran.stderr
        new = opened(client.database / made.draft.id)
        # The usual engine asks for a compaction in words of its own.
        assert [one for one in told(new, new.leaf) if one != ("user", REQUEST_TEXT)] == told(session, end)


def test_the_usual_engine_does_not_see_what_the_newer_stored(talk: Talk) -> None:
    talk.ask("Compare")
    with pytest.raises(Refused, match="newer engine"):
        OPENCODE.resume(talk.opened(), {})
    asked = talk.client.ask(talk.project, "Thanks", "-s", talk.id)
    session = talk.opened()
    sent = [one for one in asked.first["messages"] if one["role"] != "system"]
    assert [one["role"] for one in sent] == ["user"]
    assert told(session, places(session, Kind.USER)[-1]) == [("user", "Thanks")]
