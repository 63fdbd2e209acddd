"""Several tables in one text: each has its own head, and a head may also be a row of the table above it."""

from __future__ import annotations

from itertools import permutations

import pytest

from leafward.redaction.redaction import every_kind, redact, secrets_in
from tests.core.redacted import assert_takes_linear_time

TABLES = {
    "commas": "name,{0}\nada,{1}\n",
    "bars": "| name | {0} |\n|---|---|\n| ada | {1} |\n",
    "spaces": "name    {0}\nada     {1}\n",
}


SECRETS = {"token": "8fK2mQ7zLp4Xv9Rt", "password": "Wq5!tR8xYb2Nc6Ld", "api secret": "Zj3Vh9sPk7Mn1GfE"}


@pytest.mark.parametrize("names", permutations(SECRETS), ids=" ".join)
@pytest.mark.parametrize("sort", TABLES)
def test_each_table_is_searched_whatever_the_order_of_their_heads(sort: str, names: tuple[str, ...]) -> None:
    text = "\n".join(TABLES[sort].format(name, SECRETS[name]) for name in names)
    assert redact(text) == "\n".join(TABLES[sort].format(name, "[redacted: secret]") for name in names)


@pytest.mark.parametrize("row", ["password,a{}x\n", "|password|a{}|\n|---|---|\n", "password  a{}\n"])
def test_rows_that_are_heads_as_well_are_searched_once(row: str) -> None:
    assert_takes_linear_time("".join(map(row.format, range(3_000))))


def test_a_head_among_rows_has_columns_of_its_own() -> None:
    text = "name,password\nada,Kx7!pear9Q\npassword,name\nKx7!pear9R,bob\n"
    assert redact(text).split("\n")[1::2] == ["ada,[redacted: secret]", "[redacted: secret],bob"]


@pytest.mark.parametrize(
    "text",
    ["Your verification code is 483920.", "The secret key:\nJBSW Y3DP EHPK 3PXP JBSW Y3DP EHPK 3PXP\n"],
)
def test_every_kind_that_is_found_is_listed(text: str) -> None:
    [(_, _, kind)] = secrets_in(text)
    assert kind.startswith("one-time ")
    assert kind in every_kind()
