from __future__ import annotations

import re
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leafward.base.emphasis import without_emphasis
from leafward.session.entries import EntryIndex
from leafward.summaries.facts.calls.printed_errors import printed_errors
from leafward.summaries.facts.forms import forms
from leafward.summaries.facts.forms.words import Words
from leafward.summaries.facts.reader import FactReader
from leafward.summaries.facts.sentences import prose
from leafward.summaries.facts.sentences.negation import negated, sentence_key
from leafward.summaries.facts.values import Fact, FactKind, Sighting, Voice, gather
from tests.core.told import FOLDER, reply, result, user


def facts_of(*messages: dict[str, Any]) -> list[Fact]:
    reader = FactReader(FOLDER)
    seen: list[Sighting] = []
    for place, message in enumerate(messages):
        seen += reader.read(EntryIndex(place), message)
    return gather(seen)


def keys(kind: FactKind, *messages: dict[str, Any]) -> list[str]:
    return [fact.key for fact in facts_of(*messages) if fact.kind is kind]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("look at src/app.py, please", ["src/app.py"]),
        (f"see {FOLDER}/src/app.py:12:3", ["src/app.py"]),
        ("@docs/plan.md and `setup.cfg`", ["docs/plan.md", "setup.cfg"]),
        ("请看src/main.ts文件", ["src/main.ts"]),
        ("./tools/run and ../other/x.rs", ["tools/run", "../other/x.rs"]),
        ("a.ts(16,58): error", []),
        ("src/a.ts(16,58): error", ["src/a.ts"]),
        ("main.ts/app.ts both", ["main.ts", "app.ts"]),
        ("C:\\work\\a.py", ["C:/work/a.py"]),
        (
            "'/var/folders/T/Picture 2026-01-02 at 01.27.21.png' why?",
            ["/var/folders/T/Picture 2026-01-02 at 01.27.21.png"],
        ),
        (f"- `{FOLDER}/old plums/a b.md`", ["old plums/a b.md"]),
        ("open ~/My\\ Files/old\\ notes.md now", ["~/My Files/old notes.md"]),
        ("/var/folders/T/Picture 1 at 2.png", ["/var/folders/T/Picture 1 at 2.png"]),
        (
            "run '/usr/bin/python3 x1.py' and '/opt/a/run.sh b1.txt'",
            ["/usr/bin/python3", "x1.py", "/opt/a/run.sh", "b1.txt"],
        ),
        ("see '/opt/a/plum.md /opt/b/pear.md'", ["/opt/a/plum.md", "/opt/b/pear.md"]),
        ("it's in /opt/a/x1 and that's /opt/b c.md", ["/opt/a/x1", "/opt/b"]),
        (f"[docs/well.md]({FOLDER}/docs/well.md:12) says", ["docs/well.md"]),
        ("cp a/well.yml a/well.yml.backup-$(date +%s)", ["a/well.yml"]),
        ("read/write, and/or, 1/2, e.g. this, v1.2.3", []),
        ("make 2>/dev/null, /.../view/index.d.ts and src/.../a.ts", []),
        ("~/{CONFIG_DIR}/agent/AGENTS.md and rename a/{ => modes/inner}/theme/dark.json (100%)", []),
        ("https://example.org/a/b.html", []),
        ("Node.js calls console.log and reads process.env, src/Node.js is a file", ["src/Node.js"]),
    ],
)
def test_paths_are_found_in_prose(text: str, found: list[str]) -> None:
    assert keys(FactKind.PATH, user(text)) == found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("885 lines, 20,000 tokens and 20k tokens", ["885 line", "20000 token"]),
        ("took 1.5s, then 300 ms; 75%", ["1.5 s", "300 ms", "75 %"]),
        ("it costs $0.12", ["$0.12"]),
        ("on port 8080, timeout = 30", ["port 8080", "timeout 30"]),
        ("in 2024, step 3, a1b2", []),
    ],
)
def test_numbers_carry_a_unit_and_compare_by_value(text: str, found: list[str]) -> None:
    assert sorted(keys(FactKind.NUMBER, user(text))) == sorted(found)


def test_an_escape_in_a_string_is_no_part_of_a_name() -> None:
    words = [r'say("done\nFailed', r"to", r'loadConfig\tretryLater")']
    found = [form.text for word in words for form in forms.identifiers_in(word, True)]
    assert found == ["loadConfig", "retryLater"]


