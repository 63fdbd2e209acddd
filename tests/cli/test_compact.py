"""`compact`: what it appends, what it says, what it refuses."""

from __future__ import annotations

import json
import os
import re
from typing import TYPE_CHECKING

import pytest

from leafward.base.strategies import strategy_of
from leafward.session.injected_block import OPENING
from leafward.summaries.summarizers.summary import tokens_of
from tests.acting import Acting, call
from tests.cli.conftest import OLD
from tests.codex_rollout import Rollout
from tests.pi_file import RULE, STEP, PiFile, conversation, last_line, lossy

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Run

KEYS = {
    *("entry", "op", "leaf", "from", "summary", "tokens_before", "tokens_after", "survival", "first_kept"),
    *("usage", "cost", "diagnostics", "strategy", "behaviour", "summarizer", "pins", "injection", "dry_run"),
}


def test_appends_what_it_says(done: Run, path: Path) -> None:
    before = path.read_bytes()
    made = done("compact", path, "--keep-recent", "2000", "--json").document
    line = last_line(path)
    assert path.read_bytes().startswith(before)
    assert made.keys() >= KEYS
    assert (line["type"], line["id"], line["summary"]) == ("compaction", made["entry"], made["summary"])
    assert (line["tokensBefore"], line["firstKeptEntryId"]) == (made["tokens_before"], made["first_kept"])
    context = done("context", path, "--json").document
    assert context["tokens"]["total"] == made["tokens_after"] < made["tokens_before"]
    assert (made["usage"]["total"], made["cost"], made["summarizer"]) == (0, 0.0, "extractive")
    assert done("tree", path, "--json").document["leaf"] == made["entry"]


def test_survival_is_what_the_verb_says_afterwards(done: Run, path: Path) -> None:
    made = done("compact", path, "--keep-recent", "2000", "--json").document["survival"]
    found = done("survival", path, "--json").document
    assert made["score"] == found["score"]
    assert made["overall"] == found["overall"]
    assert {fact["kind"] for fact in made["facts"]} == {fact["kind"] for fact in found["facts"]}


def test_the_plan_is_kept_to(done: Run, path: Path) -> None:
    options = ("--keep-recent", "3000", "--window", "60000", "--json")
    planned = done("plan", path, *options).document
    made = done("compact", path, "--dry-run", *options[:-1], "--json")
    document = made.document
    for key in (
        "first_kept",
        "split_turn",
        "tokens_before",
        "summarize",
        "turn_prefix",
        "kept",
        "keeps",
        "at",
    ):
        assert document[key] == planned[key], key
    assert document["files"] == {key: planned["files"][key] for key in ("read", "modified")}


def test_a_dry_run_says_nothing_of_an_agent_that_would_see_it(run: Run, path: Path) -> None:
    path.touch()
    options = ("compact", path, "--keep-recent", "2000")
    dry = run(*options, "--dry-run", "--json")
    assert "recent" not in {one["code"] for one in dry.document["diagnostics"]}
    assert "to pick this up" not in dry.err
    assert "to pick this up" in run(*options).err


def test_a_dry_run_shows_the_lines_and_writes_nothing(run: Run, path: Path) -> None:
    before = path.read_bytes(), path.stat().st_mtime_ns
    made = run("compact", path, "--keep-recent", "2000", "--dry-run", "--json").document
    assert (made["entry"], made["dry_run"]) == (None, True)
    assert made["lines"][-1]["summary"] == made["summary"]
    text = run("compact", path, "--keep-recent", "2000", "--dry-run")
    assert text.out.startswith("would compact: 33,338 -> ")
    assert "nothing was written" in text.err
    assert (path.read_bytes(), path.stat().st_mtime_ns) == before


