"""Facts in what was said and done, each with the entries it stands in.

Paths, commands with their exit status, numbers, errors, identifiers, URLs, what the user demands, decisions with their
reasons, and what is still to be done.
"""

from __future__ import annotations

from leafward.summaries.facts.reader import FactReader, Known
from leafward.summaries.facts.values import Fact, FactKind, Sighting, Voice, gather

__all__ = ["Fact", "FactKind", "FactReader", "Known", "Sighting", "Voice", "gather"]