@pytest.mark.parametrize(
    ("text", "first"),
    [
        (
            "Das braucht eine Freigabe bzw. Änderung des Plans. Sonst nichts.",
            "Das braucht eine Freigabe bzw. Änderung des Plans.",
        ),
        ("Für den 27.08. würde ich nichts ändern. Danach schon.", "Für den 27.08. würde ich nichts ändern."),
        (
            "Das gilt z. B. für Birnen, d. h. für alle. Äpfel nicht.",
            "Das gilt z. B. für Birnen, d. h. für alle.",
        ),
        ("It is version 3. Then it goes on.", "It is version 3."),
        (
            "Build it by `cmake -S . -B out`, then go on. So be it.",
            "Build it by `cmake -S . -B out`, then go on.",
        ),
        ("Bramy (np. ta w sadzie) są otwarte. Koniec.", "Bramy (np. ta w sadzie) są otwarte."),
        ("One ` stands alone here. Then it goes on.", "One ` stands alone here."),
    ],
)
def test_an_abbreviation_a_date_or_code_ends_no_sentence(text: str, first: str) -> None:
    assert next(prose.sentences(text)) == first


def test_the_dash_behind_an_address_is_no_part_of_it() -> None:
    assert [form.key for form in forms.urls("https://x.org/runs/12/job/9-- fix it")] == [
        "https://x.org/runs/12/job/9"
    ]
    assert [form.key for form in forms.urls("https://x.org/v/aB3-")] == ["https://x.org/v/aB3-"]


def test_the_options_of_a_program_are_no_names() -> None:
    text = "grep -rliE orchard; curl -fsSL x; tsc --noEmit; pwsh -NoProfile -c loadOrchard"
    found = [form.key for word in text.split() for form in forms.identifiers_in(word.strip(";"), False)]
    assert found == ["loadOrchard"]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ('rg -n crate "果园/谷仓/src/a.h" -g x', ["果园/谷仓/src/a.h"]),
        ("cat '果园\\src\\a.h'", ["果园/src/a.h"]),
        ("M 果园/src/a.h\nA 谷仓/b.h", ["果园/src/a.h", "谷仓/b.h"]),
        ("修改了src/a.py和`谷仓/src/b.md`。", ["src/a.py", "谷仓/src/b.md"]),
        ("in été/src/a.py and сад/src/b.py", ["été/src/a.py", "сад/src/b.py"]),
        # Where such a path begins nothing tells.
        ("打开果园/src/a.h看看", []),
        ('rg "果 园/src/a.h"', []),
    ],
)
def test_folders_in_any_script_belong_to_a_path(text: str, found: list[str]) -> None:
    """Fails where a path is told without the folders before the first one in ASCII."""
    assert [one.key for one in forms.paths(text, FOLDER)] == found


def test_the_home_of_the_folder_is_known() -> None:
    """Fails where `~/orchard/a.py` and `a.py` are two files."""
    folder = "/home/ann/orchard"
    assert forms.canonical_path("~/orchard/src/a.py", folder) == "src/a.py"
    assert forms.canonical_path("~/orchard", folder) == "."
    assert forms.canonical_path("~/orchards/a.py", folder) == "~/orchards/a.py"
    assert forms.canonical_path("~/orchard/a.py", "/srv/orchard") == "~/orchard/a.py"


def test_folders_of_windows_are_one_path_also_in_json() -> None:
    text = r'{"file": "C:\\dev\\my_orchard\\src\\tree.py", "root": "C:\\dev\\my_orchard", "in": "loadTree"}'
    read = Words(r"C:\dev\my_orchard", relative=True, calls=True, names=True).read(text)
    assert [[form.key for form in some] for some in read] == [["src/tree.py"], ["loadTree"]]


def test_identifiers_are_names_no_prose_holds() -> None:
    text = "Rename fooBar to `foo_bar`, call setModel(), see #123, 1a2b3c4d, --no-verify, gpt-4o; JavaScript is fine."
    assert keys(FactKind.IDENTIFIER, user(text)) == [
        "fooBar",
        "foo_bar",
        "setModel",
        "#123",
        "1a2b3c4",
        "--no-verify",
        "gpt-4o",
    ]


