"""Titles: an error that an agent stored as one is none."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from leafward.session.headlines.session_title import is_error_text, title_of, title_or_none
from tests.claude_transcript import Transcript
from tests.core.catalogued import cards_in

if TYPE_CHECKING:
    from pathlib import Path

ERRORS = [
    "Invalid API key · Please run /login",
    "Invalid API key · Fix external API key",
    'API Error: 500 {"type":"error"}',
    "API Error (Connection error.)",
    "API Error 529",
    "Please run /login · API Error: 401",
    "Credit balance is too low",
    "Claude AI usage limit reached|1760000000",
    "OAuth token revoked · Please run /login",
    "Prompt is too long",
    "401 Unauthorized Error",
    '{"type":"error","error":{"type":"authentication_error"}}',
    "Request timed out.",
]
TITLES = [
    "API error handling in the parser",
    "Invalid API key handling",
    "Fix the login page",
    "Connection errors in the pool",
    "500 lines of Error handling, split",
    "Rate limits of the provider",
    "Prompt is too long for the small model",
    "Unauthorized access in the admin",
    "Please run the tests",
    '{"type"} in the schema',
]


@pytest.mark.parametrize("text", ERRORS)
def test_an_error_is_no_title(text: str) -> None:
    assert is_error_text(text)
    assert title_or_none(f"  {text}\n") is None


@pytest.mark.parametrize("text", TITLES)
def test_what_is_about_errors_is_a_title(text: str) -> None:
    assert title_or_none(text) == text


@pytest.mark.parametrize("kind", ["summary", "ai-title"])
def test_a_session_of_claude_code_is_called_by_its_prompt_instead(tmp_path: Path, kind: str) -> None:
    transcript = Transcript(tmp_path)
    leaf = transcript.turn("Compare the fruit", "Compared.")
    text = "Invalid API key · Please run /login"
    said = {"summary": text, "leafUuid": leaf} if kind == "summary" else {"aiTitle": text}
    transcript.row(kind, **said)
    session = transcript.opened()
    assert session.title is None
    assert title_of(session) == "Compare the fruit"
    [card] = cards_in(tmp_path / "projects", tmp_path / "index")
    assert card.title == "Compare the fruit"
    transcript.row(
        kind, **({"summary": "Fruit", "leafUuid": leaf} if kind == "summary" else {"aiTitle": "Fruit"})
    )
    assert transcript.opened().title == "Fruit"


def test_a_title_that_another_agent_stored_is_looked_at_as_well(tmp_path: Path) -> None:
    session = Transcript(tmp_path)
    session.turn("Compare the fruit", "Compared.")
    opened = session.opened()
    opened.header["title"] = "API Error: 401"
    assert opened.title is None