def test_a_dry_run_shows_what_would_be_written_to_a_file_that_is_read_only(run: Run, path: Path) -> None:
    path.chmod(0o444)
    made = run("compact", path, "--keep-recent", "2000", "--dry-run", "--json")
    assert made.code == 0
    assert made.document["lines"][-1]["summary"] == made.document["summary"]
    assert "its permissions make it read-only" in made.document["diagnostics"][-1]["text"]
    for words in (("compact", path, "--keep-recent", "2000"), ("move", path, "#1")):
        dry = run(*words, "--dry-run")
        assert (dry.code, dry.err.count("make it read-only")) == (0, 1)
        assert run(*words).code == 1
    path.chmod(0o644)


def test_every_strategy_beside_the_others(done: Run, path: Path) -> None:
    before = path.read_bytes()
    drafts = done("compact", path, "--strategy", "all", "--dry-run", "--json").document["drafts"]
    assert [one["strategy"] for one in drafts] == ["pi", "codex", "opencode"]
    for one in drafts:
        assert tokens_of(one["summary"]) == one["tokens"]["stored"]
        parts = ("summary", "injection", "kept", "system")
        contents = sum(one["tokens"][part] for part in parts)
        assert one["as_pi"]["tokens_after"] == contents < one["tokens_after"]
        assert 0 < one["survival"]["overall"] <= 1
        assert one["cost"] == 0.0
    table = done("compact", path, "--strategy", "all", "--dry-run").out
    assert [line.split()[0] for line in table.splitlines()] == ["strategy", "pi", "codex", "opencode"]
    assert path.read_bytes() == before


def test_the_messages_of_a_split_turn_are_told_apart_as_in_the_plan(done: Run, run: Run, path: Path) -> None:
    planned = done("plan", path).out
    rows = re.search(
        r"^S summarised +(\d+) messages .*^P split turn +(\d+) messages ", planned, re.MULTILINE | re.DOTALL
    )
    assert rows is not None
    first, split = map(int, rows.groups())
    head = run("compact", path, "--dry-run").out.splitlines()[1]
    assert f"{first + split} messages summarised, {split} of them of the split turn   kept from" in head


def test_lost_facts_that_are_not_listed_are_counted(run: Run, tmp_path: Path) -> None:
    file = Acting(tmp_path / "s.jsonl")
    file.user("go")
    file.said(" ".join(f"src/{'deep/' * 30}module_{number}.py" for number in range(60)))
    file.user("on")
    words = ("--keep-recent", "1", "--max-tokens", "200", "--larger", "--accept-loss", "--dry-run")
    out = run("compact", file.path, *words).out
    lost = int(re.search(r"; (\d+) lost$", out, re.MULTILINE)[1])  # type: ignore[index]
    lines = out[out.index("facts survive") :].splitlines()[1:]
    shown = [line for line in lines if line.startswith("  path ")]
    assert f"  and {lost - len(shown)} more; --json has all" in lines
    assert all("…/" in line and line.endswith(".py") for line in shown)


