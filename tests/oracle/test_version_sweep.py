"""Every installed version of every agent records a session; tree, context, usage and files are held against what was really sent.

``LEAFWARD_AGENTS`` names a folder with unpacked npm packages, one a version: ``codex-0.47.0``, ``claude-2.1.48`` … (README.md here
says how to make it). Skipped elsewhere.
"""

from __future__ import annotations

import json
import os
import re
from contextlib import closing
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from leafward.agents.recognition import agent_of
from leafward.agents.registry import agent_named
from leafward.context.message_columns import message_body
from leafward.context.model_context import context_at
from leafward.doctor.session_problems import check
from leafward.files.working_set import touched
from leafward.session.entries import Kind, blocks_of, tool_calls
from leafward.session.headlines.entry_headline import headline
from leafward.session.messages import NEVER_SENT
from leafward.session.session import Session
from tests.oracle import sweep_agents, sweep_codex

if TYPE_CHECKING:
    from leafward.session.session import Session
    from tests.oracle.responses_model import Exchange

FOLDER = Path(os.environ.get("LEAFWARD_AGENTS") or "nowhere")
SAID = tuple[str, str]


def installed(agent: str) -> list[Path]:
    """The versions of an agent that are there, oldest first."""
    found = [path for path in FOLDER.glob(f"{agent}-*") if re.fullmatch(rf"{agent}-[\d.]+", path.name)]
    return sorted(found, key=lambda path: tuple(map(int, path.name.partition("-")[2].split("."))))


def versions(agent: str) -> pytest.MarkDecorator:
    """A parameter for every version; one that is skipped where there is none."""
    skip = pytest.mark.skip(reason=f"LEAFWARD_AGENTS names no folder with {agent}-VERSION in it")
    found = [pytest.param(path, id=path.name) for path in installed(agent)]
    return pytest.mark.parametrize("package", found or [pytest.param(None, id=agent, marks=skip)])


def spoken(session: Session, at: int, *, system: bool = False, injected: bool = True) -> list[SAID]:
    """A context flattened: texts, calls and results in their order; without the system prompt, or that alone.

    What an agent puts in itself may stand elsewhere in a request, in other words.
    """
    found: list[SAID] = []
    for one in context_at(session, at).messages:
        message = message_body(session, one)
        if (one.role == "system") != system or not one.sent or (one.kind == Kind.INJECTED and not injected):
            continue
        if one.role == "toolResult":
            found.append(("result", str(message["toolCallId"])))
            shown = [block for block in blocks_of(message["content"]) if block["type"] == "image"]
            found += [("image", str(block["data"])[:40]) for block in shown]
            continue
        if one.role in ("compactionSummary", "branchSummary"):
            side = "assistant" if agent_of(session.path).name == "opencode" else "user"
            found.append((side, str(message["summary"]).strip()))
            continue
        content = message["content"]
        for block in [{"type": "text", "text": content}] if isinstance(content, str) else blocks_of(content):
            if block["type"] == "toolCall":
                found.append(("call", str(block["id"])))
            elif block["type"] == "text" and str(block["text"]).strip():
                found.append(("assistant" if one.role == "assistant" else "user", str(block["text"]).strip()))
            elif block["type"] == "image":
                found.append(("image", str(block["data"])[:40]))
    return found


def assert_same(known: list[SAID], sent: list[SAID], number: int) -> None:
    """Leafward shows the messages that were sent; several texts in one message match if each of them is in it, in order."""
    left = list(known)
    for kind, text in sent:
        if left and left[0] == (kind, text):
            left.pop(0)
            continue
        at, taken = 0, 0
        while left and left[0][0] == kind == "user" and (at := text.find(left[0][1], at)) >= 0:
            at += len(left.pop(0)[1])
            taken += 1
        assert taken, f"request {number}: sent and not shown: {kind} {text[:300]!r}; shown next: {left[:1]}"
    assert not left, f"request {number}: shown and not sent: {left[0]}"


# --- Codex ---


