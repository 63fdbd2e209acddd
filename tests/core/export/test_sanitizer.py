"""Markdown of a session, held against a parser: nothing in it runs or loads, and nothing of what it shows is lost."""

from __future__ import annotations

import re
from collections import Counter
from contextlib import closing
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from leafward.export.documents.sanitizer import harmless, safe_target
from leafward.export.documents.session_export import export
from leafward.session.session import Session
from tests.core.linear_time import in_linear_time
from tests.pi_file import PiFile

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from markdown_it.token import Token


class Everything(MarkdownIt):
    """Makes every link that the syntax allows."""

    def validateLink(self, url: str) -> bool:
        return True


PARSERS = (
    Everything("commonmark"),
    Everything("commonmark").enable(["table", "strikethrough"]),
    # A parser that knows no code by indentation, as some have it.
    Everything("commonmark").enable(["table"]).disable("code"),
)


def tokens(text: str, parser: MarkdownIt = PARSERS[0]) -> Iterator[Token]:
    for token in parser.parse(text):
        yield token
        yield from token.children or ()


def live(text: str) -> list[str]:
    """Everything that a reader's program would run, fetch or open."""
    found = []
    for parser in PARSERS:
        for token in tokens(text, parser):
            href = str(token.attrs.get("href", ""))
            if token.type in {"html_block", "html_inline", "image"} or not safe_target(href):
                found.append(f"{token.type}: {token.content or href}")
    return found


def words(text: str) -> Counter[str]:
    """The words (`w1`, `w2` …) that a reader sees."""
    seen = " ".join(
        token.content
        for token in tokens(text)
        if token.type in {"text", "code_inline", "code_block", "fence", "html_block", "html_inline"}
    )
    return Counter(re.findall(r"w\d+", seen))


PAYLOADS = {
    "a span over the end of a paragraph": "w1 `open\n\n<img src=x onerror=alert(1)> w2 ` end",
    "escaped backticks": "\\`w1 <img src=x onerror=alert(1)>\\` w2",
    "a backslash before the end of a span": "`w1\\` <img src=x> w2`",
    "a fence whose info holds a backtick": "```a`b\n<img src=x> w1\n```\nw2",
    "a fence that its list ends": "- ```\n  w1\n<script>alert(1)</script>\n\n```\nw2",
    "a fence that its quote ends": "> ```\n> w1\n<script>alert(1)</script>\n```\n<b>w2",
    "a fence by four spaces": "w1\n    ```\n<script>alert(1)</script>\n    ```\nw2",
    "a fence that a deeper line does not close": "```\nw1\n    ```\n<b>\n```\n<script>w2",
    "a heading inside a span": "`w1\n# <img src=x> w2`\n",
    "a list inside a span": "`w1\n- <img src=x> w2`\n",
    "a line inside a span": "`w1\n***\n<img src=x> w2`\n",
    "a table that cuts a span": "|a|b|\n|-|-|\n|`w1|<img src=x>`|\nw2",
    "a fence in a table": "|a|\n|-|\n|```|\n<b>w1\n```\nw2 <b>",
    "a tag over two lines": "w1 <img\nsrc=x onerror=alert(1)> w2",
    "a comment": "w1 <!-- w2 --> <!DOCTYPE x> <?php x ?> <![CDATA[x]]>",
    "a tag behind a backslash": "w1 \\\\<b>x</b> w2",
    "runs of different length": "`` w1 ` <b> `` ` <b> w2 `",
    "tildes": "~~~ a`b <b>\nw1 <b>\n~~~~ x\n~~~\n<b>w2",
    "an open fence": "w1\n````\n<b>\n``` \nw2",
    "an open fence in a list": "1. w1\n   ````\n   <b>\n\n   w2",
    "a link that runs": "[w1](javascript:alert(1)) w2",
    "by an entity": "[w1](java&#115;cript:alert(1)) [w2](javascript&colon;alert(1))",
    "by a tab as an entity": "[w1](java&Tab;script:alert(1)) [w2](&#1;javascript:x)",
    "by an escape": "[w1](javascript\\:alert(1)) w2",
    "in angles": "[w1](<javascript:alert(1)>) w2",
    "on the next line": "[w1](\njavascript:alert(1)) w2",
    "other schemes": "[w1](data:text/html;base64,x) [w2](vbscript:x) [w3](file:///etc/passwd)",
    "upper case": "[w1](JaVaScRiPt:alert(1)) w2",
    "a definition": "[w1][x] w2\n\n[x]: javascript:alert(1)",
    "a definition over two lines": "[w1]\n\n[w1]:\njavascript:alert(1)\n\nw2",
    "a definition with a title": "[w1]\n\n[w1]: <javascript:alert(1)>\n'title'\n\nw2",
    "a definition in a quote": "[w1]\n\n> [w1]: javascript:alert(1)\n\nw2",
    "an automatic link": "<javascript:alert(1)> w1 <https://example.com> w2",
    "a picture": "![w1](https://example.com/p.png) w2 ![w3][p]\n\n[p]: https://example.com/q.png",
    "a picture in a link": "[![w1](https://example.com/p.png)](https://example.com) w2",
    "a footnote": "w1[^1] w2\n\n[^1]: <img src=x> javascript:alert(1)",
    "an indented beginning": "    <b> w1\n\n- w2",
    "deep quotes": ">" * 300 + " <b> w1 w2",
    "deep lists": "- " * 300 + "<b> w1 w2",
    "a heading as html": "# <img src=x> w1\n<b>w2\n===",
    "a tilde behind a backslash": "\\~~~\n<b>w1\n~~~\nw2 <b>",
}


