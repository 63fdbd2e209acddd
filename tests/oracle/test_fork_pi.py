"""The real pi goes on in what `leafward fork` writes: where it ends, the same prompt leads to the same request.

Runs where ``LEAFWARD_PI`` names the folder of an unpacked pi package; skipped elsewhere.
"""

from __future__ import annotations

import dataclasses
import re
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from leafward.agents.conversation import Conversation
from leafward.agents.registry import agent_named
from leafward.session.entries import Kind, text_of
from leafward.session.journal import session_operations
from tests.oracle.forked import fork
from tests.oracle.golden import SESSIONS
from tests.oracle.installed_agents import PI, needs_pi
from tests.oracle.resume import resume

if TYPE_CHECKING:
    from leafward.branches import fork as forking
    from leafward.session.session import Session
    from tests.oracle.resume import Sent

PROMPT = "What comes next?"

pytestmark = [needs_pi]


def forked(session: Session, entry: int, folder: Path, text: str = "") -> forking.Fork:
    """Works in a folder that is here."""
    env = {"PI_CODING_AGENT_DIR": str(folder / "agent"), "HOME": str(folder)}
    return fork(session, entry, env, to="pi", injected=text, cwd=str(folder))


def sent(path: Path) -> list[Sent]:
    messages = resume(Path(PI), path, PROMPT).messages
    # Each time pi works in another folder, and says so.
    return [dataclasses.replace(one, text=re.sub(r"\S*/resume-[^/\s]+/", "/", one.text)) for one in messages]


PLACES = [
    ("branches", 2),
    ("branches", 4),
    ("compacted-twice", 1),
    ("compacted-twice", 4),
    ("edits-and-extras", 2),
    ("version-1", 2),
    ("version-2", 3),
    ("retain-none", 1),
]
"""Sessions, and which of their prompts to begin again from."""


@pytest.mark.parametrize(("name", "number"), PLACES)
def test_a_fork_sends_what_its_source_sends_there(tmp_path: Path, name: str, number: int) -> None:
    """Before a prompt of the active path: as the source does, once its leaf is moved there."""
    copy = tmp_path / "source.jsonl"
    shutil.copy(SESSIONS / f"{name}.jsonl", copy)
    pi = agent_named("pi")
    session = pi.open(copy)
    try:
        kinds = session.columns.kind
        prompts = [index for index in session.tree.path(session.leaf) if kinds[index] == Kind.USER]
        prompt = prompts[min(number, len(prompts) - 1)]
        made = forked(session, prompt, tmp_path)
        assert made.prompt == text_of((session.body(prompt) or {})["message"]["content"])
        session_operations.move(session, session.columns.parent[prompt])
    finally:
        session.close()
    assert sent(made.draft.path) == sent(copy)


def test_a_threads_history_goes_to_pi(tmp_path: Path, corpora: Path) -> None:
    """Codex to pi: every text and every result of the context, in order, and nothing that Codex put in itself."""
    home = tmp_path / ".codex"
    shutil.copytree(corpora / "codex" / "v0.169.0" / ".codex", home, copy_function=shutil.copyfile)
    codex = agent_named("codex")
    compared = 0
    for listing in codex.discover((home,), lambda: False, []):
        for name in sorted(listing.files)[:6]:
            session = codex.open(Path(listing.folder, name))
            try:
                made = forked(session, session.place, tmp_path, "Mind the pears.")
                expected = [
                    "\n".join(str(block["text"]) for block in one.content if block["type"] == "text")
                    for one in Conversation(session, made.cut).portable_messages()
                ]
            finally:
                session.close()
            messages = sent(made.draft.path)
            said = [one.text for one in messages if one.role != "system"]
            wanted = [*expected, "Mind the pears.", PROMPT]
            # pi has words of its own around a summary, and for a result without text.
            assert len(said) == len(wanted)
            assert all(mine in theirs for mine, theirs in zip(wanted, said, strict=True))
            compared += 1
    assert compared >= 4
