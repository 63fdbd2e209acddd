"""The help of every verb as one Markdown block, for the README: `python -m leafward.cli.reference` prints it."""

from __future__ import annotations

import click

from leafward.cli.output import say
from leafward.cli.verbs import leafward

WIDTH = 100
"""Columns the help is laid out in."""


def reference() -> str:
    """The help of the command and of each verb, each in a fence under its name."""
    settings = {**leafward.context_settings, "terminal_width": WIDTH}
    top = click.Context(leafward, info_name="leafward", **settings)
    blocks = [f"```text\n{leafward.get_help(top).strip()}\n```"]
    for name in leafward.list_commands(top):
        command = leafward.commands[name]
        context = click.Context(command, info_name=name, parent=top, terminal_width=WIDTH)
        blocks.append(f"### `leafward {name}`\n\n```text\n{command.get_help(context).strip()}\n```")
    return "\n\n".join(blocks) + "\n"


if __name__ == "__main__":
    say(reference().rstrip("\n"))