def test_why_a_strategy_has_no_draft_is_said_whole(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    file = Acting(tmp_path / "s.jsonl")
    file.user("How are the pears?")
    file.said("Ripe.")
    table = run("compact", file.path, "--strategy", "all", "--dry-run").out.splitlines()
    assert [line.split()[0] for line in table[:4]] == ["strategy", "pi", "codex", "opencode"]
    assert table[1].split() == ["pi", "1.5.2"]
    (refused,) = (
        one
        for one in run("compact", file.path, "--strategy", "all", "--dry-run", "--json").document["drafts"]
        if "refused" in one
    )
    assert refused["refused"] in " ".join(" ".join(table[4:]).split())
    assert max(map(len, table)) <= 80


@pytest.mark.parametrize("limit", [200, 900])
def test_max_tokens_bounds_the_stored_text(limit: int, done: Run, path: Path) -> None:
    options = ("--keep-recent", "2000", "--max-tokens", str(limit), "--accept-loss")
    made = done("compact", path, *options, "--json").document
    assert tokens_of(made["summary"]) <= limit


def test_pins_focus_and_injection(done: Run, path: Path) -> None:
    options = ("--pin", "never push to main", "--pin", "grams, not ounces", "--focus", "leases", "--inject")
    made = done("compact", path, "--keep-recent", "2000", *options, "--json").document
    assert made["pins"] == ["never push to main", "grams, not ounces"]
    assert "- never push to main\n- grams, not ounces\n" in made["summary"]
    assert made["summary"].endswith(made["injection"]["text"])
    assert OPENING in made["summary"]
    assert made["survival"]["counts"]
    assert last_line(path)["details"]["leafward"]["focus"] == "leases"


def test_injection_gives_way_to_a_limit(done: Run, path: Path) -> None:
    options = ("--keep-recent", "2000", "--inject", "--max-tokens", "400", "--accept-loss")
    made = done("compact", path, *options, "--json").document
    assert tokens_of(made["summary"]) <= 400
    assert made["injection"]["tokens"]["total"] <= 200


def test_a_file_whose_edit_was_rejected_is_none_that_was_modified(done: Run, tmp_path: Path) -> None:
    file = PiFile(tmp_path / "rejected.jsonl")
    file.user("mend the orchard, and say what you would change of the well")
    for number, path in enumerate(("orchard.py", "well.py")):
        edit = {"path": path, "oldText": "a", "newText": "b"}
        call = {"type": "toolCall", "id": f"c{number}", "name": "edit", "arguments": edit}
        file.entry("message", message={"role": "assistant", "content": [call], "stopReason": "toolUse"})
        text = "The user doesn't want to proceed with this tool use." if number else "edited"
        content = [{"type": "text", "text": text}]
        result = {"role": "toolResult", "toolCallId": f"c{number}", "toolName": "edit"}
        file.entry("message", message={**result, "content": content, "isError": bool(number)})
    file.user("go on")
    file.reply("Here it is.")
    made = done("compact", file.path, "--keep-recent", "1", "--larger", "--dry-run", "--json").document
    assert made["files"] == {"read": [], "modified": ["orchard.py"]}
    assert "<modified-files>\norchard.py\n</modified-files>" in made["summary"]


def test_not_twice_in_a_row(done: Run, run: Run, path: Path) -> None:
    done("compact", path, "--keep-recent", "2000", "--json")
    before = path.read_bytes()
    for more in ((), ("--json",), ("--dry-run",)):
        again = run("compact", path, *more)
        assert (again.code, again.out) == (1, "")
        assert again.err == "leafward: nothing to compact: nothing came after the last compaction\n"
    assert path.read_bytes() == before


def test_undo_redo_and_log(done: Run, path: Path) -> None:
    before = done("context", path, "--json").document["tokens"]
    made = done("compact", path, "--keep-recent", "2000", "--json").document
    ops = done("log", path, "--json").document["ops"]
    assert (ops[-1]["kind"], ops[-1]["op"], ops[-1]["from"], ops[-1]["to"]) == (
        "compact",
        made["op"],
        made["from"],
        made["entry"],
    )
    undone = done("undo", path, "--json").document
    assert undone["undoes"] == made["op"]
    assert done("context", path, "--json").document["tokens"] == before
    done("redo", path, "--json")
    assert done("context", path, "--json").document["tokens"]["total"] == made["tokens_after"]
    assert "compact" in done("log", path).out


def test_elsewhere_than_the_leaf_the_leaf_moves(done: Run, run: Run, path: Path) -> None:
    planned = run("compact", path, "--at", "#160", "--keep-recent", "2000", "--dry-run", "--json").document
    assert "moves-leaf" in {one["code"] for one in planned["diagnostics"]}
    made = done("compact", path, "--at", "#160", "--keep-recent", "2000", "--json").document
    assert last_line(path)["parentId"] == made["at"]


def test_a_corrected_one_at_the_same_parent(done: Run, path: Path) -> None:
    first = done("compact", path, "--keep-recent", "2000", "--json").document
    lost = next(fact for fact in first["survival"]["facts"] if fact["status"] == "lost")
    parent = last_line(path)["parentId"]
    options = ("--at", parent, "--keep-recent", "2000", "--pin", lost["text"])
    second = done("compact", path, *options, "--json").document
    assert last_line(path)["parentId"] == parent
    again = {fact["text"]: fact["status"] for fact in second["survival"]["facts"]}
    assert again[lost["text"]] == "verbatim"
    third = done("compact", path, "--repair", second["entry"], "--pin", "one more", "--json").document
    assert last_line(path)["parentId"] == parent
    assert third["pins"] == [*second["pins"], "one more"]
    assert [one["kind"] for one in done("log", path, "--json").document["ops"][-3:]] == ["compact"] * 3


@pytest.mark.parametrize("version", ["version-1", "version-2"])
def test_an_old_file_is_copied_first(version: str, run: Run, tmp_path: Path, sessions: Path) -> None:
    path = tmp_path / "s.jsonl"
    path.write_bytes((sessions / f"{version}.jsonl").read_bytes())
    before = path.read_bytes()
    made = run("compact", path, "--at", "#9", "--keep-recent", "20", "--json").document
    assert "migrates" in {one["code"] for one in made["diagnostics"]}
    with open(made["backup"], "rb") as backup:
        assert backup.read() == before
    assert json.loads(path.read_bytes().splitlines()[0])["version"] == 3
    assert run("context", path, "--json").document["tokens"]["total"] == made["tokens_after"]


def test_a_few_words_are_enough(done: Run, tmp_path: Path) -> None:
    file = conversation(tmp_path / "s.jsonl", turns=4)
    os.utime(file.path, (OLD, OLD))
    made = done("compact", file.path, "--keep-recent", "5", "--json").document
    assert "question 0" in made["summary"] or "answer" in made["summary"]
    assert done("context", file.path, "--json").document["messages"][0]["entry"] == made["entry"]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--strategy", "all"), "--strategy all only compares, so it needs --dry-run"),
        (("--strategy", "all", "--dry-run", "--model", "local/x"), "so it takes no --model"),
        (("--repair", "#264", "--at", "#3"), "--repair uses the place, cut and strategy of"),
        (("--repair", "#264", "--keep-recent", "5"), "--repair uses the place, cut and strategy of"),
        (("--repair", "#264", "--no-prune"), "--repair uses the place, cut and strategy of"),
        (("--base-url", "http://127.0.0.1:9"), "--base-url needs --model"),
        (("--max-tokens", "0"), "--max-tokens"),
        (("--behaviour", "9.9"), "no version '9.9'"),
        (("--strategy", "codex", "--cut", "leaf"), "codex keeps single messages and no tail"),
    ],
)
def test_a_wrong_combination_is_a_wrong_use(
    options: tuple[str, ...], said: str, run: Run, path: Path
) -> None:
    before = path.read_bytes()
    outcome = run("compact", path, *options)
    assert (outcome.code, outcome.out) == (2, "")
    assert said in outcome.err
    assert outcome.err.count("\n") == 1
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--repair", "#3"), "is not a compaction"),
        (("--max-tokens", "9"), "9 tokens leave no room for a summary; allow more"),
        (("--at", "nowhere"), "no entry 'nowhere'"),
        (("--cut", "root"), "that entry is not in the context here"),
        (("--model", "model"), "no model is configured"),
    ],
)
def test_refusals_are_one_line(options: tuple[str, ...], said: str, run: Run, path: Path) -> None:
    before = path.read_bytes()
    outcome = run("compact", path, *options)
    assert (outcome.code, outcome.out) == (1, "")
    assert said in outcome.err
    assert outcome.err.count("\n") == 1
    assert path.read_bytes() == before


