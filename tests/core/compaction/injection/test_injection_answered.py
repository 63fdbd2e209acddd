"""An answered request is no objective any more."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from leafward.compaction.injection.injection import inject
from leafward.compaction.injection.values import InjectionSettings
from leafward.context.message_columns import message_body
from leafward.context.model_context import context_at
from leafward.session.session import Session
from leafward.summaries.summarizers.extractive.turns import as_asked, is_answered, turns_of
from leafward.summaries.survival.spans import SpanMessage
from tests.acting import Acting, call
from tests.claude_transcript import Transcript
from tests.codex_rollout import Rollout
from tests.opencode_store import Conversation, Database, opened, said
from tests.opencode_store import call as call_of_opencode
from tests.pi_file import PiFile

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


def injected(file: Acting) -> str:
    with closing(Session.open(file.path)) as session:
        return inject(session, session.leaf, InjectionSettings()).text


@pytest.fixture
def file(tmp_path: Path) -> Acting:
    made = Acting(tmp_path / "s.jsonl")
    made.user("Write the release note for the queue, with the numbers of the last run.")
    return made


OBJECTIVE = "The user's last request: Write the release note for the queue"
ANSWERED = "The user's last request got its reply"


def test_what_is_under_way_is_the_objective(file: Acting) -> None:
    file.said("I look at the numbers first.", call("read", "r", path="run.txt"))
    file.answered("r", "read", "34 passed")
    text = injected(file)
    assert OBJECTIVE in text
    assert ANSWERED not in text


def test_what_was_answered_is_none(file: Acting) -> None:
    file.said("The note is written: 34 tests pass.")
    text = injected(file)
    assert OBJECTIVE not in text
    assert "Primary Objective" not in text
    assert ANSWERED in text


@pytest.mark.parametrize("reply", ["Which run do you mean?", "**Shall I name the failures as well?**"])
def test_a_question_back_is_no_answer(file: Acting, reply: str) -> None:
    file.said(reply)
    assert OBJECTIVE in injected(file)


def test_the_next_request_is_open_again(file: Acting) -> None:
    file.said("The note is written: 34 tests pass.")
    file.user("Now port the parser of the leases to the new grammar.")
    assert "The user's last request: Now port the parser" in injected(file)


def test_a_reply_that_is_only_begun_changes_nothing(file: Acting) -> None:
    """opencode stores an empty reply for its own summary before it asks its plugins (1.18.33)."""
    file.said("The note is written: 34 tests pass.")
    answered = injected(file)
    file.said("")
    assert injected(file) == answered


REQUEST = "Water the elm every second day of the summer."


@pytest.mark.parametrize("queued", [False, True], ids=["behind a command", "while the agent worked"])
def test_what_was_typed_another_way_is_a_request_too(tmp_path: Path, *, queued: bool) -> None:
    transcript = Transcript(tmp_path)
    transcript.turn("plant the elm", "Planted.")
    if queued:
        transcript.row("attachment", attachment={"type": "queued_command", "prompt": REQUEST})
    else:
        transcript.prompt(
            "<command-message>do</command-message>\n<command-name>/do</command-name>\n"
            f"<command-args>{REQUEST}</command-args>"
        )
    transcript.call("Bash", "c1", command="ls")
    transcript.result("c1")
    session = transcript.opened()
    text = inject(session, session.leaf, InjectionSettings()).text
    assert f"The user's last request: {REQUEST}" in text


def test_a_question_back_waits_for_the_user(file: Acting) -> None:
    """Nobody goes on with a request while the model waits for an answer."""
    file.said("I see two runs.\nWhich of them do you mean?")
    text = injected(file)
    assert "The model asked, and the user has not answered yet: Which of them do you mean?" in text
    assert "Go on with the user's last request" not in text


def test_what_was_done_is_answered_whatever_is_offered_behind_it(file: Acting) -> None:
    file.said("All review threads addressed. No open threads remaining. Shall I mark it as ready?")
    text = injected(file)
    assert "Primary Objective" not in text
    assert "the user has not answered yet: Shall I mark it as ready?" in text


def test_the_answer_to_a_question_is_the_request(file: Acting) -> None:
    file.said("The note is written. Shall I port the parser as well?")
    file.user("yes, do that")
    assert "The user's last request: yes, do that (asked: Shall I port the parser as well?)" in injected(file)


def test_a_few_words_are_a_request_where_the_one_before_was_answered(file: Acting) -> None:
    file.said("The note is written: 34 tests pass.")
    file.user("commit this")
    text = injected(file)
    assert "The user's last request: commit this" in text
    assert OBJECTIVE not in text


def test_what_was_said_instead_of_allowing_a_call_is_a_request(file: Acting) -> None:
    said = "Leave the note alone and port the parser of the leases first."
    refusal = (
        "The user doesn't want to proceed with this tool use. To tell you how to proceed, the user said:\n"
    )
    file.said("I write the note.", call("write", "w", path="note.md", content="34 pass"))
    file.answered("w", "write", refusal + said, failed=True)
    text = injected(file)
    assert f"The user's last request: {said}" in text
    assert OBJECTIVE not in text


def test_who_says_to_go_on_wants_what_is_under_way(file: Acting) -> None:
    file.said("I look at the numbers first.", call("read", "r", path="run.txt"))
    file.answered("r", "read", "34 passed")
    file.user("go on")
    assert OBJECTIVE in injected(file)


def test_who_says_to_go_on_after_an_answer_says_with_what_only_together_with_it(file: Acting) -> None:
    file.said("The first part of the note is written.")
    file.user("continue")
    assert "The user's last request: continue (before it: Write the release note" in injected(file)


def test_a_command_without_words_is_a_request(tmp_path: Path) -> None:
    transcript = Transcript(tmp_path)
    transcript.turn("plant the elm behind the old orchard wall", "Planted.")
    transcript.prompt(
        "<command-message>water-the-elm</command-message>\n<command-name>/water-the-elm</command-name>"
    )
    transcript.call("Bash", "c1", command="ls")
    transcript.result("c1")
    session = transcript.opened()
    text = inject(session, session.leaf, InjectionSettings()).text
    assert "The user's last request: /water-the-elm" in text
    assert "plant the elm" not in text


def run_in_pi(folder: Path) -> Session:
    file = PiFile(folder / "s.jsonl")
    file.user(REQUEST)
    file.reply("It is watered.")
    ran = {"role": "bashExecution", "command": "ls", "output": "elm", "exitCode": 0}
    file.entry("message", message={**ran, "cancelled": False, "truncated": False})
    return Session.open(file.path)


def run_in_codex(folder: Path) -> Session:
    rollout = Rollout(folder)
    rollout.turn(REQUEST, "It is watered.")
    rollout.said(
        "<user_shell_command>\n<command>\nls\n</command>\n<result>\nelm\n</result>\n</user_shell_command>"
    )
    return rollout.opened()


def run_in_claude(folder: Path) -> Session:
    transcript = Transcript(folder)
    transcript.turn(REQUEST, "It is watered.")
    transcript.prompt("<bash-input>ls</bash-input>")
    transcript.prompt("<bash-stdout>elm</bash-stdout><bash-stderr></bash-stderr>")
    return transcript.opened()


def run_in_opencode(folder: Path) -> Session:
    talk = Conversation()
    talk.ask(REQUEST)
    talk.reply(said("It is watered."))
    talk.message("user", [said("The following tool was executed by the user", synthetic=True)])
    talk.reply(call_of_opencode("bash", "elm", command="ls"))
    return opened(Database(folder).write(talk))


@pytest.mark.parametrize("ran", [run_in_pi, run_in_codex, run_in_claude, run_in_opencode])
def test_a_command_of_the_users_opens_no_answered_request_again(
    tmp_path: Path, ran: Callable[[Path], Session]
) -> None:
    session = ran(tmp_path)
    text = inject(session, session.leaf, InjectionSettings()).text
    assert ANSWERED in text
    assert "Primary Objective" not in text
    messages = [
        SpanMessage(one.entry, message_body(session, one))
        for one in context_at(session, session.leaf).messages
    ]
    (turn,) = turns_of([one._replace(message=as_asked(one.message)) for one in messages])
    assert is_answered(turn)
    session.close()


def test_the_model_goes_on_with_a_request_behind_a_command_of_the_users(tmp_path: Path) -> None:
    talk = Conversation()
    talk.ask(REQUEST)
    talk.message("user", [said("The following tool was executed by the user", synthetic=True)])
    talk.reply(call_of_opencode("bash", "elm", command="ls"))
    talk.reply(call_of_opencode("bash", "wet", command="water elm"))
    session = opened(Database(tmp_path).write(talk))
    text = inject(session, session.leaf, InjectionSettings()).text
    assert f"The user's last request: {REQUEST}" in text