def test_a_command_knows_how_it_ended_last() -> None:
    def run(key: str) -> tuple[str, str, dict[str, Any]]:
        return key, "bash", {"command": f"cd {FOLDER} && npm run check 2>&1 | tail -20"}

    (fact,) = [
        fact
        for fact in facts_of(
            reply("", run("a")),
            result(
                "a",
                "src/a.ts(3,4): error TS2304: Cannot find name 'x'.\nCommand exited with code 2",
                failed=True,
            ),
            reply("", run("b")),
            result("b", "all good"),
            reply("", run("c")),
            result("c", "Command aborted", failed=True),
        )
        if fact.kind is FactKind.COMMAND
    ]
    assert (fact.key, fact.outcome, fact.count) == ("npm run check", "exit 0", 3)


def test_an_error_is_the_same_wherever_it_stands() -> None:
    messages = [
        reply("", ("a", "bash", {"command": "tsc"})),
        result("a", "src/a.ts(3,4): error TS2304: Cannot find name 'x'.", failed=True),
        reply("", ("b", "bash", {"command": "tsc"})),
        result("b", "src/a.ts(90,1): error TS2304: Cannot find name 'x'.", failed=True),
    ]
    assert len(keys(FactKind.ERROR, *messages)) == 1


def test_a_row_that_passed_is_no_error_of_a_list_in_which_another_failed() -> None:
    rows = "build\tpass\t2m\thttps://ci.test/1\nlint\tfail\t3m\thttps://ci.test/2\nunit\tpass\t6m\thttps://ci.test/3"
    reader = FactReader(FOLDER)
    reader.read(EntryIndex(0), reply("", ("a", "bash", {"command": "gh pr checks 7"})))
    seen = reader.read(EntryIndex(1), result("a", rows, failed=True))
    assert [one.text for one in seen if one.kind is FactKind.ERROR] == ["lint\tfail\t3m\thttps://ci.test/2"]


CHECKS = "lint\tfail\t5m24s\thttps://ci/1\ntest-ci\tfail\t2s\t\nbuild\tskipping\t0\t\nwindows-unit\tpass\t6m16s\thttps://ci/2"


@pytest.mark.parametrize(
    ("printed", "found"),
    [
        (CHECKS, ["lint\tfail\t5m24s\thttps://ci/1", "test-ci\tfail\t2s\t"]),
        ("lint      pass     5m24s\nunit      pending  0", []),
        ("test queue::first ... ok\n5 passed", []),
        ("12 passing\nthe server hung up", ["the server hung up"]),
        ("3 tests passed, 1 failed", ["3 tests passed, 1 failed"]),
        ("You have to pass --force", ["You have to pass --force"]),
        ("ok  \tgithub.com/ada/orchard\t0.3s\nexit status 1", ["exit status 1"]),
        (
            "# orchard.dev/cli\ncmd/cli/explain.go:12:3: undefined: json\n?   \torchard.dev/cli\t[no test files]\nFAIL",
            ["cmd/cli/explain.go:12:3: undefined: json"],
        ),
        (
            "src/a.go:3:1: warning: it is long\n?   \torchard.dev/cli\t[no test files]",
            ["src/a.go:3:1: warning: it is long"],
        ),
    ],
)
def test_what_passed_is_no_error_however_the_call_ended(printed: str, found: list[str]) -> None:
    assert list(printed_errors(printed, failed=True)) == found


@pytest.mark.parametrize(
    "frame",
    [
        "error: test failed, to rerun pass `--bin orchard`",
        "error: could not compile `orchard` (lib) due to 2 previous errors",
        "[test] ERROR task failed",
        'error: script "lint" exited with code 1',
        "make: *** [Makefile:8: check] Error 2",
        "FAIL",
    ],
)
def test_what_a_runner_says_whatever_failed_is_no_error_of_its_own(frame: str) -> None:
    """Two runs that failed for different reasons made no error twice."""
    said = "queue_test.go:9: the queue is empty"
    assert list(printed_errors(f"{said}\n{frame}\n", failed=True)) == [said]
    assert list(printed_errors(f"E   AssertionError: {said}\n{frame}", failed=True)) == [
        f"E   AssertionError: {said}"
    ]


