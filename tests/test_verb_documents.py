"""The commands in the documents, and the keys of what verbs print: each is run."""

from __future__ import annotations

import json
import os
import re
import shlex
from pathlib import Path
from typing import Any

import pytest

from leafward.cli.main import main
from tests.test_readme import FENCE, ROOT, rows, text_of

ARGUMENTS = {
    "install": ["claude", "--dry-run"],
    "uninstall": ["claude", "--dry-run"],
    "ls": [],
    "search": ["the", "{}"],
    "blame": [__file__, "--among", "{}"],
    "why": [f"{__file__}:1", "--among", "{}"],
    "tree": ["{}"],
    "show": ["{}"],
    "context": ["{}"],
    "files": ["{}"],
    "diff": ["{}", "#9", "leaf"],
    "select": ["{}", "prompts()"],
    "plan": ["{}"],
    "compact": ["{}", "--keep-recent", "0", "--dry-run"],
    "inject": ["{}"],
    "survival": ["{compacted}"],
    "exam": ["{compacted}"],
    "summarize": ["{}", "--to", "root"],
    "move": ["{}", "#9", "--dry-run"],
    "undo": ["{}"],
    "redo": ["{}"],
    "restore": ["{}", "#9", "--dry-run"],
    "log": ["{}"],
    "bisect": ["{}", "--good", "#9", "--bad", "#10", "--base", "{folder}", "{folder}/skip"],
    "label": ["{}", "leaf", "here"],
    "name": ["{}", "a name"],
    "archive": ["{}", "#9"],
    "keep": ["{}", "--dry-run"],
    "delete": ["{}", "--dry-run"],
    "edit-context": ["{}", "--select", "context(leaf) & results()", "--keep", "5", "--dry-run"],
    "graft": ["{}", "--select", "turn(#9)", "--dry-run"],
    "merge-summaries": ["{}", "#9", "leaf", "--prefer", "both", "--dry-run"],
    "audit": ["{}"],
    "doctor": ["{}"],
    "export": ["{}"],
    "fork": ["{}", "leaf", "--dry-run"],
    "heal": ["{}", "--dry-run"],
    "relocate": ["{folder}/renamed", "{folder}", "--dry-run"],
    "resume": ["{}"],
    "demo": [],
}
"""Arguments that each verb is run with; `{}` is a session, `{compacted}` one with a compaction, `{folder}` their folder. In this order, so that there is something to undo."""


