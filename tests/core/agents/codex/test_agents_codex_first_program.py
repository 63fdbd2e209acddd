"""Sessions of Codex's first program: one JSON document, read as the lines of later rollouts. Shapes are those of 0.1.2505291658."""

from __future__ import annotations

import json
from contextlib import closing
from typing import TYPE_CHECKING, Any

import pytest

from leafward.agents.codex.agent import Codex
from leafward.agents.fork_draft import ForkTerms, cut_at
from leafward.agents.recognition import agent_of
from leafward.base.config import Config
from leafward.base.errors import Refused
from leafward.base.times import moment_of
from leafward.context.model_context import context_at
from leafward.files.working_set import touched
from leafward.session.entries import Kind
from leafward.session.messages import message_text, messages_of
from tests.tui.sure import sure

if TYPE_CHECKING:
    from pathlib import Path

    from leafward.session.session import Session

ID = "93d4635b-a40e-4e0e-8e7e-cf00d4cfe0a2"
PATCH = "apply_patch <<'EOF'\n*** Begin Patch\n*** Update File: notes.txt\n@@\n-hello\n+hello there\n*** End Patch\nEOF"


def said(role: str, text: str) -> dict[str, Any]:
    kind = "output_text" if role == "assistant" else "input_text"
    return {"role": role, "content": [{"type": kind, "text": text}], "type": "message"}


ITEMS = [
    said("user", "greet them\nin two lines"),
    {"id": "unknown-model-1", **said("system", "Warning: this model is not in the list")},
    {
        "type": "function_call",
        "id": "fc_1",
        "call_id": "call_1",
        "name": "shell",
        "arguments": json.dumps({"command": ["bash", "-lc", PATCH]}),
        "status": "completed",
    },
    {
        "type": "function_call_output",
        "call_id": "call_1",
        "output": '{"output":"Done!","metadata":{"exit_code":0,"duration_seconds":0.1}}',
    },
    said("assistant", "They are greeted."),
]


def stored(root: Path, items: list[Any] = ITEMS) -> Path:
    path = root / ".codex" / "sessions" / f"rollout-2025-05-29-{ID}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    session = {"timestamp": "2025-05-29T17:02:37.761Z", "id": ID, "instructions": ""}
    path.write_text(json.dumps({"session": session, "items": items}, indent=2, ensure_ascii=False))
    return path


def opened(path: Path) -> Session:
    agent = agent_of(path)
    assert agent.name == "codex"
    return agent.open(path)


def sent(session: Session) -> list[str]:
    context = [one for one in context_at(session).messages if one.sent]
    return [message_text(messages_of(session.body(one.entry) or {}, one.kind)[0]) for one in context]


def test_its_items_are_the_entries_and_notices_are_not_sent(tmp_path: Path) -> None:
    with closing(opened(stored(tmp_path))) as session:
        assert session.id == ID
        assert not session.columns.damage
        assert sent(session)[0] == "greet them\nin two lines"
        assert sent(session)[-1] == "They are greeted."
        assert "Warning" not in "".join(sent(session))
        assert any("Warning" in str(session.body(at)) for at in range(len(session)))
        assert touched(session, range(len(session)))["notes.txt"].modified


def test_of_a_document_that_is_cut_off_the_whole_items_are_read_and_the_rest_is_said(tmp_path: Path) -> None:
    path = stored(tmp_path)
    path.write_bytes(path.read_bytes()[:-60])
    with closing(opened(path)) as session:
        assert session.columns.kind.count(Kind.USER) == 1
        assert "They are greeted." not in sent(session)
        assert sure(session.scan.pending).size > 0


def test_items_of_any_form_have_their_place(tmp_path: Path) -> None:
    odd = [
        1,
        None,
        [{"role": "system"}],
        {"role": "system", "content": 5},
        "DIGITS",
        said("user", "hi"),
    ]
    path = stored(tmp_path, odd)
    path.write_text(path.read_text().replace('"DIGITS"', "9" * 5_000))
    with closing(opened(path)) as session:
        assert list(session.columns.kind).count(Kind.MALFORMED) == 4
        assert sent(session) == ["hi"]


def test_one_that_is_written_anew_with_more_items_is_followed(tmp_path: Path) -> None:
    with closing(opened(stored(tmp_path, ITEMS[:2]))) as session:
        path = stored(tmp_path)
        path.write_text(path.read_text().replace("17:02:37.761", "17:04:12.008"))
        growth = sure(session.refresh())
        assert (growth.added, growth.replaced) == (len(ITEMS) - 2, False)
        assert sent(session)[-1] == "They are greeted."


def test_a_store_lists_it_and_no_other_document(tmp_path: Path) -> None:
    path = stored(tmp_path)
    (path.parent / "notes.json").write_text("{}")
    [listing] = Codex().discover((tmp_path / ".codex",), lambda: False, [])
    assert list(listing.files) == [path.name]


def test_the_present_program_does_not_open_it_but_a_fork_of_it(tmp_path: Path) -> None:
    agent = Codex()
    with closing(opened(stored(tmp_path))) as session:
        with pytest.raises(Refused, match="fork this one"):
            agent.resume(session, {})
        terms = ForkTerms({}, Config(), sure(moment_of("2026-11-29T08:00:00.000Z")), cwd=str(tmp_path))
        lines = b"".join(
            agent.fork(session, cut_at(session, session.leaf, agent.may_end), terms).content()
        ).splitlines()
    made = [json.loads(line) for line in lines]
    assert made[0]["type"] == "session_meta"
    assert [one["payload"] for one in made if one["type"] == "response_item"] == [ITEMS[0], *ITEMS[2:]]
    assert all("timestamp" in one for one in made)
