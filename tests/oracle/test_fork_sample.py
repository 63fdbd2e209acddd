"""Forks at places drawn at random, of every stored session, to all four agents: the real one sends what the context says there.

Each agent runs where its variable names it (README.md). ``LEAFWARD_SAMPLE`` is how many forks go to each, and from which seed:
``20:7``; without it three of seed 1.
"""

from __future__ import annotations

import json
import os
import random
import re
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from leafward.agents.conversation import Conversation
from leafward.agents.recognition import agent_of
from leafward.agents.registry import agent_named
from leafward.branches import fork as forking
from tests.oracle import test_fork_claude, test_fork_codex, test_fork_opencode, test_resume
from tests.oracle.codex import Codex, CodexError, Script, endpoint
from tests.oracle.forked import fork
from tests.oracle.golden import SESSIONS
from tests.oracle.installed_agents import CLAUDE, CODEX, NODE, OPENCODE, PI
from tests.oracle.orchard import planted
from tests.oracle.real_agents import AgentFailed, ClaudeClient, OpenCodeClient
from tests.oracle.resume import ResumeError, resume
from tests.oracle.scripted_model import scripted
from tests.oracle.test_fork_across import joined, sent
from tests.surroundings import CORPORA, needs_corpora

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from leafward.agents.fork_draft import ForkPoint
    from leafward.session.session import Session
    from tests.oracle.test_fork_across import SpanMessage

NEW = "Continue"
CUT = re.compile("…[0-9]+(?:tokens|chars)truncated…")
"""Codex's mark for the omitted middle of a long result, without its spaces."""
COUNT, _, SEED = (os.environ.get("LEAFWARD_SAMPLE") or "3:1").partition(":")
RUNS: dict[str, list[str]] = {
    "claude": CLAUDE[:1],
    "opencode": OPENCODE[:1],
    "codex": [CODEX] if CODEX else [],
    "pi": [PI] if PI and NODE else [],
}


def stored(home: Path) -> dict[str, list[Path]]:
    """Copies of the stored sessions where the agents look for theirs, by the agent that wrote them, as its `open` takes them.

    Copies, because a fork goes to where its source lies.
    """
    claude, codex, data = home / ".claude" / "projects", home / ".codex" / "sessions", home / "stored"
    for folder in (CORPORA / "claude").iterdir():
        copied(folder / ".claude" / "projects", claude)
    copied(CORPORA / "real" / "claude", claude / "-real")
    for folder in (CORPORA / "codex").iterdir():
        copied(folder / ".codex" / "sessions", codex)
    for path in (CORPORA / "real" / "codex").glob("*.jsonl"):
        # Codex goes on with a provider that it has.
        content = re.sub(rb'("model_provider": ?)"openai"', rb'\1"fake"', path.read_bytes())
        name = json.loads(content.partition(b"\n")[0])["payload"]["id"]
        day = codex / "2026" / "01" / "01"
        day.mkdir(parents=True, exist_ok=True)
        (day / f"rollout-2026-01-01T00-00-00-{name}.jsonl").write_bytes(content)
    copied(CORPORA / "opencode", data / "opencode")
    copied(CORPORA / "pi", data / "pi")
    copied(SESSIONS, data / "pi")
    database = data / "opencode" / "v1.18.33" / "opencode" / "opencode.db"
    with closing(sqlite3.connect(database)) as base:
        names = base.execute("SELECT id FROM session WHERE parent_id IS NULL").fetchall()
    trees = [*(data / "opencode" / "v1.0.185").rglob("storage/session/*/ses_*.json")]
    found = {
        "claude": [path for path in claude.glob("*/*.jsonl") if filled(path)],
        "codex": [*codex.rglob("rollout-*.jsonl")],
        "opencode": [*trees, *(database / name for (name,) in names)],
        "pi": [*(data / "pi").glob("*.jsonl")],
    }
    return {agent: sorted(paths) for agent, paths in found.items()}


def filled(path: Path) -> bool:
    return path.stat().st_size > 0 and not path.name.startswith("agent-")


def copied(folder: Path, to: Path) -> None:
    """A copy that may be written to."""
    shutil.copytree(folder, to, copy_function=shutil.copyfile, dirs_exist_ok=True)
    for path in [to, *to.rglob("*")]:
        path.chmod(0o700 if path.is_dir() else 0o600)


