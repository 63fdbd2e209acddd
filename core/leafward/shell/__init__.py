"""What shell scripts do to files, as far as their words say."""

from __future__ import annotations

from leafward.shell.effects import LONGEST, ShellEffect, effects
from leafward.shell.programs import Effect
from leafward.shell.proofs import Proof, complains
from leafward.shell.sweeping import Staging, Sweep

__all__ = ["LONGEST", "Effect", "Proof", "ShellEffect", "Staging", "Sweep", "complains", "effects"]
