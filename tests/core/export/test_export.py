"""Exports: whole, safe, and never markup of anybody else's."""

from __future__ import annotations

import json
import re
from contextlib import closing
from html.parser import HTMLParser
from typing import TYPE_CHECKING, Any

import pytest

from leafward.branches.transfer.context_edits import ContextEdit, apply_edits, draft_edits
from leafward.export.documents.sanitizer import fenced, harmless
from leafward.export.documents.session_export import export
from leafward.session.entries import EntryIndex
from leafward.session.session import Session
from tests.claude_transcript import Transcript, opened
from tests.codex_rollout import Rollout
from tests.pi_file import HEADER, PiFile, conversation
from tests.surroundings import THOROUGH

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

HOSTILE = (
    "<script>alert(1)</script> <img src=x onerror=alert(1)> ![x](http://evil) [b]x[/b] \x1b[31m &amp; \"'"
)
VOID = {"meta", "img", "br", "hr", "link", "input"}


def exported(path: Path, form: str, **options: Any) -> str:
    with closing(Session.open(path)) as session:
        return export(session, form, **options).text


def test_markdown_says_who_speaks_and_where_the_path_ends(tmp_path: Path) -> None:
    """One heading for all that the agent says in a turn; a label behind the last reply is not where the path ends."""
    file = PiFile(tmp_path / "s.jsonl", HEADER)
    last = ""
    for number in (1, 2):
        file.user(f"prompt {number}")
        file.reply("looking", f"call{number}")
        file.result(f"call{number}")
        last = file.reply(f"answer {number}")
    file.entry("label", targetId=last, label="done")
    text = exported(file.path, "md")
    assert f"- Holds: 9 entries, the path to {last}\n" in text
    said = [
        line.partition(" ·")[0] for line in text.splitlines() if re.match("## |prompt|looking|answer", line)
    ]
    turns = [["## You", f"prompt {number}", "## Agent", "looking", f"answer {number}"] for number in (1, 2)]
    assert said == turns[0] + turns[1]