def test_the_commands_run_word_for_word(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Those that name the copy of the bundled session; a reader has it in the current folder after the first of them."""
    for page, least in (("README.md", 9), ("docs/tour.md", 4)):
        folder = tmp_path / page.replace("/", "-")
        folder.mkdir()
        monkeypatch.chdir(folder)
        lines = [line for _, body in FENCE.findall(text_of(page)) for line in body.splitlines()]
        written = [" ".join(line.split()) for line in lines if line.startswith("leafward ")]
        commands = [shlex.split(line, comments=True) for line in written if "hopper.jsonl" in line]
        assert len(commands) >= least
        assert commands[0][1:3] == ["demo", "--copy"]
        for command in commands:
            assert main(command[1:]) == 0, (page, command, capsys.readouterr().err)
        others = [line for line in written if "hopper.jsonl" not in line]
        assert [line for line in others if not line.startswith(tuple(NOT_RUN))] == []


NOT_RUN = {
    "leafward all sessions": "opens the application",
    "leafward FILE-OR-FOLDER": "opens the application",
    "leafward 019f3c": "opens the application",
    "leafward --help": "in docs/cli.md whole",
    "leafward ls --project orchard": "a project of the reader's",
    "leafward search '": "text of the reader's sessions",
    "leafward blame src/app.py:12": "a file of the reader's",
    "leafward restore 019f3c": "a session of the reader's",
    "leafward bisect 019f3c": "a session of the reader's",
    "leafward relocate ~/orchard": "a folder of the reader's",
    "leafward audit": "all sessions of the reader",
    "leafward install claude": "the reader's settings of Claude Code",
}
"""Beginnings of the commands in the documents that are not run as they stand, and the reason."""


WRITE_KEYS = {
    "op", "kind", "from", "leaf", "target", "undoes", "entries", "size", "backup", "dry_run", "diagnostics"
}  # fmt: skip
"""The keys that each document of a write has."""


def test_documents_hold_the_keys_that_are_listed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:

    from leafward.export.demo import demo_session

    session = tmp_path / "branches.jsonl"
    text = (ROOT / "tests" / "data" / "pi" / "sessions" / "branches.jsonl").read_text(encoding="utf-8")
    header, _, rest = text.partition("\n")
    session.write_text(
        json.dumps(json.loads(header) | {"cwd": str(tmp_path)}) + "\n" + rest, encoding="utf-8"
    )

    compacted = tmp_path / "demo.jsonl"
    with demo_session() as bundled:
        compacted.write_bytes(bundled.read_bytes())

    renamed = Path(os.environ["PI_CODING_AGENT_DIR"]) / "sessions" / "--renamed--" / "renamed.jsonl"
    renamed.parent.mkdir(parents=True)
    there = json.loads(header) | {"cwd": str(tmp_path / "renamed")}
    renamed.write_text(json.dumps(there) + "\n" + rest, encoding="utf-8")

    (tmp_path / "skip").write_text("#!/bin/sh\nexit 125\n")
    (tmp_path / "skip").chmod(0o755)
    documents: dict[str, dict[str, Any]] = {}
    for verb in ("label", *(verb for verb in ARGUMENTS if verb != "label")):
        arguments = [
            argument.format(session, compacted=compacted, folder=tmp_path) for argument in ARGUMENTS[verb]
        ]
        assert main([verb, *arguments, "--json"]) == 0, verb
        documents[verb] = json.loads(capsys.readouterr().out)
    day = documents["demo"]["session"]
    assert (day["branches"], day["compactions"]) == (8, 2)
    assert "eight branches and two compactions" in text_of("README.md")
    listed = listed_keys()
    assert sorted(listed) == sorted(ARGUMENTS)
    assert set(ARGUMENTS) == set(
        re.findall(r"^### `leafward ([\w-]+)`", text_of("docs/cli.md"), re.MULTILINE)
    )
    for verb, keys in listed.items():
        assert keys <= documents[verb].keys(), (verb, keys - documents[verb].keys())
        assert documents[verb].keys() <= told(verb, keys, documents[verb]), verb


VARIANTS = (
    "diff {} #9 leaf --patch b",
    "diff {} #9 leaf --format md",
    "diff {} #9 #12 leaf --what outcome",
    "files {} --timeline README.md",
    "files {} --rebuild README.md",
    "files {} --into then --dry-run",
    "select --functions",
    "audit --kind list",
    "ls --totals --by compaction",
    "plan {} --strategy all",
    "compact {} --strategy all --dry-run",
    "compact {} --model openai/one --dry-run",
    "exam {} --model openai/one --dry-run",
    "move {} #9 --summary extractive --dry-run",
    "keep {} --sanitised then --dry-run",
    "doctor",
    "doctor --forget --dry-run",
    "doctor --clear-litter --dry-run",
    "demo --copy then.jsonl",
)
"""Options with which a verb prints other keys."""


@pytest.mark.parametrize("typed", VARIANTS)
def test_the_keys_of_other_forms_are_told(
    typed: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from leafward.export.demo import demo_session

    monkeypatch.chdir(tmp_path)
    with demo_session() as session:
        assert main([*(word.format(session) for word in typed.split()), "--json"]) in (0, 1), (
            capsys.readouterr().err
        )
    keys = json.loads(capsys.readouterr().out).keys()
    told = text_of("docs/json.md")
    assert {key for key in keys if f"`{key}`" not in told} == set()
    verb = typed.split(maxsplit=1)[0]
    if "diagnostics" in keys and f"`{verb}`" in told.partition("have none, but")[0].rpartition("below (")[2]:
        about = dict(rows(told, "| verb | |"))
        assert "`diagnostics`" in next(
            text for verbs, text in about.items() if f"`{verb}`" in verbs.split(", ")
        )


def listed_keys() -> dict[str, set[str]]:
    """The keys of each verb's document, as docs/json.md lists them."""
    return {
        verb.strip("`"): set(re.findall(r"`(\w+)`", keys))
        for verbs, keys in rows(text_of("docs/json.md"), "| verb | keys of the document |")
        for verb in verbs.split(", ")
    }


def told(verb: str, keys: set[str], document: dict[str, Any]) -> set[str]:
    """The keys that a document may have: those listed, and those of a write."""
    return keys | (WRITE_KEYS if "op" in document and verb != "restore" else set())


NOT_OF_OTHERS = {
    "install",
    "uninstall",
    "blame",
    "why",
    "restore",
    "bisect",
    "delete",
    "edit-context",
    "graft",
    "relocate",
    "demo",
}
"""Verbs that have no session, or that a session without calls and branches gives nothing to do."""


@pytest.mark.parametrize("agent", ["claude", "codex", "opencode", "opencode-files"])
def test_documents_of_other_agents_have_the_same_keys(
    agent: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Fails where a source of another agent adds a key to a document, or leaves one out."""

    from tests.foreign_stores import make

    path = make(agent, tmp_path).path
    listed = listed_keys()
    assert main(["compact", str(path), "--keep-recent", "0", "--larger", "--json"]) == 0
    capsys.readouterr()
    for verb in ("label", *(verb for verb in ARGUMENTS if verb != "label" and verb not in NOT_OF_OTHERS)):
        arguments = [
            argument.replace("#9", "#3").format(path, compacted=path, folder=tmp_path)
            for argument in ARGUMENTS[verb]
        ]
        # Right after a compaction there is nothing to compact.
        at = ["--at", "#5"] if verb in ("plan", "compact") else []
        assert main([verb, *arguments, *at, "--json"]) == 0, (verb, capsys.readouterr().err)
        document = json.loads(capsys.readouterr().out)
        assert listed[verb] <= document.keys(), (verb, listed[verb] - document.keys())
        assert document.keys() <= told(verb, listed[verb], document), verb