def test_hostile_text_does_not_reach_the_terminal(run: Run, tmp_path: Path) -> None:
    file = PiFile(tmp_path / "s.jsonl")
    for turn in range(4):
        file.user(f"use \x1b[31mred\x07 and <leafward-context> in a{turn}.py, never \u202eblue " * 4)
        file.reply("\x9b2J done </summary> " * 9)
    outcome = run("compact", file.path, "--keep-recent", "30", "--strategy", "codex")
    assert outcome.code == 0
    assert not {"\x1b", "\x07", "\x9b", "\u202e"} & set(outcome.out + outcome.err)
    assert not {"\x1b", "\x07", "\x9b", "\u202e"} & set(last_line(file.path)["summary"])


def test_the_plan_says_what_would_be_injected_and_sent(done: Run, path: Path) -> None:
    planned = done("plan", path, "--keep-recent", "2000", "--json").document
    assert planned["injection"]["included"] is False
    assert planned["injection"]["text"] == done("inject", path).out.removesuffix("\n")
    assert (planned["outgoing"], planned["summarizer"]) == (None, "extractive")
    assert "## Goal" in planned["prompt"]
    asked = done("plan", path, "--keep-recent", "2000", "--model", "local/scripted", "--json").document
    assert asked["summarizer"] == "local/scripted"
    assert asked["outgoing"]["requests"][0]["prompt"] in asked["prompt"]


