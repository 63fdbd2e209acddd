"""`summarize`, and `move --summary`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from leafward.base.figures import short
from leafward.summaries.summarizers.summary import tokens_of
from tests.pi_file import last_line

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Run


class TestSummarize:
    def test_tells_the_branch_and_writes_nothing(self, done: Run, path: Path) -> None:
        before = path.read_bytes()
        made = done("summarize", path, "--from", "leaf", "--to", "#100", "--json").document
        assert path.read_bytes() == before
        entries = done("tree", path, "--json").document["entries"]
        assert made["ancestor"] == entries[100]["id"]
        known = {one["id"]: one for one in entries}
        assert all(known[entry]["on_path"] for entry in made["entries"])
        assert made["entries"] == sorted(made["entries"], key=lambda entry: known[entry]["index"])
        assert made["tokens"]["summary"] == tokens_of(made["summary"])
        assert "src/hopper/store.py" in made["files"]["modified"]
        assert made["outgoing"] is None
        assert "## Goal" in made["prompt"]
        assert done("summarize", path, "--to", "#100").out.splitlines()[2] == "## Goal"

    def test_says_what_a_model_would_get(self, run: Run, path: Path) -> None:
        options = ("--from", "leaf", "--to", "#100", "--model", "model", "--json")
        outcome = run("summarize", path, *options)
        assert (outcome.code, outcome.out, outcome.err.count("\n")) == (1, "", 1)

    def test_nothing_to_summarise(self, run: Run, path: Path) -> None:
        outcome = run("summarize", path, "--from", "#100", "--to", "leaf", "--json")
        assert (outcome.code, outcome.err) == (0, "")
        made = outcome.document
        assert (made["entries"], made["summary"], made["prompt"]) == ([], "", None)
        assert made["diagnostics"][0]["code"] == "nothing-left"
        told = run("summarize", path, "--from", "#100", "--to", "leaf")
        assert (told.code, told.out, told.err.count("\n")) == (0, "", 1)

    def test_within_a_limit(self, done: Run, path: Path) -> None:
        made = done("summarize", path, "--to", "#100", "--max-tokens", "300", "--json").document
        assert tokens_of(made["summary"]) <= 300

    def test_the_target_has_to_be_named(self, run: Run, path: Path) -> None:
        assert run("summarize", path).code == 2


class TestMove:
    def test_carries_the_summary_along(self, done: Run, path: Path) -> None:
        before = path.read_bytes()
        told = done("summarize", path, "--to", "#205", "--focus", "leases", "--json").document
        moved = done("move", path, "#205", "--summary", "extractive", "--focus", "leases", "--json").document
        line = last_line(path)
        assert path.read_bytes().startswith(before)
        assert (line["type"], line["id"]) == ("branch_summary", moved["summary_entry"])
        assert (line["parentId"], line["fromId"]) == (moved["target"], moved["from"])
        assert line["summary"] == moved["summary"]["text"] == told["summary"]
        assert (moved["leaf"], moved["kind"]) == (line["id"], "summary-move")
        context = done("context", path, "--json").document
        assert context["messages"][-1]["entry"] == line["id"]
        assert context["tokens"]["total"] == moved["price"]["context"]["after"]
        assert moved["price"]["summary"] == context["messages"][-1]["tokens"]

    def test_undo_redo_and_log(self, done: Run, path: Path) -> None:
        before = done("context", path, "--json").document["tokens"]
        moved = done("move", path, "#205", "--summary", "extractive", "--json").document
        ops = done("log", path, "--json").document["ops"]
        assert (ops[-1]["kind"], ops[-1]["from"], ops[-1]["to"]) == (
            "summary-move",
            moved["from"],
            moved["leaf"],
        )
        done("undo", path, "--json")
        assert done("context", path, "--json").document["tokens"] == before
        done("redo", path, "--json")
        assert done("context", path, "--json").document["messages"][-1]["entry"] == moved["leaf"]

    def test_a_dry_run_shows_it(self, run: Run, path: Path) -> None:
        before = path.read_bytes()
        moved = run("move", path, "#205", "--summary", "extractive", "--dry-run", "--json").document
        assert moved["summary_entry"] is None
        assert moved["summary"]["text"].startswith("## Goal\n")
        assert "## Goal" in run("move", path, "#205", "--summary", "extractive", "--dry-run").out
        assert path.read_bytes() == before

    def test_where_nothing_is_left_it_is_a_move(self, run: Run, done: Run, path: Path) -> None:
        done("move", path, "#100", "--json")
        moved = run("move", path, "#120", "--summary", "extractive", "--json").document
        assert (moved["summary_entry"], moved["summary"], moved["kind"]) == (None, None, "move")
        assert "nothing-left" in {one["code"] for one in moved["diagnostics"]}
        assert last_line(path)["customType"] == "leafward.leaf"

    def test_the_price_holds_the_summary(self, run: Run, path: Path) -> None:
        plain = run("move", path, "#205", "--dry-run", "--json").document["price"]
        carried = run("move", path, "#205", "--summary", "extractive", "--dry-run", "--json").document[
            "price"
        ]
        text = run("move", path, "#205", "--summary", "extractive", "--dry-run").out
        assert carried["context"]["after"] == plain["context"]["after"] + carried["summary"]
        assert f"-> ~{short(carried['context']['after'])}" in text

    def test_where_it_is_already_nothing_is_written(self, done: Run, path: Path) -> None:
        before = path.read_bytes()
        stayed = done("move", path, "leaf", "--summary", "extractive", "--json").document
        assert (stayed["op"], stayed["summary_entry"]) == (None, None)
        assert path.read_bytes() == before

    def test_before_a_prompt(self, run: Run, path: Path) -> None:
        prompts = [
            one
            for one in run("tree", path, "--json").document["entries"]
            if one["role"] == "user" and one["on_path"]
        ]
        moved = run("move", path, prompts[-1]["id"], "--before", "--summary", "extractive", "--json").document
        assert moved["target"] == prompts[-1]["parent"]
        assert moved["prompt"]
        assert last_line(path)["parentId"] == prompts[-1]["parent"]

    @pytest.mark.parametrize(
        ("options", "said"),
        [
            (("--focus", "x"), "--focus needs --summary"),
            (("--model", "local/x"), "--model and --base-url need --summary model"),
            (
                ("--summary", "extractive", "--model", "local/x"),
                "--model and --base-url need --summary model",
            ),
            (("--summary", "short"), "'short' is not one of"),
        ],
    )
    def test_a_wrong_combination_is_a_wrong_use(
        self, options: tuple[str, ...], said: str, run: Run, path: Path
    ) -> None:
        before = path.read_bytes()
        outcome = run("move", path, "#205", *options)
        assert (outcome.code, outcome.out) == (2, "")
        assert said in outcome.err
        assert path.read_bytes() == before

    def test_a_model_has_to_be_configured(self, run: Run, path: Path) -> None:
        before = path.read_bytes()
        outcome = run("move", path, "#205", "--summary", "model")
        assert (outcome.code, outcome.out) == (1, "")
        assert "no model is configured" in outcome.err
        assert outcome.err.count("\n") == 1
        assert path.read_bytes() == before
