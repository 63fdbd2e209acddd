"""Rule files: heads, globs, keywords, and which rules a compaction makes stop matching."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from leafward.base.globs import base_folder, expanded, matches
from leafward.compaction.injection.audit import RuleFate, SummaryPresence, audit_items, rules_of
from leafward.compaction.injection.builders.frontmatter import read_head
from leafward.compaction.injection.builders.rules import (
    Situation,
    keyword_form,
    matching,
    read_rules,
    slash_command,
)
from leafward.compaction.injection.builders.workspace import Workspace
from leafward.compaction.injection.findings.collection import collect
from leafward.compaction.injection.injection import inject
from leafward.compaction.injection.values import InjectionSettings
from tests.acting import Acting, call, reading
from tests.workspaces import put, refactoring, spec

if TYPE_CHECKING:
    from pathlib import Path

    from leafward.compaction.injection.values import InjectionRemark


@pytest.mark.parametrize(
    ("path", "pattern", "expected"),
    [
        ("src/components/Button.tsx", "src/components/**/*.tsx", True),
        ("src/components/a/b/Button.tsx", "src/components/**/*.tsx", True),
        ("src/a.ts", "*.ts", True),
        ("src/x/a.ts", "src/*.ts", False),
        ("src/a.ts", "src/*.ts", True),
        ("src/components", "src/components/**", False),
        ("src/components/a", "src/components/**", True),
        ("/abs/a.ts", "**/*.ts", False),
        ("../a.ts", "**/*.ts", False),
        (".env", "*", False),
        ("src/.hidden/a.ts", "**/*.ts", False),
        (".github/a.yml", ".github/*.yml", True),
        ("src/A.ts", "src/a.ts", False),
        ("src/a.tsx", "src/*.{ts,tsx}", True),
        ("lib/x.py", "{src,lib}/**/*.py", True),
        ("a/b7/c", "a/b[0-9]/c", True),
        ("a/bx/c", "a/b[!0-9]/c", True),
        ("a/b/c", "a?b/c", False),
        ("a.ts", "**", True),
        ("a/b.ts", "**/b.ts", True),
        ("b.ts", "**/b.ts", True),
        ("x", "", False),
        ("a(b).ts", "a(b).ts", True),
    ],
)
def test_a_glob_matches_a_path(path: str, pattern: str, expected: bool) -> None:
    assert matches(path, pattern) is expected


@pytest.mark.parametrize(
    ("pattern", "folder"),
    [
        ("src/components/**/*.ts", "src/components"),
        ("src/deeply/nested/path/**/*.{ts,tsx}", "src/deeply/nested/path"),
        ("**/*.test.ts", ""),
        ("test*", ""),
        ("src/test*", "src"),
        ("src/{a,b}/x.ts", "src"),
        ("a/b[0-9]/c", "a"),
        ("/abs/*.ts", "/abs"),
        ("/*.ts", ""),
        ("src/index.ts", "src/index.ts"),
        ("README.md", "README.md"),
    ],
)
def test_the_folder_that_a_pattern_looks_in(pattern: str, folder: str) -> None:
    assert base_folder(pattern) == folder


def test_braces() -> None:
    assert sorted(expanded("a{b,c{d,e}}f")) == ["abf", "acdf", "acef"]
    assert expanded("a{b") == ["a{b"]
    assert expanded("a{b}c") == ["a{b}c"]
    assert len(expanded("{a,b}" * 30)) <= 400


@given(st.text("ab*?[]{},!/.\\^-", max_size=40), st.text("ab/.x", max_size=30))
@example("[a--b]", "b")
@example("![?--b[]", "b")
def test_any_pattern_is_answered(pattern: str, path: str) -> None:
    assert matches(path, pattern) in {True, False}


@pytest.mark.parametrize(
    ("keyword", "prompt", "expected"),
    [
        ("test", "testing this", True),
        ("test", "a contest", False),
        ("test", "my_test", False),
        ("test", "x-test", True),
        ("unit test", "a unit  test", False),
        ("test.ts", "file.test.ts", True),
        ("test.ts", "run tests now", False),
        ("c++", "use c++", True),
        (".env", "read .env", False),
        ("ber", "über", True),
        ("TEST", "a Test", True),
    ],
)
def test_keywords(keyword: str, prompt: str, expected: bool) -> None:
    assert (keyword_form(keyword).search(prompt) is not None) is expected


@pytest.mark.parametrize(
    ("prompt", "command"), [("/plan now", "plan"), ("/plan,", "plan,"), ("/", ""), ("plan", ""), ("", "")]
)
def test_commands(prompt: str, command: str) -> None:
    assert slash_command(prompt) == command


class TestHead:
    def test_lists_in_every_form(self) -> None:
        head = read_head(
            "---\nglobs: ['src/**/*.ts', \"a,b.ts\"] # why\nkeywords:\n  - unit test\n  - 'it''s'\n\nmatch: all\nci: true\n---\nbody\n"
        )
        assert head.values == {
            "globs": ["src/**/*.ts", "a,b.ts"],
            "keywords": ["unit test", "it's"],
            "match": "all",
            "ci": True,
        }
        assert head.lines == {"globs": 2, "keywords": 3, "match": 7, "ci": 8}
        assert head.body == "body\n"
        assert head.problem == ""

    def test_a_dash_inside_a_value_ends_nothing(self) -> None:
        head = read_head("---\nglobs: ['a---b/*.ts']\n---\n--- body ---\n")
        assert head.values == {"globs": ["a---b/*.ts"]}
        assert head.body == "--- body ---\n"

    @pytest.mark.parametrize(
        "text",
        [
            "---\nglobs: ['a\n---\n",
            "---\nglobs: [a\n---\n",
            "---\nx: y",
            "---\n- a\n---\n",
            "---\na: *b\n---\n",
            "---\na: b: c\n---\n",
        ],
    )
    def test_what_is_not_understood_is_said(self, text: str) -> None:
        head = read_head(text)
        assert head.values == {}
        assert head.problem

    def test_no_head(self) -> None:
        assert read_head("# Title\n---\na: b\n---\n").values == {}
        assert read_head("").problem == ""

    @given(st.text("ab:-[]{}'\"#, \n", max_size=80))
    def test_any_head_is_read(self, text: str) -> None:
        read_head("---\n" + text + "\n---\nx")


def rule_files(root: Path) -> Path:
    put(root, ".opencode/rules/typescript.md", "---", "globs: ['src/**/*.ts']", "---", "strict")
    put(root, ".opencode/rules/python.mdc", "---", "globs: ['**/*.py']", "---", "typed")
    put(
        root,
        ".opencode/rules/testing/unit.md",
        "---",
        "keywords: [pytest]",
        "globs: ['never/*']",
        "---",
        "fast",
    )
    put(
        root,
        ".opencode/rules/both.md",
        "---",
        "keywords: [pytest]",
        "globs: ['**/*.ts']",
        "match: all",
        "---",
        "x",
    )
    put(root, ".opencode/rules/always.md", "# Always", "be kind")
    put(root, ".opencode/rules/broken.md", "---", "globs: [src", "---", "x")
    put(root, ".opencode/rules/.hidden.md", "no")
    put(root, ".opencode/rules/notes.txt", "no")
    return root


class TestRules:
    def test_what_is_read(self, tmp_path: Path) -> None:
        remarks: list[InjectionRemark] = []
        found = read_rules(Workspace(rule_files(tmp_path)), remarks)
        assert [rule.name for rule in found] == [
            "always.md",
            "both.md",
            "broken.md",
            "python.mdc",
            "testing/unit.md",
            "typescript.md",
        ]
        assert [remark.code for remark in remarks] == ["rule"]
        assert "broken.md" in remarks[0].text

    def test_any_and_all(self, tmp_path: Path) -> None:
        found = read_rules(Workspace(rule_files(tmp_path)), [])

        def held(paths: tuple[str, ...], prompt: str) -> set[str]:
            there = Situation(dict.fromkeys(paths, ()), prompt)
            return {match.rule.name for match in matching(found, there)} - {"always.md", "broken.md"}

        assert held((), "hello") == set()
        assert held(("src/a.ts",), "hello") == {"typescript.md"}
        assert held(("a.py",), "run pytest") == {"python.mdc", "testing/unit.md"}
        assert held(("src/a.ts",), "run pytest") == {"typescript.md", "testing/unit.md", "both.md"}

    def test_what_a_session_does_not_tell_is_left_out_of_account(self, tmp_path: Path) -> None:
        put(tmp_path, ".opencode/rules/mac.md", "---", "os: [darwin]", "ci: false", "---", "x")
        file = Acting(tmp_path / "s.jsonl")
        file.user("go on")
        with reading(file.path) as session:
            made = inject(session, session.leaf, InjectionSettings(workspace=tmp_path))
        assert "- mac.md" in made.text.split("\n")
        assert any("operating system" in remark.text for remark in made.diagnostics)

    def test_project_branch_tools_and_model(self, tmp_path: Path) -> None:
        put(tmp_path, "pyproject.toml", "[project]")
        put(tmp_path, ".git/HEAD", "ref: refs/heads/feature/x")
        for name, head in {
            "p": "project: [python]",
            "q": "project: [node]",
            "b": "branch: ['feature/*']",
            "c": "branch: [main]",
            "t": "tools: [read]",
            "m": "model: [scripted-1]",
            "n": "model: [other]",
        }.items():
            put(tmp_path, f".opencode/rules/{name}.md", "---", head, "---", "x")
        file = Acting(tmp_path / "s.jsonl")
        file.said("", call("read", "c1", path="a.txt"))
        with reading(file.path) as session:
            made = inject(session, session.leaf, InjectionSettings(workspace=tmp_path))
        shown = [
            line.text for line in made.lines if line.section == "rules.active" and line.text.startswith("- ")
        ]
        assert shown == ["- b.md", "- m.md", "- p.md", "- t.md"]


class TestAudits:
    @pytest.fixture
    def compacted(self, tmp_path: Path) -> Acting:
        file = Acting(tmp_path / "s.jsonl")
        file.user("start")
        file.said("", call("edit", "c1", path="src/a.ts", oldText="a", newText="b"))
        file.answered("c1", "edit")
        file.said("", call("read", "c2", path="lib/b.py"))
        file.answered("c2", "read")
        file.user("run pytest")
        kept = file.user("and now something else")
        file.compacted(kept, "We looked at lib/b.py and refactor-auth goes on.")
        return file

    def test_rules_kept_recovered_and_lost(self, tmp_path: Path, compacted: Acting) -> None:
        workspace = Workspace(rule_files(tmp_path / "w"))
        with reading(compacted.path) as session:
            text = inject(session, session.columns.parent[session.leaf]).text
            found = {audit.rule: audit for audit in rules_of(session, session.leaf, text, workspace, [])}
            without = {audit.rule: audit for audit in rules_of(session, session.leaf, "", workspace, [])}
        assert "src/a.ts" in text
        assert found["python.mdc"].fate is RuleFate.KEPT
        assert found["python.mdc"].after == (("globs", "lib/b.py"),)
        assert found["typescript.md"].fate is RuleFate.RECOVERED
        assert found["typescript.md"].before == found["typescript.md"].injected == (("globs", "src/a.ts"),)
        assert without["typescript.md"].fate is RuleFate.LOST
        assert found["always.md"].fate is RuleFate.KEPT
        assert found["always.md"].always
        # The keyword is looked for in the last prompt only, before and after.
        assert "testing/unit.md" not in found

    def test_a_keyword_that_is_no_longer_the_last_prompt(self, tmp_path: Path) -> None:
        file = Acting(tmp_path / "s.jsonl")
        file.user("run pytest")
        kept = file.said("fine")
        file.compacted(kept)
        workspace = Workspace(rule_files(tmp_path / "w"))
        with reading(file.path) as session:
            found = {audit.rule: audit.fate for audit in rules_of(session, session.leaf, "", workspace, [])}
        assert found["testing/unit.md"] is RuleFate.LOST

    def test_items_in_a_summary(self, tmp_path: Path, compacted: Acting) -> None:
        root = spec(tmp_path / "w")
        with reading(compacted.path) as session:
            made = inject(session, session.leaf, InjectionSettings(workspace=root, pins=("Never push",)))
        summary = "Stage: spec-execute.\nnever   PUSH\n.codex/specs/001-prd-compaction/tasks.md is current"
        found = {audit.section: audit.presence for audit in audit_items(made, summary)}
        assert found["stage.canonical_stage"] is SummaryPresence.VERBATIM
        assert found["pins"] is SummaryPresence.NORMALISED
        assert found["stage.current_artifact"] is SummaryPresence.VERBATIM
        assert found["stage.transition_gate"] is SummaryPresence.ABSENT
        shouted = {audit.section: audit.presence for audit in audit_items(made, "SPEC-EXECUTE")}
        assert shouted["stage.canonical_stage"] is SummaryPresence.ABSENT

    def test_placeholders_are_not_looked_for(self, tmp_path: Path, compacted: Acting) -> None:
        root = refactoring(tmp_path / "w")
        with reading(compacted.path) as session:
            found = collect(session, session.leaf)
            made = inject(session, session.leaf, InjectionSettings(workspace=root))
        assert found.compactions
        assert "none recorded" in made.text
        assert all(audit.text != "none recorded" for audit in audit_items(made, ""))


@pytest.mark.parametrize(
    ("path", "pattern"),
    [
        ("a" * 900, "*a" * 40 + "*b"),
        ("a/" * 400 + "a", "**/a/" * 30 + "b"),
        ("a/" * 400 + "a", "/".join(["**"] * 60) + "/b"),
    ],
)
def test_hostile_patterns_take_no_time(path: str, pattern: str) -> None:
    assert not matches(path, pattern)


@given(st.text("ab*/", min_size=1, max_size=12), st.text("ab/", min_size=1, max_size=12))
def test_globs_agree_with_a_slow_reference(pattern: str, path: str) -> None:
    def slow(parts: list[str], names: list[str]) -> bool:
        if not parts:
            return not names
        if parts[0] == "**":
            if len(parts) == 1:
                return bool(names)
            return any(slow(parts[1:], names[at:]) for at in range(len(names) + 1))
        return bool(names) and one(parts[0], names[0]) and slow(parts[1:], names[1:])

    def one(part: str, name: str) -> bool:
        if not part:
            return not name
        if part[0] == "*":
            return one(part[1:], name) or (bool(name) and one(part, name[1:]))
        return bool(name) and part[0] == name[0] and one(part[1:], name[1:])

    if path.startswith("/"):
        return
    parts = pattern.split("/")
    names = path.split("/")
    assert matches(path, pattern) is slow(parts, names if len(parts) > 1 or parts == ["**"] else names[-1:])