def test_a_compaction_that_makes_the_context_larger_is_refused_unless_asked_for(
    run: Run, done: Run, tmp_path: Path
) -> None:
    path = conversation(tmp_path / "session.jsonl", 3).path
    before = path.read_bytes()
    pin = "never push to main " * 40
    refused = run("compact", path, "--keep-recent", "1", "--pin", pin)
    assert refused.code == 1
    assert "makes the context larger" in refused.err
    assert "--larger" in refused.err
    assert path.read_bytes() == before
    shown = done("compact", path, "--keep-recent", "1", "--pin", pin, "--dry-run", "--json").document
    assert "grows" in [one["code"] for one in shown["diagnostics"]]
    made = done("compact", path, "--keep-recent", "1", "--pin", pin, "--larger", "--json").document
    assert made["entry"]
    assert path.read_bytes() != before


def test_a_dry_run_says_that_a_model_would_not_be_asked(run: Run, tmp_path: Path) -> None:
    file = Acting(tmp_path / "session.jsonl")
    file.user("go")
    for number in range(4):
        path = f"src/a/rather/long/folder/module_{number}.py"
        file.said(call("edit", f"e{number}", path=path, oldText="a", newText="b"))
        file.answered(f"e{number}", "edit")
    file.said("done")
    file.user("on")
    options = ("--keep-recent", "1", "--model", "local/scripted")
    planned = run("compact", file.path, *options, "--dry-run")
    assert "it would stop before sending: with a summary of about " in planned.err
    refused = run("compact", file.path, *options)
    assert (refused.code, "nothing was sent" in refused.err) == (1, True)
    assert "would stop" not in run("compact", file.path, *options, "--dry-run", "--larger").err


def test_what_a_plan_only_guesses_is_not_said_beside_what_the_summary_comes_to(
    done: Run, tmp_path: Path
) -> None:
    rollout = Rollout(tmp_path)
    for turn in range(8):
        rollout.prompt(f"what does part {turn} do")
        rollout.reply("It is as described before. " * 12)
    guessed = {
        one["code"]: one["text"] for one in done("plan", rollout.path, "--json").document["diagnostics"]
    }
    made = done("compact", rollout.path, "--dry-run", "--json").document
    assert guessed["no-gain"].startswith("with a summary of about ")
    assert made["tokens_after"] < made["tokens_before"]
    assert not {"grows", "no-gain"} & {one["code"] for one in made["diagnostics"]}


@pytest.mark.parametrize(
    ("agent", "strategy"), [("codex", "codex"), ("opencode", "opencode"), ("claude", "pi"), ("pi", "pi")]
)
def test_the_default_rules_are_those_of_the_sessions_own_agent(agent: str, strategy: str) -> None:
    assert strategy_of("own", agent) == strategy
    assert strategy_of("codex", agent) == "codex"


