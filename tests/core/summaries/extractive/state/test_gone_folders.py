"""Files go with their folder: where that is deleted they are deleted, and where it is renamed they are."""

from __future__ import annotations

import pytest

from leafward.summaries.summarizers.outline import SummarySection
from tests.core.told import FOLDER, ended, made, ran, span, summarize, told_in, user

_BEGUN = [
    user("Port the lexer of orchard to a table."),
    *made("src/a.py", "a"),
    *made("src/forms/mail.py", "b"),
    *made("lib/mail.py", "l"),
    *made("src/forms/form.py", "c"),
    user("Take the forms out."),
]


@pytest.mark.parametrize("command", ["rm -rf src/forms", f"rm -r {FOLDER}/src/forms/", "git rm -r src/forms"])
def test_the_files_of_a_deleted_folder_are_not_told_as_changed(command: str) -> None:
    """Fails where only a file that a command names is gone."""
    told = told_in(SummarySection.CONTEXT, *_BEGUN, *ended("d", command, ""))
    assert told[0] == "Last file edited: `lib/mail.py`"
    assert not any("src/forms/" in line for line in told)


def test_a_program_that_follows_does_not_write_the_files_of_a_deleted_folder_anew() -> None:
    """Fails where the program may write the folder, which no call named."""
    told = told_in(SummarySection.CONTEXT, *_BEGUN, *ended("d", "rm -rf src/forms; npm run build", ""))
    assert not any("src/forms/" in line for line in told)


def test_a_file_that_a_call_names_after_that_is_there_again() -> None:
    again = [*ended("d", "rm -rf src/forms", ""), *made("src/forms/mail.py", "e")]
    told = told_in(SummarySection.CONTEXT, *_BEGUN, *again)
    assert told[0] == "Last file edited: `src/forms/mail.py`"
    assert not any("form.py" in line for line in told)


@pytest.mark.parametrize(
    ("command", "now"),
    [
        ("git mv src/forms src/pages", "src/pages/form.py"),
        ("mv src/forms web/", "web/forms/form.py"),
        # A folder that was there before.
        ("mv src/forms lib", "lib/forms/form.py"),
    ],
)
def test_the_files_of_a_renamed_folder_are_told_by_their_present_paths(command: str, now: str) -> None:
    text = summarize(span(*_BEGUN, *ran("d", command))).text
    assert f"Last file edited: `{now}`" in text
    assert f"`{now}` changed" in text or f"`{now}`" in text.partition("Changed: ")[2]
    assert "src/forms/" not in text


def test_a_renamed_file_that_was_edited_last_has_its_present_name() -> None:
    moved = told_in(SummarySection.CONTEXT, *_BEGUN, *ran("d", "mv src/forms/form.py lib"))
    assert moved[0] == "Last file edited: `lib/form.py`"
    renames = [*ran("d", "mv src/forms/form.py src/form.py"), *ran("e", "git mv src/form.py src/page.py")]
    told = told_in(SummarySection.CONTEXT, *_BEGUN, *renames)
    assert told[0] == "Last file edited: `src/page.py`"
