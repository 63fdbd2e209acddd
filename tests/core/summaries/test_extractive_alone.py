"""Each line can be read alone, and what was only offered stands in none: addresses, names and commands of a reply's example."""

from __future__ import annotations

import pytest

from leafward.summaries.summarizers.outline import SummarySection
from tests.core.told import ran, reply, result, told_in, user

CONTEXT = SummarySection.CONTEXT
_ASKED = user("How do I publish the letters of orchard?")
_URL = "https://letters.orchard.dev/registry.json"


def test_an_address_in_an_example_of_a_reply_is_not_told() -> None:
    said = [
        _ASKED,
        reply(f"Deploy the folder. Readers then run `orchard add {_URL}`, and see the list at {_URL}."),
    ]
    assert f"See {_URL}" not in told_in(CONTEXT, *said)


@pytest.mark.parametrize(
    "said",
    [
        [user(f"Read {_URL} and mend the letters."), reply("They are mended.")],
        [_ASKED, *ran("a", f"curl {_URL}"), reply("It is published.")],
        [
            _ASKED,
            reply("", ("a", "bash", {"command": "orchard publish"})),
            result("a", f"published at {_URL}"),
            reply(f"It is published: {_URL}"),
        ],
    ],
)
def test_an_address_that_was_given_or_made_is_told(said: list[dict[str, object]]) -> None:
    assert f"See {_URL}" in told_in(CONTEXT, *said)


def test_an_address_in_a_file_that_was_only_read_is_not_told() -> None:
    said = [
        _ASKED,
        reply("", ("a", "read", {"path": "spec.md"})),
        result("a", f"one day at {_URL}"),
        reply("", ("b", "bash", {"command": "cat plan.md"})),
        result("b", f"perhaps at {_URL}"),
        reply(f"The plan names {_URL} for that."),
    ]
    assert f"See {_URL}" not in told_in(CONTEXT, *said)


def test_a_command_that_nobody_ran_is_not_told() -> None:
    said = [
        _ASKED,
        *ran("a", "make letters"),
        reply(
            "Start it with `docker compose up`.\n\nLater `docker compose up` starts it again, and `make letters` makes them."
        ),
    ]
    told = told_in(CONTEXT, *said)
    assert not any(line.startswith(("Named", "Run `docker")) for line in told)
    assert "Run `make letters` (once)" in told


def test_names_that_only_a_reply_offers_are_not_in_use() -> None:
    said = [
        user("Where shall the letters of orchard lie?"),
        reply("", ("a", "read", {"path": "hosts.md"})),
        result("a", "we have letter_host already"),
        reply("Perhaps on `CloudHost`, `letter_host` or the `shed_server`. Which do you want?"),
        user("The last one."),
        reply("Should I make the folder there?"),
        user("yes"),
    ]
    listed = " ".join(line for line in told_in(CONTEXT, *said) if line.startswith("Names in use"))
    assert "letter_host" in listed
    assert "CloudHost" not in listed
    assert "shed_server" not in listed
