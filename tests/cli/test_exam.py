"""`leafward exam`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from leafward.cli.verbs import exam as exam_verb
from leafward.compaction.exam.answers import Answer
from leafward.compaction.exam.questions import Question, Topic
from leafward.compaction.exam.sitting import ExamAnswers, marked, sit
from leafward.session.entries import EntryIndex
from leafward.summaries.facts.values import Fact, FactKind, Voice
from tests.acting import Acting, call
from tests.core.linear_time import in_linear_time
from tests.model_endpoint import Endpoint, Reply
from tests.model_requests import MARKS

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Run


def asks_a_model(test: Any) -> Any:
    for mark in (pytest.mark.slow, *MARKS):
        test = mark(test)
    return test


@pytest.fixture
def file(tmp_path: Path) -> Acting:
    """Two files changed, tests run, two compactions in a row."""
    made = Acting(tmp_path / "s.jsonl")
    made.user("Build the queue for the shop first.")
    for number, name in enumerate(("src/queue.py", "src/\x1b[31mstore.py")):
        made.said(call("write", f"w{number}", path=name, content="a = 1\n"))
        made.answered(f"w{number}", "write")
    made.said(call("bash", "b", command="python -m pytest tests/test_queue.py"))
    made.answered("b", "bash", "")
    made.said(call("bash", "t", command="python -m pytest -q"))
    made.answered("t", "bash", "2 passed in 0.1s")
    made.compacted(made.user("go on"), "The tests run with `python -m pytest -q`.")
    return made


def test_the_document(file: Acting, done: Run) -> None:
    found = done("exam", file.path, "--json").document
    assert (found["answered"], found["asked"], found["share"]) == (1, 2, 0.5)
    assert found["topics"] == {
        "last file": {"answered": 0, "asked": 1, "unreadable": 0},
        "tests": {"answered": 1, "asked": 1, "unreadable": 0},
    }
    assert found["unreadable"] == 0
    last, tests = found["questions"]
    assert last["answers"][last["right"]] == "src/␛[31mstore.py"
    assert (tests["topic"], tests["place"]) == ("tests", "summary")


def test_what_people_read(file: Acting, done: Run) -> None:
    lines = done("exam", file.path).out.splitlines()
    assert lines[0].endswith("1 of 2 questions can be answered from what the model sees afterwards")
    assert any(
        "✗ Which of these files was changed last before the cut?  no answer in the context" in line
        for line in lines
    )
    assert any("→ python -m pytest -q" in line for line in lines)


def test_beside_another(file: Acting, done: Run) -> None:
    first = done("exam", file.path, "--json").document["compaction"]
    file.user("more")
    file.compacted(file.user("go on"), "nothing")
    found = done("exam", file.path, "--against", first, "--json").document
    assert (found["asked"], found["against"]["compaction"]) == (0, first)
    lines = done("exam", file.path, "--against", first).out.splitlines()
    assert "nothing to ask" in lines[0]
    head = lines.index("") + 1
    assert lines[head].split() == [found["compaction"], first], "each column says whose it is"
    assert lines[head + 1].split() == ["last", "file", "not", "asked", "0", "of", "1"]


def test_a_draft_has_its_exam(file: Acting, done: Run) -> None:
    file.user("and then?")
    file.said("That is all.")
    file.user("go on")
    draft = done("compact", file.path, "--keep-recent", "0", "--dry-run", "--json").document
    assert draft["exam"].keys() >= {"answered", "asked", "questions"}


def test_what_is_no_compaction(file: Acting, run: Run) -> None:
    outcome = run("exam", file.path, "#1")
    assert outcome.code
    assert "is not a compaction" in outcome.err


def asked(endpoint: Endpoint) -> tuple[str, ...]:
    return ("--model", "openai/scripted", "--base-url", endpoint.base_url)


@asks_a_model
def test_a_model_sits_it(file: Acting, run: Run, endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    before = file.path.read_bytes()
    shown = run("exam", file.path, *asked(endpoint), "--dry-run", "--json")
    assert (shown.code, endpoint.asked, file.path.read_bytes()) == (0, [], before)
    questions = shown.document["questions"]
    right = [one["right"] for one in questions]
    endpoint.script = [Reply(f"1 {'ABCD'[right[0]]}\n2 -")]
    outcome = run("exam", file.path, *asked(endpoint), "--json")
    assert outcome.code == 0, outcome.err
    assert outcome.err.startswith("leafward: sending ")
    (sent,) = endpoint.asked
    assert [sent.prompt] == [request["prompt"] for request in shown.document["outgoing"]["requests"]]
    assert "python -m pytest -q`." in sent.prompt, "it sees the summary"
    assert "a = 1" not in sent.prompt, "and nothing of what was replaced"
    result = outcome.document["model"]
    assert (result["right"], result["asked"], result["answers"]) == (1, 2, [right[0], None])
    assert (result["cost"], result["usage"]["cost"]) == (None, None)
    assert file.path.read_bytes().startswith(before)
    kept = run("exam", file.path, "--json").document["models"]
    assert [(one["model"], one["right"]) for one in kept] == [("openai/scripted", 1)]
    assert "openai/scripted answered 1 of 2 questions right" in run("exam", file.path).out
    assert run("log", file.path, "--json").document["ops"] == []
    assert run("tree", file.path).code == 0


@asks_a_model
def test_a_secret_that_only_the_replaced_messages_name_is_not_sent(
    tmp_path: Path, run: Run, endpoint: Endpoint
) -> None:
    secret = "q8ZtR4mLw2Pn6Vd9"
    made = Acting(tmp_path / "s.jsonl")
    made.user(f"The admin password is {secret}. Build the queue.")
    for name in ("src/queue.py", f"src/{secret}/store.py"):
        made.said(call("write", name, path=name, content="a = 1\n"))
        made.answered(name, "write")
    made.compacted(made.user("go on"), f"It is kept in src/{secret}.")
    shown = run("exam", made.path, *asked(endpoint), "--dry-run", "--json")
    (request,) = shown.document["outgoing"]["requests"]
    assert "store.py" in request["prompt"]
    assert secret not in request["prompt"]


@asks_a_model
def test_the_answers_of_two_models_stand_side_by_side(
    file: Acting, run: Run, endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    first = run("exam", file.path, "--json").document["questions"][0]
    wrong = (first["right"] + 1) % len(first["answers"])
    printed = []
    for model, answer in (("openai/one", first["right"]), ("openai/two", wrong)):
        endpoint.script = [Reply(f"1 {'ABCD'[answer]}\n2 -")]
        outcome = run("exam", file.path, "--model", model, "--base-url", endpoint.base_url)
        assert outcome.code == 0, outcome.err
        printed.append(outcome.out)
    # The second shows the first one's answers too.
    for text in (printed[-1], run("exam", file.path).out):
        lines = text.split("\n")
        (right,) = (line for line in lines if "answer of openai/one" in line)
        (other,) = (line for line in lines if "answer of openai/two" in line)
        assert first["answers"][first["right"]][:20] in right
        assert first["answers"][wrong][:20] in other
    kept = run("exam", file.path, "--json").document["models"]
    assert [(one["model"], one["answers"][0]) for one in kept] == [
        ("openai/one", first["right"]),
        ("openai/two", wrong),
    ]


@asks_a_model
@pytest.mark.parametrize(
    "reply", [Reply(finish="length"), Reply("## Goal\n- Port the parser."), Reply("Sorry.")]
)
def test_a_model_that_fails_leaves_nothing(
    file: Acting, run: Run, endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch, reply: Reply
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    before = file.path.read_bytes()
    endpoint.script = [reply] * 9
    outcome = run("exam", file.path, *asked(endpoint))
    assert outcome.code
    assert "(1,500 tokens spent, price not known)" in outcome.err
    assert file.path.read_bytes() == before


@asks_a_model
def test_a_long_answer_is_graded_and_not_asked_for_again(
    file: Acting, run: Run, endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    right = [one["right"] for one in run("exam", file.path, "--json").document["questions"]]
    letters = "".join(f"{number} {'ABCD'[one]}\n" for number, one in enumerate(right, 1))
    endpoint.script = [Reply(f"{letters}\nIn the text stands {'that and then ' * 100}"), Reply("Sorry.")]
    outcome = run("exam", file.path, *asked(endpoint), "--json")
    assert (outcome.code, len(endpoint.asked)) == (0, 1), outcome.err
    assert outcome.document["model"]["right"] == 2


@asks_a_model
def test_a_part_of_the_context_is_no_exam(
    file: Acting, run: Run, endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    before = file.path.read_bytes()
    endpoint.script = [Reply(status=400, code="context_length_exceeded", error="too long"), Reply("1 A\n2 A")]
    outcome = run("exam", file.path, *asked(endpoint))
    assert (outcome.code, len(endpoint.asked), file.path.read_bytes()) == (1, 1, before)
    assert "the request is longer than the window of openai/scripted" in outcome.err


@asks_a_model
@pytest.mark.parametrize("keeps", [True, False])
def test_answers_to_a_session_that_grew_meanwhile_are_kept_or_at_least_shown(
    file: Acting, run: Run, endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch, keeps: bool
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    right = run("exam", file.path, "--json").document["questions"][0]["right"]
    endpoint.script = [Reply(f"1 {'ABCD'[right]}\n2 -")] * 2

    def meanwhile(*asked: Any) -> ExamAnswers:
        answers = sit(*asked)
        file.user("and then?")
        if not keeps:
            file.path.chmod(0o400)
        return answers

    monkeypatch.setattr(exam_verb, "sit", meanwhile)
    outcome = run("exam", file.path, *asked(endpoint))
    assert "openai/scripted answered 1 of 2 questions right" in outcome.out
    assert outcome.code == (0 if keeps else 1), outcome.err
    assert ("the answers are not kept: " in outcome.err) is not keeps
    kept = run("exam", file.path, "--json").document["models"]
    assert [one["right"] for one in kept] == [1] * keeps


def test_a_context_beyond_the_window_is_not_sent(file: Acting, run: Run) -> None:
    # Ollama would cut it without a word.
    for name in ("src/a.py", "src/b.py"):
        file.said(call("write", name, path=name, content="a = 1\n"))
        file.answered(name, "write")
    file.compacted(file.user("go on"), "The tests run with `python -m pytest -q`.\n" * 2_000)
    outcome = run("exam", file.path, "--model", "ollama/scripted", "--dry-run")
    assert outcome.code == 1
    assert "the window of ollama/scripted is 8,192" in outcome.err


@pytest.mark.parametrize(
    ("answer", "gives"),
    [
        ("1 A\n2 B", [0, 1]),
        ("1. b\n2) (A)", [1, 0]),
        ("**1 A**\n2: -", [0, None]),
        ("1 A\n1 B\n2 D", [None, None]),
        ("I think A for the first.", [None, None]),
        ("2 B\n3 A", [None, 1]),
        # The layouts that models like, with the text of the answer behind the letter.
        ("1. **A**\n2. `B`", [0, 1]),
        ("| 1 | A |\n| 2 | (B) |", [0, 1]),
        ("Q1: A\r\nQuestion 2 → B\r\n", [0, 1]),
        ("1 A src/A.py\n2) B – `./src/b.py`.", [0, 1]),
        ('- 1 - B ("src/b.py")\n- 2 - **-**', [1, None]),
        # What may name another answer chooses none.
        ("1 A file was changed\n2 A or B", [None, None]),
        ("1 A, B\n2 A (src/b.py)", [None, None]),
        ("1 A\n1 B because of the summary", [0, None]),
        ("1 A-B\n2 a", [None, 0]),
        ("(1) A\n(2) - b", [0, 1]),
        ("1. Answer: A\n2. **The answer is B**", [0, 1]),
        ("1 A, 2 B", [0, 1]),
        ("**1: A**; (2) B", [0, 1]),
        ('{"1": "A", "2": "B"}', [0, 1]),
        ('```json\n{\n  "1": "B",\n  "2": "A"\n}\n```', [1, 0]),
        ("1 A, 2 of them", [None, None]),
    ],
)
def test_one_letter_a_question(answer: str, gives: list[int | None]) -> None:
    one = a_question()
    assert [mark.answer for mark in marked([one, one], answer)] == gives


def test_an_answer_of_very_many_pieces() -> None:
    with in_linear_time():
        assert marked([a_question()], "1 A, " * 50_000 + "1 Answer: ( " * 50_000)[0].answer == 0


def test_an_answer_of_very_many_blank_lines() -> None:
    with in_linear_time():
        assert [
            mark.answer for mark in marked([a_question()], "\n" * 100_000 + "  1 B" + "\n" * 100_000)
        ] == [1]


def test_a_letter_alone_answers_an_only_question() -> None:
    one = a_question()
    assert [marked([one], text)[0].answer for text in ("B", " **a**.\n", "B or A")] == [1, 0, None]
    assert [mark.answer for mark in marked([one, one], "B")] == [None, None]


def a_question() -> Question:
    fact = Fact(FactKind.PATH, "a", "a", EntryIndex(0), Voice.USER)
    answers = (Answer("src/a.py", fact), Answer("src/b.py", fact))
    return Question(Topic.CHANGED_LAST, "?", answers, 0, EntryIndex(0))


def test_options_that_exclude_each_other(file: Acting, run: Run) -> None:
    for options in (("--dry-run",), ("--base-url", "http://localhost:1"), ("--model", "extractive")):
        assert run("exam", file.path, *options).code == 2


def test_what_only_an_encrypted_summary_can_answer_is_counted_apart(
    corpora: Path, tmp_path: Path, done: Run
) -> None:
    (real,) = (corpora / "real" / "codex").glob("jdx__mise__*.jsonl")
    path = tmp_path / real.name
    path.write_bytes(real.read_bytes())
    found = done("exam", path, "--json").document
    assert (found["answered"], found["asked"], found["unreadable"], found["share"]) == (0, 6, 6, None)
    assert {one["place"] for one in found["questions"]} == {"unreadable"}
    assert sum(one["unreadable"] for one in found["topics"].values()) == 6
    lines = done("exam", path).out.splitlines()
    assert " ".join(" ".join(lines[:2]).split()).endswith(
        "0 of 6 questions can be answered from what is readable; 6 unreadable: the summary is encrypted"
    )
    assert sum(line.startswith("? ") for line in lines) == 6
    index = found["compaction"]
    both = done("exam", path, index, "--against", index).out
    assert "0 of 1, 1 unreadable" in both


def test_a_dry_run_says_that_a_model_has_no_provider(file: Acting, run: Run) -> None:
    said = run("exam", file.path, "--model", "nosuch", "--dry-run").err
    assert "no provider of nosuch is known; name it provider/model" in said
    assert "no provider" not in run("exam", file.path, "--model", "local/scripted", "--dry-run").err