@pytest.mark.parametrize("payload", PAYLOADS.values(), ids=PAYLOADS)
def test_nothing_of_it_acts_and_its_words_are_there(payload: str) -> None:
    result = harmless(payload)
    assert live(result) == []
    assert not words(payload) - words(result), result


@pytest.mark.parametrize(
    "text",
    [
        "Use `Vec<u8>` and `a < b`, see [the docs](https://example.com/a?b=c#d) or [it](src/main.py#L10).",
        "1. First:\n\n```python\nif a < b: print(f'<{a}>')\n```\n\n2. Second, *really*.",
        "| a | b |\n|---|---|\n| `x` | [y](./y.md) |",
        "Write to [us](mailto:a@example.com).\n\n[docs]: https://example.com\n\nAs [docs] say, `x[1]: y`.",
        "~~gone~~ and **bold** and\n> a quote\n> of two lines",
        "- a\n    - b\n        - c",
    ],
)
def test_what_is_harmless_stays_as_it_was_written(text: str) -> None:
    assert harmless(text) == text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("1. Do:\n   ```sh\n   cat <file>\n   ```\n2. Then", "1. Do:\n```sh\ncat <file>\n```\n2. Then"),
        ("> ```\n> <b>\n> ```\n> on", "```\n<b>\n```\n> on"),
        ("- ```\n  <b>\n  ```", "-\n```\n<b>\n```"),
        ("    <b>\n    on", "```\n<b>\non\n```"),
        ("`a\n# <b>`", "&#96;a\n# &lt;b>&#96;"),
        ("[a](javascript:x)", "[a]\\(javascript:x)"),
        ("[a]: javascript:x", "[a]\\: javascript:x"),
    ],
)
def test_what_is_not_is_shown_as_what_it_is(text: str, shown: str) -> None:
    assert harmless(text) == shown


def test_what_is_too_large_to_be_sure_of_stands_in_a_fence() -> None:
    text = "<b>" + "word " * 50_000
    assert harmless(text) == f"```text\n{text}\n```"


FRAGMENTS = st.sampled_from([
    *("`", "``", "```", "````", "~~~", "~~~~", "\\", "\n", "\n\n", " ", "    ", "\t", "> ", "- ", "* ", "1. ", "  "),
    *("<b>", "<img src=x>", "<!--", "-->", "<script>", "</b>", "<a\n", "href=x>", "<!A>", "<?", "<https://x>"),
    *("[", "]", "(", ")", "](", "]:", "![", "[a](", "[a]: ", "[a]", "!", "<", ">", "javascript:x", "java&Tab;script:x"),
    *("&#106;avascript:x", "data:text/html,x", "vbscript:x", "https://x", "javascript\\:x", "&lt;", "&#96;", "'t'"),
    *("#", "# ", "===\n", "---\n", "***\n", "|", "|-|-|\n", "|a|b|\n", "[^1]", "[^1]: ", "w1", "w2", "w3", "a"),
])  # fmt: skip
TEXTS = st.lists(FRAGMENTS, max_size=24).map("".join)


@settings(max_examples=400, deadline=None)
@given(TEXTS)
def test_no_fragments_put_together_act_and_their_words_are_there(text: str) -> None:
    result = harmless(text)
    assert live(result) == []
    lost = words(text) - words(result)
    assert not lost, result


@settings(max_examples=60, deadline=None)
@given(st.lists(TEXTS, min_size=2, max_size=5))
def test_no_text_changes_what_stands_behind_it(texts: list[str]) -> None:
    """In one document: a list, a fence or a definition of one text must not reach into the next."""
    whole = "\n\n".join(f"## You\n\n{harmless(text)}\n\n**tool**\n\n```text\n<b>end\n```" for text in texts)
    assert live(whole) == []
    kept = [token for token in tokens(whole) if token.type == "fence" and token.content == "<b>end\n"]
    assert len(kept) >= len(texts)


@settings(max_examples=60, deadline=None)
@given(st.lists(TEXTS, min_size=2, max_size=5))
def test_texts_that_follow_each_other_at_once(texts: list[str]) -> None:
    assert live("\n\n".join(map(harmless, texts))) == []


def test_a_whole_export_holds_no_live_markup(tmp_path: Path) -> None:
    file = PiFile(tmp_path / "s.jsonl")
    for payload in PAYLOADS.values():
        file.user(payload)
        file.reply(payload)
        file.entry("compaction", summary=payload, firstKeptEntryId="00000001", tokensBefore=1)
        file.entry("label", targetId=file.leaf, label=payload[:80])
    file.entry("session_info", name=PAYLOADS["a picture"])
    with closing(Session.open(file.path)) as session:
        for whole in (False, True):
            assert live(export(session, "md", whole=whole).text) == []


HOSTILE = {
    "addresses": "@" * 60_000 + " `x` <b>",
    "hosts": "www." * 15_000 + " `x` <b>",
    "schemes": "://" * 20_000 + " `x` <b>",
    "links": "](http://" * 9_000 + "\\ x",
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_text_takes_linear_time(name: str) -> None:
    """Each took between five and thirty seconds."""
    with in_linear_time():
        assert harmless(HOSTILE[name])


def test_a_fence_that_never_ends_its_line_takes_linear_time(tmp_path: Path) -> None:
    file = PiFile(tmp_path / "s.jsonl")
    file.user("`" * 200_000 + " x")
    with closing(Session.open(file.path)) as session, in_linear_time():
        assert export(session, "html").entries == 1
