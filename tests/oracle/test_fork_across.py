"""The real Claude Code and opencode go on in what another agent said.

Runs where ``LEAFWARD_CLAUDE`` or ``LEAFWARD_OPENCODE`` name programs; skipped elsewhere.
"""

from __future__ import annotations

import re
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from leafward.agents.conversation import Conversation
from leafward.agents.recognition import agent_of
from leafward.agents.registry import agent_named
from leafward.branches import fork as forking
from leafward.session.entries import Kind
from tests.oracle.forked import fork
from tests.oracle.installed_agents import CLAUDE, OPENCODE
from tests.oracle.real_agents import ClaudeClient, OpenCodeClient
from tests.oracle.scripted_model import scripted
from tests.surroundings import CORPORA

if TYPE_CHECKING:
    from collections.abc import Iterable

    from leafward.session.session import Session

DATA = Path(__file__).parents[1] / "data"
_PI = ("branches", "compacted-twice", "edits-and-extras", "rpc-errors", "version-1")
_OTHERS = [sorted((DATA / "codex" / one).rglob("rollout-*.jsonl")) for one in ("0.80", "0.125", "0.169")]
_OTHERS += [sorted((DATA / "claude" / one).rglob("*.jsonl")) for one in ("2.0.65", "2.1.330")]
_OTHERS += [
    sorted((CORPORA / "opencode" / "v1.0.185" / "opencode" / "storage" / "session").rglob("ses_*.json"))
]
SOURCES = [DATA / "pi" / "sessions" / f"{one}.jsonl" for one in _PI]
SOURCES += [
    path
    for some in _OTHERS
    for path in [one for one in some if one.stat().st_size and not one.name.startswith("agent-")][:2]
]
NEW = "Continue"
TOLD = "Mind the pears."
_TARGETS = [("claude", one) for one in CLAUDE]
_TARGETS += [("opencode", one) for one in OPENCODE]

pytestmark = [
    pytest.mark.skipif(not _TARGETS, reason="neither LEAFWARD_CLAUDE nor LEAFWARD_OPENCODE names a program"),
    pytest.mark.parametrize(("to", "program"), _TARGETS or [("claude", "claude")]),
]

SpanMessage = list[tuple[str, str]]


def joined(found: SpanMessage) -> SpanMessage:
    """Texts of a side that follow each other together, without white space."""
    together: SpanMessage = []
    for side, text in found:
        plain = re.sub(r"\s+", "", text)
        if together and together[-1][0] == side and side in ("user", "assistant"):
            together[-1] = side, together[-1][1] + plain
        elif plain or side not in ("user", "assistant"):
            together.append((side, plain))
    return [one for _, some in groupby(together, lambda one: one[0]) for one in _in_any_order(some)]


def _in_any_order(some: Iterable[tuple[str, str]]) -> SpanMessage:
    """Results of calls made together stand in the order of the calls, or in that in which they came."""
    found = list(some)
    return sorted(found) if found[0][0] == "result" else found


def expected(session: Session, end: int) -> SpanMessage:
    """Texts of the source, as far as every agent takes them."""
    cut = forking.cuts(session, end, (agent_named("pi"),))["pi"]
    found: SpanMessage = []
    for told in Conversation(session, cut).portable_messages():
        text = "".join(block["text"] for block in told.content if block["type"] == "text")
        if told.role == "result":
            found.append(("result", text))
            continue
        found.append((told.role, text))
        found += [
            ("call", block["name"])
            for block in told.content
            if block["type"] == "toolCall" and "hosted" not in block
        ]
    return joined(found)


def sent(body: dict[str, Any], aside: list[str]) -> SpanMessage:
    """Texts of a request, Anthropic's Messages or OpenAI's Chat Completions. `aside` gets what the system says in it."""
    found: SpanMessage = []
    for message in body["messages"]:
        role, content = message["role"], message.get("content") or ""
        if role == "system":
            # Newer models are told by one what came in the meantime.
            aside.append(str(content))
            continue
        blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
        for block in blocks:
            if block["type"] == "text":
                found.append(("result" if role == "tool" else role, block["text"]))
            elif block["type"] == "tool_use":
                found.append(("call", block["name"]))
            elif block["type"] == "tool_result":
                inner = block["content"]
                text = inner if isinstance(inner, str) else "".join(one.get("text", "") for one in inner)
                found.append(("result", "" if text == "(empty)" else text))
        found += [("call", call["function"]["name"]) for call in message.get("tool_calls", ())]
    return joined(found)


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.stem[:24])
def test_the_first_request_says_what_the_source_said(
    to: str, program: str, path: Path, tmp_path: Path
) -> None:
    agent = agent_of(path)
    if agent.name == to and agent.name != "opencode":
        pytest.skip("its own")
    project, home = tmp_path / "orchard", tmp_path / "home"
    project.mkdir()
    home.mkdir()
    source = agent.open(path)
    target = agent_named(to)
    ends = [
        index
        for index, kind in enumerate(source.columns.kind)
        if kind in (Kind.ASSISTANT, Kind.TOOL_RESULT, Kind.COMPACTION)
        and forking.cuts(source, index, (target,))[to].legal
    ]
    if not ends:
        source.close()
        pytest.skip("nothing of it may end a session")
    source.header["cwd"] = str(project)
    with scripted({}) as model:
        if to == "claude":
            claude = ClaudeClient(program, home, model, home / ".claude")
            made = fork(source, ends[-1], claude.environment(), to=to, source=agent.name, injected=TOLD)
            first = claude.ask(project, NEW, *made.draft.resume.argv[1:]).first
        else:
            client = OpenCodeClient(program, home, model)
            client.ask(project, "Hello")
            made = fork(
                source, ends[-1], client.environment(project), to=to, source=agent.name, injected=TOLD
            )
            assert made.draft.imported is not None
            ran = client.run(project, *made.draft.imported.command.argv[1:])
            assert ran.returncode == 0, ran.stderr
            first = client.ask(project, NEW, *made.draft.resume.argv[1:]).first
    aside: list[str] = []
    ours, theirs = expected(source, ends[-1]), sent(first, aside)
    source.close()
    last = theirs.pop()
    assert last[0] == "user"
    assert "Mindthepears." in last[1] or TOLD in aside[-1]
    assert last[1].endswith(NEW)
    assert [side for side, _ in theirs] == [side for side, _ in ours]
    for (side, mine), (_, said) in zip(ours, theirs, strict=True):
        # Today's context stands before the first prompt.
        assert said.endswith(mine) if side == "user" else mine == said, (side, mine[-300:], said[-300:])