def sent_by_codex(items: list[dict[str, Any]]) -> list[SAID]:
    """The same of the input of a request."""
    found: list[SAID] = []
    for item in items:
        kind = str(item.get("type"))
        if kind.endswith("_call"):
            found.append(("call", str(item.get("call_id") or item.get("id"))))
        elif kind.endswith("_output"):
            found.append(("result", str(item.get("call_id"))))
            shown = item["output"] if isinstance(item.get("output"), list) else []
            urls = [str(part["image_url"]) for part in shown if part.get("image_url")]
            found += [("image", url.partition("base64,")[2][:40]) for url in urls]
        elif kind == "message":
            side = "assistant" if item["role"] == "assistant" else "user"
            for part in item["content"]:
                if part.get("image_url"):
                    found.append(("image", str(part["image_url"]).partition("base64,")[2][:40]))
                elif str(part.get("text") or "").strip():
                    found.append((side, part["text"].strip()))
    # Tags around an image are part of it.
    return [one for one in found if not re.fullmatch(r"<image[^>]*>|</image>", one[1])]


def replies_to(session: Session, exchange: Exchange) -> list[int]:
    """The entries in which a reply stands."""
    found = []
    for index, kind in enumerate(session.columns.kind):
        if kind != Kind.ASSISTANT:
            continue
        message = (session.body(index) or {}).get("message") or {}
        blocks = blocks_of(message.get("content"))
        marks = {str(block.get("id") or block.get("text")) for block in blocks}
        if marks & exchange.marks:
            found.append(index)
    return found


@versions("codex")
def test_codex(package: Path, tmp_path: Path) -> None:
    program = sweep_codex.binary(package)
    if program is None:
        pytest.skip("not for this machine")
    recorded = sweep_codex.record(program, tmp_path)
    forked = "fork" in recorded.tried
    everything = recorded.model.exchanges
    later = next(
        (place for place, one in enumerate(everything) if sweep_codex.AFTER[0] in str(one.request)), 0
    )
    with closing(agent_named("codex").open(recorded.paths[-1])) as session:
        # A fork holds what it goes on from, and not the turn that was left out.
        undone = everything[later - 1 : later] if forked else []
        check_codex(session, recorded, [one for one in everything if one not in undone])
    if forked:
        with closing(agent_named("codex").open(recorded.paths[-2])) as session:
            check_codex(session, recorded, everything[:later])


def check_codex(session: Session, recorded: sweep_codex.Recorded, everything: list[Exchange]) -> None:
    """Everything that is known of a thread of Codex is so: of all that was sent in it."""
    exchanges = [one for one in everything if not one.compacts]
    # 0.36 forgets what the model says right after a compaction, and sends it no more.
    last = exchanges[-1].request["input"]
    exchanges = [
        one for one in exchanges if one is exchanges[-1] or replies_to(session, one) or said_in(last, one)
    ]
    system = {text for _, text in spoken(session, session.leaf, system=True)}
    # The oldest do not write down where they work.
    told = {text for index in range(len(session.columns)) for _, text in spoken(session, index)[-1:]}
    counted = 0
    for exchange in exchanges:
        entries = replies_to(session, exchange)
        assert entries, (exchange.number, "the reply is not there")
        kinds = {str(block.get("type")) for one in exchange.items for block in [one]}
        # Calls that alternate with their outputs are an entry each, whatever else is there once.
        assert len(entries) == 1 or "function_call" in kinds, (exchange.number, entries)
        known = spoken(session, session.columns.parent[entries[0]])
        sent = [
            (kind, text)
            for kind, text in sent_by_codex(exchange.request["input"])
            if not any(one.startswith(text[:500]) for one in system)
            and (text in told or not text.startswith("<environment_context>"))
        ]
        assert_same(known, sent, exchange.number)
        usage = [
            found
            for entry in entries
            if (found := ((session.body(entry) or {}).get("message") or {}).get("usage")) is not None
        ]
        assert [one["input"] for one in usage] in ([], [exchange.input_tokens]), exchange.number
        counted += len(usage)
    assert counted in (0, len(exchanges)), "some replies have a count, some have none"
    assert session.columns.kind.count(Kind.UNKNOWN) == 0
    assert session.columns.kind.count(Kind.MALFORMED) == 0
    assert [(problem.code, problem.text) for problem in check(session)] == []
    assert session.columns.kind.count(Kind.COMPACTION) == sum(one.compacts for one in everything)
    assert len(session.tree.branch_points()) == ("rollback" in recorded.tried)
    prompts = [index for index, kind in enumerate(session.columns.kind) if kind == Kind.USER]
    texts = {headline(session, index).text for index in prompts}
    assert texts >= {
        one for one in sweep_codex.PROMPTS[1:] if any(one in str(made.request) for made in everything)
    }
    assert texts >= {one for one in sweep_codex.AFTER if any(one in str(made.request) for made in everything)}
    check_outcomes(session, recorded.project)


