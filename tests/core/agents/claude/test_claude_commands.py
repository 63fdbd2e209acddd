"""Commands of Claude Code: one that asks the model for something is a prompt of the person who typed it, on every screen."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from leafward.agents.claude.entries.records import CAVEAT
from leafward.base.config import Config
from leafward.catalogue.listing import Catalogue
from leafward.context.message_columns import message_body
from leafward.context.model_context import context_at
from leafward.session.entries import PROMPTS, EntryIndex, Kind
from leafward.session.headlines.entry_headline import headline
from leafward.session.headlines.session_title import title_of
from leafward.session.messages import as_typed, message_text, messages_of
from leafward.summaries.facts.reader import FactReader
from leafward.summaries.facts.values import FactKind
from tests.claude_transcript import CLAUDE, Transcript

if TYPE_CHECKING:
    from pathlib import Path

    from leafward.session.session import Session


def asked(name: str, words: str = "", message: str = "") -> str:
    """A command as Claude Code stores one that it sends to the model."""
    parts = [
        f"<command-message>{message or name.strip('/')}</command-message>",
        f"<command-name>{name}</command-name>",
    ]
    return "\n".join([*parts, f"<command-args>{words}</command-args>"] if words else parts)


def local(name: str, words: str = "") -> str:
    """A command as Claude Code stores one that it carries out itself."""
    parts = [f"<command-name>{name}</command-name>", f"<command-message>{name[1:]}</command-message>"]
    return "\n            ".join([*parts, f"<command-args>{words}</command-args>"])


def prompts(session: Session) -> list[str]:
    """The rows that count as turns of the person."""
    kinds = session.columns.kind
    return [headline(session, at).text for at in range(len(kinds)) if kinds[at] in PROMPTS]


def test_a_command_that_asks_the_model_is_a_turn_and_one_that_claude_code_does_is_none(
    tmp_path: Path,
) -> None:
    transcript = Transcript(tmp_path)
    transcript.prompt(asked("/review", "the pears"))
    transcript.prompt("Review the fruit: the pears", isMeta=True)
    transcript.reply("Reviewed.")
    for name, words in (("/clear", ""), ("/model", "opus"), ("/compact", "shortly")):
        transcript.prompt(local(name, words))
        transcript.prompt("<local-command-stdout>done</local-command-stdout>")
    transcript.turn("Thanks", "Welcome.")
    transcript.prompt(asked("/workflows:review"))
    transcript.prompt("Review everything.", isMeta=True)
    transcript.reply("Fine.")
    session = transcript.opened()
    assert prompts(session) == ["/review the pears", "Thanks", "/workflows:review"]
    assert headline(session, 0).word == "you"
    assert title_of(session) == "/review the pears"


@pytest.mark.parametrize("begun", ["/mode", "/mode\n"])
def test_the_beginning_of_a_command_is_a_title_only_where_nothing_else_was_asked(
    tmp_path: Path, begun: str
) -> None:
    transcript = Transcript(tmp_path)
    transcript.prompt(begun)
    transcript.prompt("[Request interrupted by user]")
    assert title_of(transcript.opened()) == "/mode"
    transcript.turn("Count the pears", "Seven.")
    catalogue = Catalogue(Config(), [tmp_path], index_path=tmp_path / "index")
    catalogue.refresh()
    assert [card.title for card in catalogue.cards()] == ["Count the pears"]
    assert title_of(transcript.opened()) == "Count the pears"
    (listing,) = CLAUDE.discover((tmp_path,), lambda: False, [])
    look = CLAUDE.peek(listing.candidate(transcript.path.name))
    assert look is not None
    assert look.prompt == "Count the pears"


def test_the_context_holds_a_command_as_it_is_sent(tmp_path: Path) -> None:
    transcript = Transcript(tmp_path)
    text = asked("/review", "the pears")
    transcript.prompt(text)
    transcript.prompt("Review the fruit: the pears", isMeta=True)
    transcript.reply("Reviewed.")
    session = transcript.opened()
    entries = [one.entry for one in context_at(session).messages]
    sent = [
        message_text(message)
        for at in entries
        for message in messages_of(session.body(at) or {}, Kind(session.columns.kind[at]))
    ]
    assert sent == [text, "Review the fruit: the pears", "Reviewed."]


def test_a_command_without_words_is_a_title_only_where_no_prompt_comes(tmp_path: Path) -> None:
    transcript = Transcript(tmp_path)
    transcript.prompt(asked("/init"))
    transcript.prompt("Write a file that says what this is.", isMeta=True)
    transcript.reply("Written.")
    assert titles(transcript, tmp_path / "a") == {"/init"}
    transcript.turn("Count the pears", "Three.")
    assert titles(transcript, tmp_path / "b") == {"Count the pears"}


def titles(transcript: Transcript, index: Path) -> set[str | None]:
    """Title of the session when it is opened, previewed and listed."""
    listing = next(one for one in CLAUDE.discover((transcript.path.parent,), lambda: False, []))
    seen = CLAUDE.peek(listing.candidate(transcript.path.name))
    catalogue = Catalogue(Config(), [transcript.path.parent], index_path=index)
    catalogue.refresh()
    return {
        title_of(transcript.opened()),
        seen.prompt if seen else None,
        *(card.title for card in catalogue.cards()),
    }


def test_what_a_command_means_is_nobody_s_words_where_a_copy_does_not_say_so(tmp_path: Path) -> None:
    """Claude Code 1.0.60 copies a session that it resumes, and leaves out which rows nobody typed."""
    transcript = Transcript(tmp_path)
    transcript.prompt(asked("/review", "the pears", "review is running…"))
    transcript.prompt("Review the fruit: the pears")
    transcript.reply("Reviewed.")
    transcript.turn("Thanks", "Welcome.")
    session = transcript.opened()
    assert prompts(session) == ["/review the pears", "Thanks"]
    assert Kind(session.columns.kind[1]) is Kind.INJECTED


@pytest.mark.parametrize(
    ("text", "kind", "shown"),
    [
        (asked("peel", "gently", 'The "peel" skill is running'), Kind.USER, "/peel gently"),
        (asked("peel", "", 'The "peel" skill is running'), Kind.CUSTOM_MESSAGE, None),
    ],
)
def test_a_skill_without_words_may_have_been_called_by_the_model(
    tmp_path: Path, text: str, kind: Kind, shown: str | None
) -> None:
    transcript = Transcript(tmp_path)
    transcript.turn("Peel it", "Yes.")
    transcript.prompt(text)
    session = transcript.opened()
    assert session.columns.kind[2] == kind
    assert (session.body(2) or {}).get("typed") == shown


def test_a_command_typed_again_after_a_rewind_is_a_branch(tmp_path: Path) -> None:
    transcript = Transcript(tmp_path)
    transcript.turn("Hello", "Hi.")
    at = transcript.tip
    transcript.prompt(asked("/review", "the pears"))
    transcript.reply("Reviewed.")
    transcript.tip = at
    transcript.prompt(asked("/review", "the apples"))
    transcript.reply("Reviewed too.")
    session = transcript.opened()
    assert session.branches == 1
    assert prompts(session) == ["Hello", "/review the pears", "/review the apples"]


def test_facts_of_a_command_are_those_of_its_words(tmp_path: Path) -> None:
    transcript = Transcript(tmp_path)
    transcript.prompt(asked("/implement", "src/pears.py. Never touch src/apples.py."))
    session = transcript.opened()
    message = as_typed(messages_of(session.body(0) or {}, Kind.USER)[0])
    found = FactReader(session.cwd).read(EntryIndex(0), message)
    assert {fact.kind for fact in found} >= {FactKind.PATH, FactKind.CONSTRAINT}
    assert not any("command-" in fact.text for fact in found)


def test_a_prompt_without_words_is_no_title(tmp_path: Path) -> None:
    transcript = Transcript(tmp_path)
    transcript.turn("", "What do you want?")
    transcript.turn("Count the pears", "Three.")
    assert title_of(transcript.opened()) == "Count the pears"


@pytest.mark.parametrize("answer", ["Unknown slash command: nothing", "Unknown skill: nothing"])
@pytest.mark.parametrize("ahead", [0, 3])
def test_the_answer_to_a_command_that_is_not_known_is_no_prompt(
    tmp_path: Path, answer: str, ahead: int
) -> None:
    transcript = Transcript(tmp_path)
    for number in range(ahead):
        transcript.turn(f"Hello {number}", "Hi.")
    note = transcript.prompt(f"{CAVEAT}. Do not answer.", isMeta=True)
    transcript.prompt(answer)
    transcript.tip = note
    transcript.reply("No response requested.")
    transcript.turn("Unknown slashes are fruit", "Yes.")
    session = transcript.opened()
    assert prompts(session) == [*(f"Hello {number}" for number in range(ahead)), "Unknown slashes are fruit"]
    assert session.branches == 0
    sent = [
        message_text(message_body(session, one))
        for one in context_at(session, session.leaf).messages
        if one.sent
    ]
    assert answer not in sent
