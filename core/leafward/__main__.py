"""`python -m leafward`: the headless verbs, without the application."""

from __future__ import annotations

import sys

from leafward.cli.start import command_line

if __name__ == "__main__":
    sys.exit(command_line())
