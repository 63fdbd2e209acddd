"""What was said of things that were removed since, and steps that a new plan replaced."""

from __future__ import annotations

from typing import Any

from leafward.summaries.summarizers.extractive.requests.user_requests import GOT_REPLY
from leafward.summaries.summarizers.outline import SummarySection
from tests.core.told import ran, reply, result, span, summarize, told_in, user


def _edited(key: str, path: str, old: str, new: str) -> list[dict[str, Any]]:
    return [reply("", (key, "edit", {"path": path, "oldText": old, "newText": new})), result(key, "ok")]


_CLASS = "class FrostCache:\n    def warm(self): ..."
_ADDED = [
    user("Add a cache for the frost rows of orchard."),
    *_edited("a", "cache.py", "x", _CLASS),
    reply(
        "Added `FrostCache` with a `warm` method to `cache.py`. The cache keeps five hundred rows for ten whole minutes."
    ),
]


def test_what_was_said_of_a_class_is_over_once_an_edit_took_it_out() -> None:
    assert "Added `FrostCache`" in summarize(span(*_ADDED)).text
    out = [user("it is more trouble than help, out with it"), *_edited("b", "cache.py", _CLASS, "")]
    then = [*_ADDED, *out, reply("Out again."), user("show me the rows"), *ran("c", "cat rows.py")]
    assert "Added `FrostCache`" not in summarize(span(*then)).text
    # Elsewhere it is declared still.
    moved = _edited("d", "store.py", "y", _CLASS)
    then = [*_ADDED, *out[:1], *moved, *out[1:], reply("Moved."), user("show me the rows"), *ran("c", "ls")]
    assert "Added `FrostCache`" in summarize(span(*then)).text


def test_what_a_request_brought_in_is_over_once_the_user_had_it_removed() -> None:
    other = [user("Write down how the cache of the valley works."), *_edited("v", "valley.md", "x", "y")]
    other += [reply("The cache of the valley is read by every gardener before the sun comes up.")]
    removed = [user("remove the cache"), *ran("r", "git rm cache.py"), reply("Removed.")]
    kept = summarize(span(*other, *_ADDED)).text
    assert "five hundred rows" in kept
    text = summarize(span(*other, *_ADDED, *removed)).text
    assert "five hundred rows" not in text
    assert "read by every gardener" in text, "that is another one"


def test_a_request_that_was_done_in_another_way_has_the_last_outcome() -> None:
    said = [
        user("Add a --frost option to the valley."),
        *_edited("a", "valley.py", "x", "parser.add_argument('--frost')"),
        reply("The valley takes `--frost` now, which prints only frozen rows."),
        user("make that a subcommand instead"),
        *_edited("b", "valley.py", "parser.add_argument('--frost')", "sub.add_parser('frost')"),
        reply("It is the subcommand `frost` now."),
    ]
    assert told_in(SummarySection.GOAL, *said) == [GOT_REPLY]
    assert "takes `--frost` now" not in summarize(span(*said)).text


_BEFORE = "## Next Steps\n1. Wire `FrostQueue` into `valley.py`\n2. Update `docs/queue.md`\n"


def test_steps_of_an_earlier_summary_give_way_to_a_new_plan() -> None:
    plan = (
        "New plan:\n\n1. Write `FrostTable` in `table.py`\n2. Move the valley to `FrostTable`\n\nI start now."
    )
    asked = user("We do it with a plain table. Plan it anew.")
    work = [("w", "write", {"path": "table.py", "content": "rows = []"})]
    said = [asked, reply(plan, *work), result("w", "ok")]
    assert told_in(SummarySection.NEXT, *said, previous=_BEFORE, previous_entry=3) == []
    said = [asked, reply("I write the table.", *work), result("w", "ok")]
    assert len(told_in(SummarySection.NEXT, *said, previous=_BEFORE, previous_entry=3)) == 2