def said_in(items: list[dict[str, Any]], exchange: Exchange) -> bool:
    """Whether a later request repeats a reply."""
    return any(mark in str(items) for mark in exchange.marks)


def check_outcomes(session: Session, project: Path) -> None:
    """Commands, how they ended, and the files they touched."""
    failed: dict[str, tuple[bool, str]] = {}
    for index, kind in enumerate(session.columns.kind):
        if kind == Kind.TOOL_RESULT:
            message = (session.body(index) or {})["message"]
            failed[headline(session, index).text] = bool(message["isError"]), str(message["toolCallId"])
        elif kind == Kind.ASSISTANT:
            for call in tool_calls((session.body(index) or {})["message"]):
                assert call.arguments, call
    assert failed["ls nowhere"][0]
    assert not failed["cat apples.txt"][0]
    files = touched(session, session.tree.path(session.leaf))
    assert any(path.endswith("apples.txt") and use.read for path, use in files.items())
    # 0.60 does not know the command: then nothing was written, and nothing may be said to be.
    written = (project / "list.md").exists()
    assert any(path.endswith("list.md") and use.modified for path, use in files.items()) == written


# --- Claude Code, opencode, pi ---


def sent_by(body: dict[str, Any]) -> list[SAID]:
    """Texts of a request: Anthropic's Messages, or OpenAI's Chat Completions."""
    found: list[SAID] = []
    for message in body["messages"]:
        role, content = message["role"], message.get("content")
        if role in ("system", "developer"):
            continue
        if role == "tool":
            found.append(("result", str(message["tool_call_id"])))
        blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content or []
        side = "assistant" if role == "assistant" else "user"
        for block in blocks:
            found += _said_by(block, side, results=role == "tool")
        found += [("call", str(call["id"])) for call in message.get("tool_calls") or []]
    return found


def _said_by(block: dict[str, Any], side: str, *, results: bool) -> list[SAID]:
    kind = block["type"]
    if kind == "tool_use":
        return [("call", str(block["id"]))]
    if kind == "tool_result":
        inner = block.get("content")
        images = [one for one in inner if one.get("type") == "image"] if isinstance(inner, list) else []
        return [("result", str(block["tool_use_id"])), *[("image", "")] * len(images)]
    if kind in ("image", "image_url"):
        return [("image", "")]
    if kind == "text" and not results and str(block["text"]).strip():
        return [(side, "".join(str(block["text"]).split()))]
    return []


def forgets(known: list[SAID], sent: list[SAID]) -> bool:
    """Whether a resumed agent sends some of the calls that were made together twice or not at all, as Claude Code did for long."""
    ours, theirs = ([text for kind, text in said if kind == "call"] for said in (known, sent))
    return set(theirs) <= set(ours) and sorted(ours) != sorted(theirs)


def results_in_order(said: list[SAID]) -> list[SAID]:
    """The same with results that stand together in the order of their ids; images are left behind them."""
    found: list[SAID] = []
    for kind, group in groupby(said, key=lambda one: one[0]):
        together = list(group)
        found += sorted(together) if kind == "result" else together
    return found


def assert_covers(known: list[SAID], sent: list[SAID], number: int) -> None:
    """Calls, results, replies and images are those that were sent; what users said stands there in this order.

    Agents put reminders of their own between what users say, and join it.
    """
    apart = [[one for one in said if one[0] in ("call", "result")] for said in (known, sent)]
    assert apart[0] == apart[1], f"request {number}: {apart[0]} {apart[1]}"
    replies = [
        "".join("".join(text.split()) for side, text in said if side == "assistant") for said in (known, sent)
    ]
    assert replies[0] == replies[1], (
        f"request {number}: replies {replies[0][-200:]!r} and {replies[1][-200:]!r}"
    )
    images = [sum(kind == "image" for kind, _ in said) for said in (known, sent)]
    assert images[0] == images[1], f"request {number}: images {images}"
    rest = "".join(text for side, text in sent if side == "user")
    at = 0
    for side, text in known:
        wanted = "".join(text.split())
        if side == "user":
            place = rest.find(wanted, at)
            assert place >= 0, f"request {number}: shown and not sent: {text[:200]!r}"
            at = place + len(wanted)