def test_what_is_an_error_by_its_name_is_no_identifier_as_well() -> None:
    messages = [
        user("load_config ends with a ConnectionResetError"),
        reply("`ConnectionResetError` again, so ECONNREFUSED is no longer what load_config gets"),
    ]
    assert keys(FactKind.IDENTIFIER, *messages) == ["load_config"]
    errors = [fact.text for fact in facts_of(*messages) if fact.kind is FactKind.ERROR]
    assert errors == ["ConnectionResetError", "ECONNREFUSED"]


def test_what_a_read_file_holds_is_no_fact() -> None:
    messages = [
        reply("", ("a", "read", {"path": "src/a.py"})),
        result("a", "class FooBar: ...  # 300 lines, see other/b.py"),
    ]
    assert keys(FactKind.IDENTIFIER, *messages) == []
    assert keys(FactKind.PATH, *messages) == ["src/a.py"]


def test_a_path_told_short_is_the_one_file_it_ends() -> None:
    messages = [
        reply(
            "I edit app.py now",
            ("a", "edit", {"path": f"{FOLDER}/src/app.py", "oldText": "a", "newText": "b"}),
        ),
        user("and src/app.py is done?"),
    ]
    (fact,) = [fact for fact in facts_of(*messages) if fact.kind is FactKind.PATH]
    assert (fact.key, fact.text, fact.entries, fact.voice) == ("src/app.py", "src/app.py", [0, 1], Voice.USER)


def test_a_short_name_of_two_files_stays_by_itself() -> None:
    assert keys(FactKind.PATH, user("a/main.py b/main.py main.py")) == ["a/main.py", "b/main.py", "main.py"]


@pytest.mark.parametrize(
    "text",
    [
        "Never touch the generated files.",
        "i would only want e2e tests",
        "必须使用中文回答",
        "テストを必ず実行してください",
        "반드시 테스트를 실행하세요",
        "Bitte niemals direkt pushen.",
    ],
)
def test_demands_of_the_user_in_several_languages(text: str) -> None:
    assert [fact.text for fact in facts_of(user(text)) if fact.kind is FactKind.CONSTRAINT] == [text]
    assert not keys(FactKind.CONSTRAINT, reply(text))


@pytest.mark.parametrize(
    "text",
    [
        "no new column if we can avoid it",
        "link text should be the same as the accent",
        "ok, make sure the footer is dimmer",
        "don't modify the theme",
        "I want to know WHY before we touch anything",
        "standard library only, please",
        "and requeue must not take a job from a healthy worker",
    ],
)
def test_rules_in_everyday_words(text: str) -> None:
    assert keys(FactKind.CONSTRAINT, user(text))


@pytest.mark.parametrize(
    "text",
    [
        "wait, do we only have a single link color?",
        "can we make it so that we keep the old code around",
        "should we never retry those, no?",
        "yes need to be fully clean",
        "i have a feeling you need to read the session in full",
        "we still need to port over the selector",
        "let me read store.py once in full before we go on",
        "there's only one file left to fix up",
        "mail and thumbs don't have to wait for each other",
        '@handler("sms.send", retry=NEVER)',
        "i don't understand why this fails",
        "propose where each of these files should go",
    ],
)
def test_questions_talk_and_requests_are_no_rules(text: str) -> None:
    assert not keys(FactKind.CONSTRAINT, user(text))


def test_a_question_leaves_nothing_to_be_done_and_decides_nothing() -> None:
    asked = user("What is still to do next, the remaining tests? Did we decide to use a table?")
    assert not keys(FactKind.TODO, asked)
    assert not keys(FactKind.DECISION, asked)


def test_a_decision_has_a_reason() -> None:
    said = reply(
        "We keep the old file because the tests import it. The file is long. Both serve decision-making in the orchard."
    )
    assert [fact.text for fact in facts_of(said) if fact.kind is FactKind.DECISION] == [
        "We keep the old file because the tests import it."
    ]


def test_todos_follow_the_file_they_are_written_into() -> None:
    plan = "## Plan\n- [ ] Add the parser\n- [ ] Drop the cache\n- [x] Read the code\n"
    messages = [
        reply("", ("a", "write", {"path": "plan.md", "content": plan})),
        reply(
            "",
            (
                "b",
                "edit",
                {"path": "plan.md", "oldText": "- [ ] Add the parser", "newText": "- [x] Add the parser"},
            ),
        ),
        reply(
            "",
            ("c", "edit", {"path": "plan.md", "edits": [{"oldText": "- [ ] Drop the cache", "newText": ""}]}),
        ),
    ]
    todos = {fact.text: fact for fact in facts_of(*messages) if fact.kind is FactKind.TODO}
    assert {text: fact.is_open for text, fact in todos.items()} == {
        "Add the parser": False,
        "Drop the cache": False,
        "Read the code": False,
    }
    assert todos["Drop the cache"].outcome == "dropped"
    assert todos["Add the parser"].outcome == ""
    assert todos["Add the parser"].about == ["Plan"]