def test_a_session_of_codex_is_planned_by_its_rules(done: Run, tmp_path: Path) -> None:
    rollout = Rollout(tmp_path)
    rollout.prompt("one")
    rollout.reply("first")
    assert done("plan", rollout.path, "--json").document["strategy"] == "codex"
    assert done("plan", rollout.path, "--strategy", "pi", "--json").document["strategy"] == "pi"


class TestGate:
    """The gate of a compaction that would lose rules or unfinished steps."""

    def test_it_stops_lists_whole_sentences_and_writes_nothing(self, run: Run, tmp_path: Path) -> None:
        compaction = lossy(tmp_path)
        path = tmp_path / "s.jsonl"
        before = path.read_bytes()
        stopped = run("compact", path, "--repair", compaction)
        assert stopped.code == 1
        assert f"  constraint  {RULE}\n  todo  {STEP}" in stopped.out
        assert "the model would no longer see 1 rule and 1 unfinished step" in stopped.err
        assert "--pin-lost" in stopped.err
        assert "--accept-loss" in stopped.err
        document = run("compact", path, "--repair", compaction, "--json").document
        assert [one["text"] for one in document["gate"]] == [RULE, STEP]
        assert (document["entry"], document["dry_run"]) == (None, False)
        assert path.read_bytes() == before

    def test_a_dry_run_shows_what_would_stop_it(self, run: Run, tmp_path: Path) -> None:
        shown = run("compact", tmp_path / "s.jsonl", "--repair", lossy(tmp_path), "--dry-run")
        assert "this stops the compaction" in shown.out
        assert RULE in shown.out

    def test_a_loss_that_is_accepted_stops_nothing(self, run: Run, tmp_path: Path) -> None:
        options = ("--repair", lossy(tmp_path), "--dry-run", "--accept-loss")
        shown = run("compact", tmp_path / "s.jsonl", *options)
        assert "the model would no longer see 1 rule and 1 unfinished step" in shown.out
        assert "stops" not in shown.out

    def test_the_loss_can_be_accepted(self, run: Run, tmp_path: Path) -> None:
        compaction, path = lossy(tmp_path), tmp_path / "s.jsonl"
        assert run("compact", path, "--repair", compaction, "--accept-loss").code == 0
        assert RULE not in last_line(path)["summary"]

    def test_the_lost_can_be_pinned(self, run: Run, tmp_path: Path) -> None:
        compaction, path = lossy(tmp_path), tmp_path / "s.jsonl"
        made = run("compact", path, "--repair", compaction, "--pin-lost", "--json").document
        assert (made["gate"], made["pins"]) == ([], [RULE, STEP])
        assert RULE in last_line(path)["summary"]

    @pytest.mark.parametrize("limit", [50, 60, 70])
    def test_a_rule_that_gives_its_room_to_a_pin_is_pinned_too(
        self, run: Run, tmp_path: Path, limit: int
    ) -> None:
        file = PiFile(tmp_path / "s.jsonl")
        rules = [
            "Never prune the pears on a Friday.",
            "Always ask Hedy before you water the old apple tree, even in the heat of July or August.",
            "Do not sell cherries without a permit from the town.",
        ]
        for rule in rules:
            file.user(f"Write a part of the plan for the orchard. {rule}")
            file.reply("That part of the plan is written now.")
        for at in range(30):
            file.reply(f"Tree {at} has ripe pears, so I noted it in `notes/tree{at}.md`. " * 12)
            file.user(f"Now look at tree {at + 1} in `notes/tree{at + 1}.md`.")
        file.reply("All trees are noted.")
        options = ("--keep-recent", "100", "--max-tokens", str(limit), "--json")
        assert run("compact", file.path, *options).code == 1
        made = run("compact", file.path, *options, "--pin-lost").document
        assert made["gate"] == []
        assert made["entry"]