class Page(HTMLParser):
    """Tags balanced, and everything that could load or run noted."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.attributes: list[tuple[str, str, str]] = []
        self.ids: list[str] = []
        self.text: list[str] = []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: Sequence[tuple[str, str | None]]) -> None:
        self.attributes += [(tag, name, value or "") for name, value in attrs]
        self.ids += [value or "" for name, value in attrs if name == "id"]
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text.append(data)


@pytest.fixture
def hostile(tmp_path: Path) -> Path:
    """The hostile text in every place that an export shows."""
    file = PiFile(tmp_path / "s.jsonl", HEADER | {"cwd": HOSTILE})
    file.user(HOSTILE)
    file.entry(
        "message",
        message={
            "role": "assistant",
            "content": [
                {"type": "text", "text": f"{HOSTILE}\n```{HOSTILE}\n{HOSTILE}\n```\n{HOSTILE}"},
                {"type": "thinking", "thinking": HOSTILE},
                {"type": "toolCall", "id": "1", "name": HOSTILE, "arguments": {HOSTILE: HOSTILE}},
                {"type": "image", "mimeType": "image/svg+xml", "data": HOSTILE},
                {"type": "image", "mimeType": "image/png", "data": '"><script>'},
                {"type": "image", "mimeType": "image/png", "data": "iVBORw0KGgo="},
            ],
            "stopReason": "error",
            "errorMessage": HOSTILE,
        },
    )
    file.entry(
        "message",
        message={
            "role": "toolResult",
            "toolCallId": "1",
            "toolName": HOSTILE,
            "content": HOSTILE,
            "isError": True,
        },
    )
    file.entry(
        "message", message={"role": "bashExecution", "command": HOSTILE, "output": HOSTILE, "exitCode": 1}
    )
    file.entry("custom_message", customType=HOSTILE, content=HOSTILE, display=True)
    file.entry("branch_summary", fromId="x", summary=HOSTILE)
    file.entry("compaction", summary=HOSTILE, firstKeptEntryId="00000001", tokensBefore=1)
    file.entry("model_change", provider=HOSTILE, modelId=HOSTILE)
    file.entry("label", targetId="00000001", label=HOSTILE)
    file.entry("session_info", name=HOSTILE)
    file.raw(HOSTILE)
    file.user("end", parent="00000001")
    return file.path


class TestWebPage:
    @pytest.mark.parametrize("whole", [False, True])
    def test_nothing_runs_and_nothing_is_loaded(self, whole: bool, hostile: Path) -> None:
        text = exported(hostile, "html", whole=whole)
        page = Page(text)
        assert "<script" not in text
        assert "\x1b" not in text
        for tag, name, value in page.attributes:
            assert not name.startswith("on"), (tag, name)
            if name == "src":
                assert value.startswith("data:image/png;base64,iVBOR")
            if name == "href":
                assert re.fullmatch(r"#e\d+", value)
        assert "default-src 'none'" in text
        assert "url(" not in text
        assert "@import" not in text

    def test_links_lead_to_entries(self, hostile: Path) -> None:
        page = Page(exported(hostile, "html", whole=True))
        assert len(set(page.ids)) == len(page.ids)
        for _, name, value in page.attributes:
            if name == "href":
                assert value[1:] in page.ids

    def test_branches_are_folded_at_the_side(self, tmp_path: Path) -> None:
        file = conversation(tmp_path / "s.jsonl", 2)
        file.user("aside", parent="00000002")
        file.user("deeper")
        file.reply("on", parent="00000004")
        text = exported(file.path, "html", whole=True)
        sidebar = text.partition("<nav")[2].partition("</nav>")[0]
        assert sidebar.count("<details>") == 1
        order = [
            sidebar.index(word)
            for word in ("question 0", "<details>", "aside", "deeper", "</details>", "question 1")
        ]
        assert order == sorted(order)
        assert "aside" not in exported(file.path, "html")

    def test_a_branch_names_the_entry_that_it_leaves(self, tmp_path: Path) -> None:
        file = conversation(tmp_path / "s.jsonl", 2)
        file.user("aside", parent="00000001")
        text = exported(file.path, "html", whole=True)
        assert text.count("<h2>Branch from ") == 1
        assert '<h2>Branch from <a href="#e0">' in text

    def test_a_picture_is_inside(self, tmp_path: Path, hostile: Path) -> None:
        assert exported(hostile, "html", whole=True).count("<img ") == 1

    def test_light_and_dark(self, hostile: Path) -> None:
        assert "prefers-color-scheme: dark" in exported(hostile, "html")


class TestMarkdown:
    @pytest.mark.parametrize("whole", [False, True])
    def test_no_html_and_no_images_outside_fences(self, whole: bool, hostile: Path) -> None:
        text = exported(hostile, "md", whole=whole)
        assert "\x1b" not in text
        fence = ""
        for line in text.split("\n"):
            found = re.match(r"^(`{3,})", line)
            if fence:
                fence = "" if found and line == fence else fence
            elif found:
                fence = found[1]
            else:
                assert "<script" not in line.replace("\\<script", "")
                assert "![" not in line.replace("!\\[", "")
        assert fence == ""

    def test_a_fence_is_longer_than_what_is_in_it(self) -> None:
        assert fenced("a ```` b") == "`````\na ```` b\n`````"
        assert fenced("plain", "text") == "```text\nplain\n```"

    @pytest.mark.parametrize(
        ("text", "shown"),
        [
            ("a < b and <b>", "a < b and &lt;b>"),
            ("`<b>` is code", "`<b>` is code"),
            ("```\n<b>\n```\n<b>", "```\n<b>\n```\n&lt;b>"),
            ("```\nnever closed <b>", "```\nnever closed <b>\n```"),
            ("~~~\n```\n<b>\n~~~", "~~~\n```\n<b>\n~~~"),
            ("![pic](http://x)", "!\\[pic](http://x)"),
            ("*emphasis* stays", "*emphasis* stays"),
        ],
    )
    def test_what_the_session_wrote(self, text: str, shown: str) -> None:
        assert harmless(text) == shown

    def test_the_path_and_every_branch(self, tmp_path: Path) -> None:
        file = conversation(tmp_path / "s.jsonl", 2)
        file.user("aside", parent="00000002")
        file.reply("on", parent="00000004")
        path_only = exported(file.path, "md")
        assert "aside" not in path_only
        assert path_only.count("\n## You") == 2
        whole = exported(file.path, "md", whole=True)
        assert "## From the start: question 0" in whole
        assert "### Branch from 00000002: aside" in whole
        assert whole.index("on\n") < whole.index("### Branch from")

    def test_a_line_that_is_no_entry_stands_in_its_place(self, tmp_path: Path) -> None:
        file = conversation(tmp_path / "s.jsonl", 2)
        lines = file.path.read_bytes().split(b"\n")
        file.path.write_bytes(b"\n".join([*lines[:3], b"{broken", *lines[3:]]))
        whole = exported(file.path, "md", whole=True)
        assert whole.index("answer 0") < whole.index("{broken") < whole.index("question 1\n\n###")

    def test_a_title_that_is_cut_says_so(self, tmp_path: Path) -> None:
        file = PiFile(tmp_path / "s.jsonl")
        file.user("sort the pears " * 9)
        assert exported(file.path, "md").startswith(f"# {'sort the pears ' * 7}sort the…\n")

    @pytest.mark.parametrize("form", ["md", "html"])
    def test_what_was_added_to_the_context_is_whole(self, form: str, tmp_path: Path) -> None:
        rule = "never use floats for money"
        transcript = Transcript(tmp_path)
        transcript.prompt("hello")
        transcript.attachment("be kind. " * 60 + rule, "instructions")
        transcript.reply("hi")
        with closing(opened(transcript.path)) as session:
            text = export(session, form).text
        assert rule in text
        assert "added: " in text

    def test_a_line_that_is_cut_says_so(self, tmp_path: Path) -> None:
        file = PiFile(tmp_path / "s.jsonl")
        file.user("sort the pears " * 30)
        file.reply("so")
        with closing(Session.open(file.path)) as session:
            apply_edits(session, draft_edits(session, [ContextEdit(EntryIndex(0))]))
        text = exported(file.path, "md")
        assert re.search(r"edit: omits .*…\*", text)

    @pytest.mark.parametrize("form", ["md", "html"])
    def test_times_name_their_zone(self, form: str, tmp_path: Path, in_zone: Callable[[str], None]) -> None:
        file = PiFile(tmp_path / "s.jsonl")
        file.user("hello")
        in_zone("Asia/Tokyo")
        text = exported(file.path, form)
        assert re.search(r"2026-\d\d-\d\d \d\d:\d\d UTC", text)

    @pytest.mark.parametrize("form", ["md", "html"])
    def test_a_secret_that_stands_twice_is_counted_once_and_that_is_said(
        self, form: str, tmp_path: Path
    ) -> None:
        file = PiFile(tmp_path / "s.jsonl")
        secret = "ghp_" + "a1B2c3D4e5" * 3 + "f6G7H8"
        file.user(f"use {secret}")
        file.reply(f"I use {secret}")
        text = exported(file.path, form)
        assert text.count("redacted: github") >= 2
        assert "Redacted, each secret counted once: 1 github token" in text

    def test_what_stands_in_it(self, sessions_path: Path) -> None:
        text = exported(sessions_path / "compacted-twice.jsonl", "md")
        assert "## Compaction · " in text
        assert "**bash**" in text
        assert "*bash returned*" in text


@pytest.fixture
def sessions_path(repository: Path) -> Path:
    return repository / "tests" / "data" / "pi" / "sessions"


class TestJson:
    def test_header_and_entries_whole(self, sessions_path: Path) -> None:
        path = sessions_path / "branches.jsonl"
        lines = [json.loads(line) for line in path.read_text().splitlines()]
        document = json.loads(exported(path, "json", whole=True))
        assert [document["header"], *document["entries"]] == lines
        path_only = json.loads(exported(path, "json"))
        assert [entry["id"] for entry in path_only["entries"]][-1] == "15b3ccb6"
        assert len(path_only["entries"]) < len(document["entries"])

    def test_a_line_that_is_no_entry(self, hostile: Path) -> None:
        entries = json.loads(exported(hostile, "json", whole=True))["entries"]
        (bad,) = (entry for entry in entries if entry["type"] == "malformed")
        assert bad["raw"] == HOSTILE

    def test_secrets_stay_where_they_are_wanted(self, tmp_path: Path) -> None:
        file = PiFile(tmp_path / "s.jsonl")
        secret = "ghp_" + "aB3d" * 9
        file.user(secret)
        assert secret not in exported(file.path, "json")
        assert secret in exported(file.path, "json", secrets=True)


def test_an_unknown_format(hostile: Path) -> None:
    with closing(Session.open(hostile)) as session, pytest.raises(KeyError):
        export(session, "pdf")


@pytest.mark.parametrize("form", ["md", "html", "json"])
def test_real_sessions(form: str, corpora: Path) -> None:
    paths = sorted((corpora / "pi").glob("*.jsonl"), key=lambda path: path.stat().st_size)
    for path in paths if THOROUGH else paths[:1]:
        with closing(Session.open(path)) as session:
            assert len(export(session, form, whole=True).text) > 100_000


def test_a_secret_in_the_name_of_added_context_does_not_stay_with_spaces(tmp_path: Path) -> None:
    """Headlines write the underscores of such a name as spaces; the token is none then for the redaction."""
    token = "ghp" + "_" + "aB3d" * 9
    made = Rollout(tmp_path)
    content = [{"type": "input_text", "text": "<note>x</note>"}]
    kinds = {"content_item_kinds": [token]}
    made.item("message", role="user", content=content, internal_chat_message_metadata_passthrough=kinds)
    made.turn("hello", "hi")
    for form in ("md", "html"):
        text = export(made.opened(), form).text
        assert "added: " in text
        assert token[4:] not in text


BARE = "q8ZtR4mLw2Pn6Vd9"
"""A secret by what is said of it alone."""


@pytest.mark.parametrize("form", ["md", "html", "json"])
@pytest.mark.parametrize("whole", [True, False])
def test_a_secret_that_one_entry_names_is_taken_out_of_all_others(
    form: str, whole: bool, tmp_path: Path
) -> None:
    file = PiFile(tmp_path / "s.jsonl")
    file.user(f"we use {BARE} everywhere")
    file.reply(f"I write {BARE} into the configuration.")
    named = file.user(f"The admin password is {BARE} and must not change.")
    file.reply("Done.", named)
    file.user(f"use {BARE} again")
    with closing(Session.open(file.path)) as session:
        assert BARE not in export(session, form, whole=whole).text
        # The entry that names it is left out.
        others = frozenset(index for index in range(len(session)) if session.columns.id(index) != named)
        assert BARE not in export(session, form, whole=whole, only=others).text


@pytest.mark.parametrize("form", ["md", "html", "json"])
def test_no_piece_of_a_secret_stays_where_a_line_is_cut(form: str, tmp_path: Path) -> None:
    token = "ghp" + "_" + "aB3d" * 9
    for before in range(200, 244, 3):
        file = PiFile(tmp_path / f"{before}.jsonl")
        file.user("w " * (before // 2) + f"{token} and more " * 3)
        file.reply("answer")
        with closing(Session.open(file.path)) as session:
            assert token[:8] not in export(session, form).text
