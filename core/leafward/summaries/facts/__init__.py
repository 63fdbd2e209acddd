"""Facts in what was said and done, each with the entries that hold it.

Paths, commands with their exit status, numbers, errors, identifiers, URLs, the user's demands, decisions with their
reasons, and work that is still to be done.
"""

from __future__ import annotations

from leafward.summaries.facts.reader import FactReader
from leafward.summaries.facts.text_facts import Known, TextFacts
from leafward.summaries.facts.values import Fact, FactKind, Sighting, Voice, gather

__all__ = ["Fact", "FactKind", "FactReader", "Known", "Sighting", "TextFacts", "Voice", "gather"]