@pytest.mark.parametrize("counts", ["Tests: 2 skipped, 1 todo, 12 passed", "12 pass\n2 todo\n0 fail"])
def test_the_counts_of_a_test_run_are_no_open_work(counts: str) -> None:
    """It fails where the word alone makes a line of results a todo."""
    assert not keys(FactKind.TODO, reply(f"The run ends so:\n\n{counts}\n"))
    assert keys(FactKind.TODO, reply("TODO: prune the orchard rows before the frost."))


@pytest.mark.parametrize("sign", "#ℹ")
def test_a_count_of_no_failed_tests_is_no_error(sign: str) -> None:
    counts = f"{sign} tests 12\n{sign} pass 12\n{sign} fail {{}}\n{sign} todo 0\n"
    assert list(printed_errors(counts.format(0), failed=False)) == []
    assert list(printed_errors(counts.format(2), failed=False)) == [f"{sign} fail 2"]


def test_a_list_of_todos_kept_by_a_tool() -> None:
    items = [
        {"content": "Write the parser", "status": "pending"},
        {"content": "Read code", "status": "completed"},
    ]
    todos = [
        fact
        for fact in facts_of(reply("", ("a", "todowrite", {"todos": items})))
        if fact.kind is FactKind.TODO
    ]
    assert [(fact.text, fact.is_open) for fact in todos] == [("Write the parser", True), ("Read code", False)]


def test_what_the_user_says_weighs_more_than_what_a_tool_prints() -> None:
    said = {fact.key: fact.weight for fact in facts_of(user("see a/b.py"), result("x", "c/d.py"))}
    assert said["a/b.py"] > said["c/d.py"]


@given(st.text(max_size=600))
def test_any_text_is_read(text: str) -> None:
    for message in (
        user(text),
        reply(text, ("a", "bash", {"command": text, "path": text})),
        result("a", text, True),
    ):
        for fact in facts_of(message):
            assert fact.key
            assert fact.weight > 0


@given(st.text(alphabet="ab./_-`*#0123456789 \n[]x", max_size=300))
def test_facts_come_once_each(text: str) -> None:
    found = [(fact.kind, fact.key) for fact in facts_of(user(text))]
    assert len(found) == len(set(found))


@pytest.mark.parametrize(
    "piece", ["a/", "a.", "a-", "aA", "0,000", "`", "[ ] ", "http://", "\\", "((", "E", "x.py/"]
)
def test_time_grows_with_the_length_of_a_text_only(piece: str) -> None:
    def cost(size: int) -> float:
        text = piece * (size // len(piece))
        started = time.thread_time()
        facts_of(user(text), reply(text), result("a", text, True))
        return time.thread_time() - started

    cost(1000)
    # Ten times the text takes a hundred times as long where something backtracks. What else the process does may cost once.
    assert any(cost(100_000) < 50 * max(cost(10_000), 0.005) for _ in range(3))


def test_a_sentence_is_compared_by_its_words() -> None:
    assert sentence_key("The tests were moved!") == sentence_key("tests move")
    assert negated("do not push")
    assert not negated("push")
    assert forms.canonical_command("cd /x && make test 2>&1 | tail -3") == "make test"


@given(st.text(alphabet="abeigvs.!?。！ \t'*_-", max_size=80))
def test_a_sentence_ends_where_its_sign_stands(text: str) -> None:
    """Behind a full stop with space behind it, but for those of abbreviations, and behind one that needs no space."""
    line = f"x {text}"
    sign = r"(?<=[.!?])(?<!\be\.g\.)(?<!\bi\.e\.)(?<!\bvs\.)\s+|(?<=[。！？])"
    parted = [part.strip() for part in re.split(sign, without_emphasis(line).strip())]
    assert list(prose.sentences(line)) == [part for part in parted if len(part) >= 8]
    assert prose.last_sentence(line) == parted[-1]
