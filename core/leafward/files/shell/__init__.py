"""Effects of shell scripts on files, as far as their words tell them."""

from __future__ import annotations

from leafward.files.shell.bulk_effects import Staging, Sweep
from leafward.files.shell.effects import LONGEST, effects
from leafward.files.shell.exit_evidence import Proof, complains
from leafward.files.shell.permissions import executable_bits

__all__ = ["LONGEST", "Proof", "Staging", "Sweep", "complains", "effects", "executable_bits"]