def said_by_codex(items: list[dict[str, Any]]) -> SpanMessage:
    """The input of a request, as other requests are told."""
    found: SpanMessage = []
    for item in items:
        kind = str(item["type"])
        if kind.endswith("_call"):
            found.append(("call", str(item.get("name"))))
        elif kind.endswith("_output"):
            output = item["output"]
            texts = [output] if isinstance(output, str) else [str(one.get("text") or "") for one in output]
            found.append(("result", "".join(texts)))
        elif kind == "message" and item["role"] in ("user", "assistant"):
            texts = [part["text"] for part in item["content"] if "text" in part]
            # What Codex puts in itself, before the new prompt.
            found += [(item["role"], text) for text in texts if not text.startswith("<environment_context>")]
    return joined(found)


def told(session: Session, cut: ForkPoint) -> SpanMessage:
    """Texts of the source up to a cut, as far as every agent takes them."""
    found: SpanMessage = []
    for one in Conversation(session, cut).portable_messages():
        text = "".join(block["text"] for block in one.content if block["type"] == "text")
        if one.role == "result":
            found.append(("result", text))
            continue
        found.append((one.role, text))
        calls = [block for block in one.content if block["type"] == "toolCall" and "hosted" not in block]
        found += [("call", block["name"]) for block in calls]
    return joined(found)


MADE_UP = re.compile(r"No response requested\.|Continue from where you left off\.")
"""Claude Code's own reply to a prompt that nobody answered."""


def differs(to: str, session: Session, made: forking.Fork, messages: Any) -> str:
    """Where a request differs from what the session says at the cut; empty where it does not."""
    agent = agent_of(session.path).name
    if agent == to == "pi":
        tip = made.cut.tip(session)
        wanted = test_resume.expected_request(test_resume.entries_of(session.path), None if tip < 0 else tip)
        try:
            test_resume.assert_request([one for one in messages["sent"] if one.role != "system"][:-1], wanted)
        except AssertionError as error:
            return str(error)[:2_000]
        return ""
    if to == "pi":
        # pi has words of its own around a summary, and for a result without text.
        said = [one.text for one in messages["sent"] if one.role != "system"][:-1]
        texts = [
            "\n".join(str(block["text"]) for block in one.content if block["type"] == "text")
            for one in Conversation(session, made.cut).portable_messages()
        ]
        texts = [re.sub(r"\ASummary of [^\n]+:\n\n", "", text).strip() for text in texts]
        same = len(said) == len(texts) and all(mine in text for mine, text in zip(texts, said, strict=True))
        return "" if same else unequal(texts, said)
    if agent == to == "opencode":
        ours, theirs = (
            test_fork_opencode.told(session, made.cut.end),
            test_fork_opencode.said(messages),
        )
        return "" if ours == theirs else unequal(ours, theirs)
    if agent == to == "claude":
        if any(one.code == "notice" for one in made.draft.remarks):
            # The preview says that Claude Code answers what stands there by itself.
            own = [one for one in messages["messages"] if not MADE_UP.search(json.dumps(one))]
            messages = {**messages, "messages": own}
        try:
            test_fork_claude.assert_context(session, made.cut.end, messages)
        except AssertionError as error:
            return str(error)[:2_000] or "another context"
        return ""
    if agent == to == "codex":
        # What Codex itself puts in it makes anew.
        known = [text for _, text in test_fork_codex.said(session, made.cut.end, whole=False)]
        texts = [text for _, text in test_fork_codex.spoken(messages["input"]) if text in set(known)]
        return "" if texts == known else unequal(known, texts)
    ours = joined([*told(session, made.cut), ("user", NEW)])
    if to == "opencode":
        # It sends images of results in messages of its own.
        own = [one for one in messages["messages"] if "Attached media from tool result:" not in str(one)]
        messages = {"messages": own}
    theirs = said_by_codex(messages["input"]) if to == "codex" else sent(messages, [])
    for place in range(max(len(ours), len(theirs))):
        one, other = ours[place : place + 1], theirs[place : place + 1]
        if not one or not other or one[0][0] != other[0][0]:
            return f"{place} of {len(ours)} and {len(theirs)}: {str(one)[:300]} / {str(other)[:300]}"
        (side, mine), (_, text) = one[0], other[0]
        if side == "result" and to == "codex" and re.search(CUT, text):
            if not any(one.code == "long-results" for one in made.draft.remarks):
                return f"{place}: {text[:100]!r} was cut, and it was not said that it may be"
            head, tail = re.split(CUT, text, maxsplit=1)
            if mine.startswith(head) and mine.endswith(tail):
                continue
        # Agents put a context of their own before a prompt, and words of their own around a summary or an empty result.
        if not (mine in text if side in ("user", "result") else mine == text):
            return f"{place}: {side} {mine[-300:]!r} / {text[-300:]!r}"
    return ""


