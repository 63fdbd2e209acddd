"""The user's last request: its text, and whether the model is working on it, has answered it, or has asked back."""

from __future__ import annotations

from dataclasses import dataclass

from leafward.session.entries import NO_ENTRY, EntryIndex
from leafward.summaries.facts.sentences.prose import last_sentence
from leafward.summaries.facts.sentences.replies import reports
from leafward.summaries.facts.sentences.responses import keeps_going

_SAYS_MUCH = 20
"""Code points from which on a prompt counts as a request of its own."""
_BEFORE = 160
"""Code points quoted of the earlier request that a short prompt continues."""


@dataclass(slots=True)
class LastRequest:
    """The last request of a path, updated with every prompt and reply."""

    text: str = ""
    """The text of the request; a short one also quotes the question that it answers, or the request that it interrupts."""
    entry: EntryIndex = NO_ENTRY
    """The prompt with the request."""
    answered: bool = False
    """Whether the model has since ended with text that asks nothing back, or that reports the work as done."""
    question: str = ""
    """The question at the end of the model's last reply; empty if it ends with none or called a tool."""
    _told: str = ""
    """The last prompt that was a request of its own."""

    def is_new(self, text: str) -> bool:
        """Whether a prompt is a request of its own."""
        return not self.text or len(text.strip()) >= _SAYS_MUCH

    def prompted(self, entry: EntryIndex, text: str) -> None:
        """Takes in a prompt."""
        words = text.strip()
        asked, is_new = self.question, self.is_new(text)
        went_on = not is_new and not asked and keeps_going(words)
        if is_new:
            self._told = text
        elif asked:
            text = f"{words} (asked: {asked})"
        elif self._told and (went_on or not self.answered):
            text = f"{words} (before it: {' '.join(self._told.split())[:_BEFORE]})"
        if not (went_on and not self.answered):
            # A prompt that only says to go on requests nothing new.
            self.text, self.entry = text, entry
        self.answered, self.question = False, ""

    def worked(self) -> None:
        """Takes in a reply that calls a tool."""
        self.answered, self.question = False, ""

    def replied(self, words: str) -> None:
        """Takes in a reply that ends with text."""
        words = words.rstrip("*_ )\n")
        asks = words.endswith(("?", "？"))
        self.question = last_sentence(words.rpartition("\n")[2]) if asks else ""
        self.answered = not asks or reports(words)
