"""The real Codex goes on in what `leafward fork` writes with exactly the history that it is to have.

Runs where ``LEAFWARD_CODEX`` names the binary of Codex (0.125 and 0.169 were used); skipped elsewhere.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from leafward.agents.conversation import Conversation
from leafward.agents.fork_draft import ForkPoint
from leafward.agents.registry import agent_named
from leafward.context.message_columns import message_body
from leafward.context.model_context import context_at
from leafward.session.entries import Kind, blocks_of
from tests.codex_rollout import bare
from tests.oracle.codex import Codex, Script, call, endpoint, history, text_of
from tests.oracle.forked import compacted_beside, fork, in_order, seal
from tests.oracle.golden import SESSIONS
from tests.oracle.installed_agents import CODEX, needs_codex

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from leafward.agents.base import Agent
    from leafward.branches import fork as forking
    from leafward.session.session import Session

    Opened = Callable[[str, Path], Session]

pytestmark = [needs_codex]

PROMPT = "What comes next?"
SHELLS = ("exec_command", "shell_command")
TURNS = ["Say hello", "Count the apples", "Count the pears, one after the other", "Sum up"]


@pytest.fixture
def codex(tmp_path: Path) -> Iterator[Codex]:
    script = Script()
    made = Codex(tmp_path / "home" / ".codex", tmp_path / "orchard", script, CODEX)
    with endpoint(script) as url:
        made.configure(url)
        yield made


@pytest.fixture
def opened() -> Iterator[Callable[[str, Path], Session]]:
    """Opens sessions of an agent, and closes them when the test is over."""
    found: list[Session] = []

    def open_(agent: str, path: Path) -> Session:
        found.append(agent_named(agent).open(path))
        return found[-1]

    yield open_
    for session in found:
        session.close()


def forked(
    session: Session, entry: int, to: str, codex: Codex, text: str = "", cwd: Path | None = None
) -> forking.Fork:
    env = {"CODEX_HOME": str(codex.home), "HOME": str(codex.home.parent)}
    return fork(session, entry, env, to=to, injected=text, cwd=str(cwd or ""))


def sealed(codex: Codex) -> dict[Path, str]:
    """A value that changes with any of its session files."""
    return {path: seal(path) for path in codex.home.rglob("*.jsonl*")}


def spoken(items: list[dict[str, Any]]) -> list[tuple[str, str]]:
    """Texts, calls and results of a request, in order; reasoning has no readable text."""
    found = []
    for item in items:
        kind = str(item.get("type"))
        if kind.endswith("_call"):
            found.append(("call", str(item.get("call_id") or item.get("id"))))
        elif kind.endswith("_output"):
            found.append(("result", str(item.get("call_id"))))
        elif kind == "message":
            found += [(str(item["role"]), part["text"]) for part in item["content"] if "text" in part]
    return found


def said(session: Session, at: int, *, whole: bool = True) -> list[tuple[str, str]]:
    """The same of a context, without the system prompt; without what the agent itself put in unless `whole`."""
    found = []
    if whole:
        messages = ((one.role, message_body(session, one)) for one in context_at(session, at).messages)
    else:
        cut = ForkPoint(at, at, -1, None, at)  # type: ignore[arg-type]
        messages = ((one.role, message) for one, message in Conversation(session, cut).messages())
    for role, message in messages:
        if role == "system":
            continue
        if role == "toolResult":
            found.append(("result", str(message["toolCallId"])))
        elif role in ("compactionSummary", "branchSummary"):
            found.append(("user", str(message["summary"])))
        else:
            for block in blocks_of(message["content"]):
                if block["type"] == "toolCall":
                    found.append(("call", str(block["id"])))
                elif block["type"] == "text":
                    found.append(("assistant" if role == "assistant" else "user", str(block["text"])))
    return found


def texts(said: list[tuple[str, str]]) -> list[str]:
    return [text for _, text in said]


def warned(said: list[tuple[str, str]]) -> list[list[tuple[str, str]]]:
    """Warnings of Codex, each with the items before and after it."""
    return [said[at - 1 : at + 2] for at, (_, text) in enumerate(said) if text.startswith("Warning: ")]


def numbered(version: str) -> tuple[int, ...]:
    return tuple(map(int, version.removeprefix("v").split(".")))


def prompts(session: Session) -> list[int]:
    kinds = session.columns.kind
    return [index for index in session.tree.path(session.leaf) if kinds[index] == Kind.USER]


def recorded(codex: Codex, opened: Opened) -> tuple[Session, list[dict[str, Any]]]:
    """A thread of four turns made by Codex itself, and the first request of each turn."""
    first = codex.run(TURNS[0])[:1]
    tools = {tool.get("name") for tool in first[0]["tools"]}
    shell = next(name for name in SHELLS if name in tools)
    key = "cmd" if shell == "exec_command" else "command"
    codex.script.steps[TURNS[1]] = [
        [call(shell, "echo 3 apples", "a1", key=key), call(shell, "echo 4 apples", "a2", key=key)]
    ]
    codex.script.steps[TURNS[2]] = [
        [call(shell, "echo 1 pear", "p1", key=key)],
        [call(shell, "echo 2 pears", "p2", key=key)],
    ]
    (path,) = codex.rollouts()
    first += [codex.resume(path.stem[-36:], turn)[0] for turn in TURNS[1:]]
    return opened("codex", path), first


def test_a_fork_sends_what_its_source_sent_then(codex: Codex, opened: Opened) -> None:
    """Before each prompt of a thread: the same next prompt leads to the same request."""
    session, first = recorded(codex, opened)
    before = sealed(codex)
    asked = prompts(session)
    assert len(asked) == len(TURNS)
    for place in range(1, len(TURNS)):
        made = forked(session, asked[place], "codex", codex)
        assert made.prompt == TURNS[place]
        (sent, *_) = codex.resume(made.draft.id, made.prompt)
        assert history(sent) == history(first[place])
        # Codex adds its own newest settings, if any, right before the prompt; what was there comes first.
        expected = said(session, made.cut.end)
        assert texts(spoken(sent["input"]))[-len(expected) - 1 : -1] == texts(expected)
        assert sealed(codex).items() >= before.items(), "the source was touched"


def test_a_fork_inside_a_turn_goes_on_after_a_set_of_results(codex: Codex, opened: Opened) -> None:
    session, _ = recorded(codex, opened)
    kinds = session.columns.kind
    results = [index for index in session.tree.path(session.leaf) if kinds[index] == Kind.TOOL_RESULT]
    with pytest.raises(Exception, match="1 tool call has no result"):
        forked(session, results[0], "codex", codex)
    for result in results[1:]:
        made = forked(session, result, "codex", codex)
        (sent, *_) = codex.resume(made.draft.id, PROMPT)
        expected = texts(said(session, result))
        assert texts(spoken(sent["input"]))[-len(expected) - 1 :] == [*expected, PROMPT]


def test_what_is_put_in_stands_right_before_the_prompt(codex: Codex, opened: Opened) -> None:
    session, _ = recorded(codex, opened)
    made = forked(session, prompts(session)[-1], "codex", codex, "Mind the pears.")
    (sent, *_) = codex.resume(made.draft.id, PROMPT)
    assert texts(spoken(sent["input"]))[-2:] == ["Mind the pears.", PROMPT]


def test_a_fork_of_a_fork(codex: Codex, opened: Opened) -> None:
    session, first = recorded(codex, opened)
    made = forked(session, prompts(session)[-1], "codex", codex)
    again = opened("codex", made.draft.path)
    twice = forked(again, prompts(again)[-1], "codex", codex)
    (sent, *_) = codex.resume(twice.draft.id, TURNS[2])
    assert history(sent) == history(first[2])


def test_in_another_folder_the_same_is_said(codex: Codex, opened: Opened, tmp_path: Path) -> None:
    session, _ = recorded(codex, opened)
    before = sealed(codex)
    elsewhere = tmp_path / "other orchard"
    elsewhere.mkdir()
    made = forked(session, session.place, "codex", codex, cwd=elsewhere)
    (sent, *_) = codex.resume(made.draft.id, PROMPT, folder=elsewhere)
    expected = texts(said(session, session.place, whole=False))
    said_now = texts(spoken(sent["input"]))
    assert [text for text in said_now if text in set(expected)] == expected
    assert said_now[-1] == PROMPT
    if numbered(codex.version()) > (0, 100):
        # It says by itself that it works elsewhere now.
        assert any(str(elsewhere) in text for text in said_now)
    assert sealed(codex).items() >= before.items()
    again = opened("codex", made.draft.path)
    assert again.cwd == str(elsewhere)


def test_a_compaction_that_is_kept_beside_a_thread_becomes_real(codex: Codex, opened: Opened) -> None:
    session, _ = recorded(codex, opened)
    before = sealed(codex)
    expected = compacted_beside(session)
    made = forked(session, session.place, "codex", codex)
    (sent, *_) = codex.resume(made.draft.id, PROMPT)
    found = texts(spoken(sent["input"]))
    assert in_order([*expected, PROMPT], found)
    assert not any(TURNS[0] == text for text in found)
    assert sealed(codex).items() >= before.items()


@pytest.mark.parametrize("version", ["v0.80.0", "v0.125.0", "v0.169.0"])
def test_stored_threads_and_their_forks_send_the_same(
    codex: Codex, opened: Opened, corpora: Path, version: str
) -> None:
    """Of every thread that was kept: forked at the leaf, it sends what the thread itself sends."""
    if numbered(version) > numbered(codex.version()):
        pytest.skip(f"Codex {codex.version()} does not open every thread of {version}")
    shutil.rmtree(codex.home / "sessions", ignore_errors=True)
    settings = (codex.home / "config.toml").read_text("utf-8")
    shutil.copytree(
        corpora / "codex" / version / ".codex", codex.home, dirs_exist_ok=True, copy_function=shutil.copyfile
    )
    for path in [codex.home, *codex.home.rglob("*")]:
        path.chmod(0o700 if path.is_dir() else 0o600)
    for path in codex.home.glob("state_*.sqlite*"):
        path.unlink()
    (codex.home / "config.toml").write_text(settings, "utf-8")
    agent: Agent = agent_named("codex")
    compared = warnings = 0
    for listing in list(agent.discover((codex.home,), lambda: False, [])):
        for name in listing.files:
            if "archived" in listing.folder:
                continue
            session = opened("codex", Path(listing.folder, name))
            if session.header.get("relation") == "subagent":
                continue
            if not prompts(session):
                continue
            made = forked(session, session.place, "codex", codex, cwd=codex.folder)
            (fork, *_) = codex.resume(made.draft.id, PROMPT)
            (source, *_) = codex.resume(session.id, PROMPT)
            assert history(fork) == history(source), session.path
            # Codex of another version makes what it puts in itself anew; what was said stays.
            expected = texts(said(session, session.place, whole=False))
            sent = texts(spoken(fork["input"]))
            assert [text for text in sent if text in set(expected)] == expected
            # It warns between a call and its result, and sends them in that order.
            between = warned(spoken(source["input"]))
            assert between == warned(said(session, session.place)), session.path
            assert all([kind for kind, _ in one] == ["call", "user", "result"] for one in between)
            warnings += len(between)
            compared += 1
    assert compared >= 4
    assert warnings == (0 if version == "v0.169.0" else 2)


def test_another_agents_session(codex: Codex, opened: Opened) -> None:
    """A session of pi, told to Codex: text, calls and results in their order, then Codex's own context and the prompt."""
    for name in ("branches", "compacted-twice", "edits-and-extras"):
        copy = codex.folder / f"{name}.jsonl"
        head, _, rest = (SESSIONS / f"{name}.jsonl").read_bytes().partition(b"\n")
        copy.write_bytes(json.dumps({**json.loads(head), "cwd": str(codex.folder)}).encode() + b"\n" + rest)
        session = opened("pi", copy)
        made = forked(session, session.place, "codex", codex)
        (sent, *_) = codex.resume(made.draft.id, PROMPT)
        items = spoken(sent["input"])
        past = Conversation(session, made.cut)
        expected: list[str] = []
        for told in past.portable_messages():
            if told.role == "result":
                expected.append(told.call)
            else:
                expected += [
                    str(block["id"] if block["type"] == "toolCall" else block["text"])
                    for block in told.content
                    if block["type"] != "image" and (block["type"] == "toolCall" or block["text"])
                ]
        assert [text for text in texts(items) if text in set(expected)] == expected
        assert items[-1] == ("user", PROMPT)
        # Codex 0.80 says where it works in a new thread only.
        newer = numbered(codex.version()) > (0, 100)
        assert any("<environment_context>" in text for _, text in items) == newer
        listed = text_of(sent["input"][-1])
        assert listed == PROMPT


def test_a_fork_of_the_oldest_rollouts_is_read(codex: Codex, opened: Opened) -> None:
    """Items that were lines by themselves, which no later Codex reads, are what it sends of the fork."""
    session = opened("codex", bare(codex.home).path)
    made = forked(session, session.place, "codex", codex, cwd=codex.folder)
    sent = spoken(history(codex.resume(made.draft.path.stem[-36:], PROMPT)[0]))
    assert in_order(texts(said(session, session.place)), texts(sent))
    assert texts(sent)[-1] == PROMPT
