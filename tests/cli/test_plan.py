"""`plan`: the document, the ways to ask, and what is refused."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from leafward.agents.model_window import context_window
from leafward.agents.registry import agent_named
from leafward.base.config import Config
from leafward.compaction.plan.onset import onset
from leafward.context.model_context import context_at
from tests.acting import Acting, call, usage
from tests.claude_transcript import DATA
from tests.foreign_sessions import opened_by
from tests.oracle.golden import load

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Run

K = "x" * 4000
KEYS = {
    "at", "strategy", "trigger", "first_kept", "split_turn", "tokens_before", "tokens_after", "summarize", "turn_prefix",
    "kept", "pruned", "previous_summary", "files", "injection", "prompt", "diagnostics", "cuts",
}  # fmt: skip
STRATEGIES = ["pi", "codex", "opencode"]


@pytest.fixture
def file(tmp_path: Path) -> Acting:
    file = Acting(tmp_path / "session.jsonl")
    for number in range(6):
        file.user(K)
        file.said(K, call("read", f"c{number}", path=f"src/{number}.py"))
        file.answered(f"c{number}", "read", K)
    return file


def test_the_document_names_entries_by_id(done: Run, file: Acting) -> None:
    made = done("plan", file.path, "--keep-recent", "2500", "--json").document
    assert made.keys() >= KEYS
    assert (made["strategy"], made["at"]) == ("pi", "00000012")
    assert made["first_kept"] == "00000010"
    assert made["kept"] == ["00000010", "00000011", "00000012"]
    assert [*made["summarize"], *made["turn_prefix"]] == [f"{number:08x}" for number in range(1, 16)]
    assert made["files"]["read"] == [f"src/{number}.py" for number in range(5)]
    assert made["trigger"]["threshold"] == 200_000 - 16_384
    assert {rule["rule"]: rule["threshold"] for rule in made["trigger"]["rules"]} == {
        "fixed": 183_616,
        "proportional": 168_000,
    }
    assert made["tokens_before"] > made["tokens_after"] > made["tokens"]["kept"]
    by_entry = {cut["entry"]: cut for cut in made["cuts"]}
    assert (by_entry["00000012"]["legal"], by_entry["00000012"]["rule"]) == (False, "result-without-call")
    assert by_entry[made["first_kept"]]["legal"]
    assert {cut["rule"] for cut in made["cuts"]} <= made["rules"].keys()
    assert made["why"]


def test_it_agrees_with_the_goldens(done: Run, sessions: Path) -> None:
    golden = load(sessions.parent / "golden" / "edits-and-extras.json")
    node = next(node for node in golden.nodes if node.plans[1])
    made = done(
        "plan", sessions / "edits-and-extras.jsonl", "--at", f"#{node.at}", "--keep-recent", "2000", "--json"
    )
    document = made.document
    expected = node.plans[1]
    assert len(document["summarize"]) == expected["summarize"]
    assert document["tokens_before"] == expected["tokens_before"]


def test_all_strategies_side_by_side(done: Run, file: Acting) -> None:
    made = done("plan", file.path, "--strategy", "all", "--json").document
    assert made["strategy"] == "all"
    assert [plan["strategy"] for plan in made["plans"]] == STRATEGIES
    assert all(plan.keys() >= KEYS for plan in made["plans"])
    assert [plan["estimator"]["name"] for plan in made["plans"]] == STRATEGIES
    assert [plan["trigger"]["reserve"] for plan in made["plans"]] == [16_384, 10_000, 20_000]
    out = done("plan", file.path, "--strategy", "all").out
    for strategy in STRATEGIES:
        assert strategy in out


def test_where_only_messages_are_kept_their_number_stands_for_the_first(done: Run, file: Acting) -> None:
    (row,) = (
        line
        for line in done("plan", file.path, "--strategy", "all").out.splitlines()
        if line.startswith("first kept")
    )
    assert re.split(r"  +", row)[2] == "6 messages"
    out = done("plan", file.path, "--strategy", "codex").out
    assert "\n\n\n" not in out
    assert re.search(
        r"^Keeps \d+ messages? of the user, the newest within [\d,]+ tokens; summarises everything else",
        out,
        re.MULTILINE,
    )


def test_the_reason_of_a_cut_is_whole_at_80_columns(
    done: Run, file: Acting, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    out = done("plan", file.path, "--keep-recent", "4000").out
    assert "can cut  a turn begins, none is split\n" in out
    assert "no cut   result without call\n" in out


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_nothing_to_compact_is_no_failure(done: Run, tmp_path: Path, strategy: str) -> None:
    file = Acting(tmp_path / "s.jsonl")
    kept = file.user("why")
    file.compacted(kept)
    made = done("plan", file.path, "--strategy", strategy, "--json").document
    assert (made["first_kept"], made["summarize"], made["split_turn"]) == (None, [], False)
    assert made["tokens_after"] == made["tokens_before"]
    assert "nothing-to-compact" in {remark["code"] for remark in made["diagnostics"]}
    assert "nothing to compact" in done("plan", file.path, "--strategy", strategy).out


def test_behind_our_own_compaction_a_plan_has_the_size_of_the_context(
    run: Run, done: Run, tmp_path: Path
) -> None:
    """Tokens that are not in the file are sent after the compaction too."""
    file = Acting(tmp_path / "s.jsonl")
    file.user(K)
    file.said(K, tokens=usage(90_000))
    file.user(K)
    file.said(K, tokens=usage(92_000))
    assert (
        run("compact", file.path, "--keep-recent", "1000", "--model", "extractive", "--accept-loss").code == 0
    )
    size = done("context", file.path, "--json").document["tokens"]
    assert size["as_pi"] < 10_000 < size["total"]
    trigger = done("plan", file.path, "--json").document["trigger"]
    assert (trigger["tokens"], trigger["source"]) == (size["total"], "estimate")
    out = done("plan", file.path).out
    assert f"~{size['total']:,} tokens   threshold" in out
    assert f"about {183_616 - size['total']:,} tokens below" in out


def test_what_pi_would_do_instead_is_told(done: Run, tmp_path: Path) -> None:
    file = Acting(tmp_path / "s.jsonl")
    for _ in range(2):
        file.user(K)
        file.said(K)
    file.entry("label", targetId="00000001", label="here")
    file.user(K)
    file.said(K)
    made = done("plan", file.path, "--keep-recent", "2000", "--json").document
    (remark,) = [one for one in made["diagnostics"] if one["pi_would"]]
    assert remark["code"] == "false-split"
    assert remark["pi"] == {"first_kept": "00000005", "split_turn": True, "summarize": 2, "turn_prefix": 2}
    assert "pi would" in done("plan", file.path, "--keep-recent", "2000").out
    as_is = done("plan", file.path, "--keep-recent", "2000", "--as-is", "--json").document
    assert (as_is["split_turn"], len(as_is["turn_prefix"]), as_is["corrected"]) == (True, 2, False)


def test_window_and_configuration(done: Run, file: Acting, isolated_environment: Path) -> None:
    home = isolated_environment / "leafward" / "config"
    home.mkdir(parents=True)
    (home / "config.toml").write_text(
        'keep-recent = 2500\nreserve = 100\nstrategy = "pi"\n[windows]\n"scripted-1" = 5000\n'
    )
    made = done("plan", file.path, "--json").document
    assert made["first_kept"] == "00000010"
    assert (made["trigger"]["threshold"], made["trigger"]["reached"]) == (4900, True)
    assert done("plan", file.path, "--window", "9000", "--json").document["trigger"]["threshold"] == 8900


def test_estimates_by_script(done: Run, tmp_path: Path) -> None:
    file = Acting(tmp_path / "s.jsonl")
    file.user("漢字" * 2000)
    file.said("ok")
    by_pi, by_script = (
        done("plan", file.path, "--keep-recent", "1", *more, "--json").document
        for more in ([], ["--by-script"])
    )
    assert by_script["estimator"]["name"] == "script"
    assert by_script["tokens"]["turn_prefix"] == 3 * by_pi["tokens"]["turn_prefix"]
    assert by_script["tokens_before"] == by_pi["tokens_before"]


def test_a_cut_of_ones_own(done: Run, run: Run, file: Acting) -> None:
    assert done("plan", file.path, "--cut", "#3", "--json").document["first_kept"] == "00000004"
    refused = run("plan", file.path, "--cut", "#2")
    assert (refused.code, refused.out) == (1, "")
    assert "a result without its call" in refused.err


@pytest.mark.parametrize(
    "arguments",
    [
        ["--strategy", "claude"],
        ["--keep-recent", "-1"],
        ["--window", "0"],
        ["--behaviour", "9.9"],
        ["--strategy", "all", "--behaviour", "0.73"],
    ],
)
def test_what_cannot_be_asked(run: Run, file: Acting, arguments: list[str]) -> None:
    outcome = run("plan", file.path, *arguments)
    assert (outcome.code, outcome.out) == (2, "")
    assert outcome.err.count("\n") == 1


def test_an_escape_in_a_session_reaches_no_terminal(done: Run, tmp_path: Path) -> None:
    file = Acting(tmp_path / "s.jsonl")
    for _ in range(3):
        file.user("\x1b[31mred" + K)
        file.said("\x1b]0;title\x07" + K)
    for strategy in (*STRATEGIES, "all"):
        assert "\x1b" not in done("plan", file.path, "--strategy", strategy, "--keep-recent", "1500").out


def test_the_rows_of_what_stays_add_up(done: Run, file: Acting) -> None:
    """The estimation error has its row, as on the screens."""
    file.user(K)
    file.said("done", tokens=usage(30_000, input=29_900, output=100))
    rows: dict[str, int] = {}
    for line in done("plan", file.path, "--keep-recent", "2500").out.splitlines():
        found = re.match(
            r"[SPK ] (\S[\w, ]*?) {2,}.*?(-?[\d,]+)(?:   of [\d,]+ before)?$", line.replace("~", "")
        )
        if found is not None:
            rows[found[1]] = int(found[2].replace(",", ""))
    stays = ("kept", "summary, about", "system", "not in file", "estimation error")
    assert sum(rows.get(name, 0) for name in stays) == rows["after, nothing injected"]
    assert rows["estimation error"]


def test_the_columns_have_the_sizes_of_the_single_plans(done: Run, file: Acting) -> None:
    """One basis: what a provider counted is in both sizes, and the parts that stay add up."""
    file.user(K)
    file.said("done", tokens=usage(30_000, input=29_900, output=100))
    words = ("plan", file.path, "--keep-recent", "2500", "--strategy")
    rows = {}
    for line in done(*words, "all").out.splitlines():
        name, *columns = re.split(r" {2,}", line.strip())
        if len(columns) == len(STRATEGIES):
            figures = (re.fullmatch(r"~?(-?[\d,]+)", one) for one in columns)
            rows[name] = [int(one[1].replace(",", "")) if one else 0 for one in figures]
    made = [done(*words, strategy, "--json").document for strategy in STRATEGIES]
    assert rows["before"] == [one["tokens_before"] for one in made]
    assert rows["after"] == [one["tokens_after"] for one in made]
    stays = ("kept", "summary, about", "system", "not in file", "estimation error")
    sums = zip(*(rows[name] for name in stays if name in rows), strict=True)
    assert [sum(parts) for parts in sums] == rows["after"]


def test_the_threshold_of_claude_code_is_that_of_the_gauge(done: Run) -> None:
    path = next((DATA / "2.1.330" / "projects").glob("*/*.jsonl"))
    session = opened_by(agent_named("claude"), path)
    context = context_at(session, session.leaf)
    shown = onset(context, context_window(session, context, Config()), Config())
    assert shown is not None
    made = done("plan", path, "--json").document["trigger"]
    assert (made["threshold"], made["about"]) == (shown.tokens, True)
    assert made["reserve"] == made["window"] - shown.tokens
    text = done("plan", path).out
    assert f"threshold about {shown.tokens:,} of" in text
    assert "What Claude Code keeps is not known: pi's rules are used" in text
    beside = done("plan", path, "--strategy", "all", "--json").document["plans"][0]["trigger"]
    assert (beside["threshold"], beside["about"]) == (shown.tokens, True)
    assert "pi's rules are used" in done("plan", path, "--strategy", "all").out
    # pi's rules that are asked for by name have pi's threshold.
    asked = done("plan", path, "--strategy", "pi", "--json").document["trigger"]
    assert (asked["threshold"], asked["about"]) == (asked["window"] - 16_384, False)
