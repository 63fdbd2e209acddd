"""Output that the user pasted: it asks again for what was answered, and a brief request is told with its first error."""

from __future__ import annotations

from leafward.session.entries import EntryIndex
from leafward.summaries.summarizers.outline import SummarySection
from leafward.summaries.survival.spans import SpanMessage
from tests.core.told import ran, reply, told_in, user, worked

_TABLE = [
    user("cut the long names of the crates in the table, so that their weight is seen"),
    *worked("src/table.py", "a"),
    reply("Done. I've added a cut by width for the names of crates."),
]
_SCREEN = "> v orchard * [4 crates]\n  v o the very long name of a crate of pears and apples  [12 kg]\n    - pears  just now"


def test_output_pasted_behind_an_answer_asks_again() -> None:
    """The kept messages go on with it: it fails where the request counts as answered there."""
    kept = [
        SpanMessage(EntryIndex(200 + place), one)
        for place, one in enumerate([*ran("k", "cat src/width.py"), *worked("src/table.py", "l")])
    ]
    said = [*_TABLE, user(_SCREEN), *ran("b", "cat src/table.py")]
    asked = "cut the long names of the crates in the table, so that their weight is seen"
    assert told_in(SummarySection.GOAL, *said, kept=kept) == [asked]
    assert not any(line.startswith("Last request") for line in told_in(SummarySection.DONE, *said, kept=kept))


def test_a_brief_request_has_the_error_that_was_pasted_with_it() -> None:
    shown = "> git gc\nfatal: bad tree object 082c2c4495629bd\nfatal: failed to run repack\n\nplease help"
    said = [*_TABLE, user(shown), *ran("b", "git fsck --full")]
    assert told_in(SummarySection.GOAL, *said) == ["help (pasted: fatal: bad tree object 082c2c4495629bd)"]


def test_a_long_request_is_told_without_what_was_pasted() -> None:
    asked = "sort the crates by weight and by name before they are printed, keep the old order of pears in each crate"
    said = [user(f"{asked}\n\nfatal: bad tree object 082c2c4495629bd"), *worked("src/table.py", "a")]
    assert told_in(SummarySection.GOAL, *said) == [asked]