def unequal(ours: list[Any], theirs: list[Any]) -> str:
    place = next(
        (at for at, (one, other) in enumerate(zip(ours, theirs, strict=False)) if one != other),
        min(len(ours), len(theirs)),
    )
    return f"{place} of {len(ours)} and {len(theirs)}: {str(ours[place : place + 1])[:300]} / {str(theirs[place : place + 1])[:300]}"


Ask = Callable[["Session", int], tuple[forking.Fork, dict[str, Any]]]
"""Forks a session at an entry, resumes that with the new prompt, and returns the first request."""


@contextmanager
def asking_claude(folder: Path) -> Iterator[Ask]:
    with scripted({}) as model:
        client = ClaudeClient(RUNS["claude"][0], folder, model, folder / ".claude")

        def ask(session: Session, end: int) -> tuple[forking.Fork, dict[str, Any]]:
            made = drawn(session, end, client.environment(), "claude", folder)
            return made, client.ask(folder / "orchard", NEW, *made.draft.resume.argv[1:]).first

        yield ask


@contextmanager
def asking_opencode(folder: Path) -> Iterator[Ask]:
    with scripted({}) as model:
        client, project = OpenCodeClient(RUNS["opencode"][0], folder, model, images=True), folder / "orchard"
        client.ask(project, "Hello")

        def ask(session: Session, end: int) -> tuple[forking.Fork, dict[str, Any]]:
            made = drawn(session, end, client.environment(project), "opencode", folder)
            assert made.draft.imported is not None
            ran = client.run(project, *made.draft.imported.command.argv[1:])
            assert ran.returncode == 0, ran.stderr
            return made, client.ask(project, NEW, *made.draft.resume.argv[1:]).first

        yield ask


@contextmanager
def asking_codex(folder: Path) -> Iterator[Ask]:
    script = Script()
    client = Codex(folder / ".codex", folder / "orchard", script, RUNS["codex"][0])
    with endpoint(script) as url:
        client.configure(url)

        def ask(session: Session, end: int) -> tuple[forking.Fork, dict[str, Any]]:
            env = {"CODEX_HOME": str(client.home), "HOME": str(folder)}
            made = drawn(session, end, env, "codex", folder)
            return made, client.resume(made.draft.id, NEW)[0]

        yield ask


@contextmanager
def asking_pi(folder: Path) -> Iterator[Ask]:
    def ask(session: Session, end: int) -> tuple[forking.Fork, dict[str, Any]]:
        env = {"PI_CODING_AGENT_DIR": str(folder / "agent"), "HOME": str(folder)}
        made = drawn(session, end, env, "pi", folder)
        return made, {"sent": resume(Path(RUNS["pi"][0]), made.draft.path, NEW).messages}

    yield ask


def drawn(session: Session, end: int, env: Mapping[str, str], to: str, folder: Path) -> forking.Fork:
    agent = agent_of(session.path).name
    return fork(session, end, env, to=to, source=agent, cwd=str(folder / "orchard"))


ASKING = {"claude": asking_claude, "opencode": asking_opencode, "codex": asking_codex, "pi": asking_pi}


@needs_corpora
@pytest.mark.parametrize("to", ASKING)
def test_where_a_fork_ends_the_agent_sends_what_was_said(to: str, tmp_path: Path) -> None:
    if not RUNS[to]:
        pytest.skip(f"no program of {to}")
    by_agent, seeded, agent = stored(tmp_path), random.Random(f"{to} {SEED}"), agent_named(to)
    planted(tmp_path / "orchard")
    wrong, done = list[str](), 0
    with ASKING[to](tmp_path) as ask:
        while done < int(COUNT):
            path = seeded.choice(by_agent[seeded.choice(sorted(by_agent))])
            with closing(agent_of(path).open(path)) as session:
                ends = [int(seeded.random() * len(session)) for _ in range(20)]
                end = next((one for one in ends if forking.cuts(session, one, (agent,))[to].legal), None)
                if end is None:
                    continue
                done += 1
                try:
                    made, body = ask(session, end)
                    difference = differs(to, session, made, body)
                except (AgentFailed, CodexError, ResumeError, AssertionError) as error:
                    difference = f"failed: {str(error)[-600:]}"
                if difference:
                    wrong.append(f"{path} #{end}: {difference}")
                print(done, path.name, end, difference, flush=True)
    assert wrong == []
