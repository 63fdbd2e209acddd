"""A comparison as a document: whole, safe, and never markup of anybody else's."""

from __future__ import annotations

import json
import re
from contextlib import closing
from typing import TYPE_CHECKING, Any

import pytest

from leafward.base.errors import Cancelled
from leafward.branches.diff.sides import sides
from leafward.export.documents.comparison import comparison_of
from leafward.export.documents.comparison_document import document
from leafward.session.session import Session
from tests.acting import Acting, call
from tests.core.export.test_export import HOSTILE, Page
from tests.core.export.test_sanitizer import PAYLOADS, live
from tests.pi_file import HEADER

if TYPE_CHECKING:
    from pathlib import Path

SECRET = "sk-ant-api03-" + "a1B2c3D4" * 4


@pytest.fixture
def parted(tmp_path: Path) -> Path:
    """Two branches, one with hostile texts in names and contents, one with a secret."""
    file = Acting(tmp_path / "s.jsonl")
    file.user("begin")
    file.said(call("write", "w", path="src/a.py", content="one\ntwo\n"))
    file.answered("w", "write", "ok")
    fork = file.said("ready")
    file.user(HOSTILE, fork)
    file.said(call("edit", "a", path="src/a.py", oldText="two\n", newText=f"{HOSTILE}\n```\n"))
    file.answered("a", "edit", "ok")
    file.said(call("read", "r", path="<b>|.md"))
    file.answered("r", "read", "x")
    file.said(HOSTILE)
    file.user("branch B", fork)
    file.said(call("edit", "b", path="src/a.py", oldText="one\n", newText=f"key = '{SECRET}'\n"))
    file.answered("b", "edit", "ok")
    file.said("B is done")
    return file.path


def made(path: Path, form: str, **settings: Any) -> str:
    with closing(Session.open(path)) as session:
        a, b = session.tree.leaves()
        return document(comparison_of(sides(session, a, b), **settings), form)


@pytest.mark.parametrize("form", ["md", "html", "json"])
def test_everything_is_there_and_secrets_are_not(parted: Path, form: str) -> None:
    text = made(parted, form)
    for words in (
        "src/a.py",
        "edited in both",
        "B is done",
        "one place is changed by both in different ways",
    ):
        assert words in text
    assert SECRET not in text
    assert "\x1b" not in text
    assert SECRET in made(parted, form, secrets=True)


@pytest.mark.parametrize("form", ["md", "html"])
def test_what_the_contexts_consist_of_adds_up_and_what_was_spent_is_there(parted: Path, form: str) -> None:
    text, data = made(parted, form), json.loads(made(parted, "json"))
    for letter in "ab":
        ledger = data["context"]["ledger"][letter]
        assert sum(amount for part, amount in ledger.items() if part != "total") == ledger["total"]
    for part in ("system", "after", "total", "turns", "tokens of all requests"):
        assert part in text


def test_json_has_both_sides_and_their_files(parted: Path) -> None:
    data = json.loads(made(parted, "json"))
    assert {file["path"]: file["column"] for file in data["files"]} == {
        "src/a.py": "both",
        "<b>|.md": "only_a",
    }
    assert (data["a"]["turns"], data["b"]["edits"]) == (1, 1)
    (content,) = data["contents"]
    assert content["diff"].startswith("@@ -1,")
    assert (content["a"]["certainty"], content["b"]["certainty"]) == ("exact", "exact")


def test_a_page_runs_nothing_and_loads_nothing(parted: Path) -> None:
    page = Page(made(parted, "html"))
    assert not page.open
    assert not [one for one in page.attributes if one[1].startswith("on") or one[1] in ("src", "href")]
    assert "<script>" not in made(parted, "html")


def test_markdown_stays_inside_its_fence(parted: Path) -> None:
    text = made(parted, "md")
    fences = re.findall(r"^(`{3,})diff$", text, re.MULTILINE)
    assert fences == ["````"]
    table = [line for line in text.splitlines() if line.startswith("| =")]
    assert len(table) == 1
    assert "\\<b\\>\\|.md" in table[0]


def test_it_stops_when_it_is_told_to(parted: Path) -> None:
    with closing(Session.open(parted)) as session:
        a, b = session.tree.leaves()
        with pytest.raises(Cancelled):
            comparison_of(sides(session, a, b), stop=lambda: True)


def test_no_text_of_a_session_is_live_markup(tmp_path: Path) -> None:
    file = Acting(tmp_path / "s.jsonl", HEADER | {"cwd": "/w/<img src=x>"})
    file.user("begin")
    fork = file.said("ready")
    for side in (fork, fork):
        file.user("go", side)
        for number, payload in enumerate(PAYLOADS.values()):
            name = f"{payload.replace('/', ':')}.py"
            file.said(call("write", f"w{number}", path=name, content=payload))
            file.answered(f"w{number}", "write", payload)
            file.said(call("edit", f"e{number}", path=name, oldText="w1", newText=payload))
            file.answered(f"e{number}", "edit", "ok")
            file.said(payload)
    assert live(made(file.path, "md")) == []