@pytest.mark.parametrize(
    ("agent", "package"),
    [
        pytest.param(agent, package, id=package.name)
        for agent in ("claude", "opencode", "pi")
        for package in installed(agent)
    ]
    or [
        pytest.param(
            "claude", None, id="others", marks=pytest.mark.skip(reason="LEAFWARD_AGENTS names no agents")
        )
    ],
)
def test_another_agent(agent: str, package: Path, tmp_path: Path) -> None:
    try:
        recorded = sweep_agents.RECORD[agent](package, tmp_path)
    except sweep_agents.AgentFailed as error:
        if any(
            word in str(error)
            for word in (
                "Unable to connect",
                "InitError",
                "ERR_MODULE_NOT_FOUND",
                "does not provide an export",
                "Options:",
                "DecimalError",
            )
        ):
            pytest.skip(f"it does not start without a network: {str(error)[-200:]}")
        raise
    if recorded is None:
        pytest.skip("not for this machine")
    with closing(agent_named(agent).open(recorded.session)) as session:
        check_session(session, recorded)


def check_session(session: Session, recorded: sweep_agents.Run) -> None:
    """Everything that is known of a session is so."""
    columns = session.columns
    replies = [
        index
        for index, kind in enumerate(columns.kind)
        if kind == Kind.ASSISTANT and not _made_up((session.body(index) or {})["message"])
    ]
    prompts = {
        headline(session, index).text.strip('"'): index
        for index, kind in enumerate(columns.kind)
        if kind == Kind.USER
    }
    *said, last = sweep_agents.PROMPTS
    requests = [one for one in recorded.requests if last in prompts or one not in recorded.undone]
    assert len(replies) == len(requests), "a reply for each request"
    remarks: list[int] = []
    for number, (reply, body) in enumerate(zip(replies, requests, strict=True), 1):
        known = spoken(session, columns.parent[reply], injected=session.is_native)
        sent = sent_by(body)
        if recorded.mixes_results:
            known, sent = results_in_order(known), results_in_order(sent)
        if recorded.resumes_badly and forgets(known, sent):
            remarks.append(number)
            continue
        assert_covers(known, sent, number)
        usage = ((session.body(reply) or {})["message"]).get("usage")
        assert usage is not None
        assert (usage["input"], usage["output"]) == (100, 20)
    assert len(remarks) < len(replies)
    assert columns.kind.count(Kind.MALFORMED) == 0
    assert columns.kind.count(Kind.UNKNOWN) == 0
    assert [(problem.code, problem.text) for problem in check(session)] == []
    assert columns.kind.count(Kind.COMPACTION) == ("compaction" in recorded.tried)
    back = recorded.tried & {"rewind", "revert"}
    said += sweep_agents.AFTER if back else ()
    assert prompts.keys() >= {*said}
    assert last in prompts or recorded.undone
    points = session.tree.branch_points()
    if recorded.resumes_badly:
        points = [point for point in points if not left_behind(session, point)]
    assert len(points) == (bool(back) and last in prompts)
    results = {
        headline(session, index).text: (session.body(index) or {})["message"]
        for index, kind in enumerate(columns.kind)
        if kind == Kind.TOOL_RESULT
    }
    # Where a resumed agent sends calls twice, the model takes its turn for a later one.
    assert "ls nowhere" in results or recorded.resumes_badly
    failed = results.get("ls nowhere", {"isError": True})
    assert failed["isError"] or failed.get("exitCode")
    files = touched(session, session.tree.path(prompts.get(last, session.leaf)))
    assert any(path.endswith("apples.txt") and use.read for path, use in files.items())
    assert any(path.endswith("list.md") and use.modified for path, use in files.items())


def left_behind(session: Session, point: int) -> bool:
    """Whether a prompt has two replies as Claude Code 2.1.48 leaves them where it resumes a reply whose rows have one time.

    It goes on from the prompt above that reply, which it answers by itself: the reply is sent no more, and is a branch. The
    requests that were compared do not hold it either.
    """
    if session.columns.kind[point] != Kind.USER:
        return False
    below = [
        session.tree.content_from(run) for run in session.tree.content_children(session.tree.run_of(point))
    ]
    made_up = [one for one in below if _made_up((session.body(one) or {}).get("message") or {})]
    rest = [one for one in below if one not in made_up]
    times = {json.loads(row).get("timestamp") for one in rest for row in session.records(one)}
    return len(made_up) == 1 and len(rest) == 1 and len(times - {None}) == 1


def _made_up(message: dict[str, Any]) -> bool:
    """Whether no request was answered by it: also the end of a reply that a resumed Claude Code left out."""
    return (
        message.get("model") == "<synthetic>"
        or bool(message.get("summary"))
        or message.get(NEVER_SENT) is True
    )
