"""What the user asked for last, and whether the model is at work on it, has answered it, or has asked back."""

from __future__ import annotations

from dataclasses import dataclass

from leafward.session.entries import NO_ENTRY, EntryIndex
from leafward.summaries.facts.prose import keeps_going, last_sentence, reports

_SAYS_MUCH = 20
"""Code points from which on a prompt says by itself what is wanted."""
_BEFORE = 160
"""Code points that are quoted of the request which a short one goes on with."""


@dataclass(slots=True)
class LastRequest:
    """The last request of a path, kept up to date prompt by prompt and reply by reply."""

    text: str = ""
    """Its words; of a short one also the question that it answers, or the request that it interrupts."""
    entry: EntryIndex = NO_ENTRY
    """The prompt that it stands in."""
    answered: bool = False
    """Whether the model ended with words since, and these ask nothing back or say first of all that it was done."""
    question: str = ""
    """With which the model's last reply ends; empty where it ends with none, or was at work when it ended."""
    _told: str = ""
    """The last prompt that says by itself what is wanted."""

    def prompted(self, entry: EntryIndex, text: str) -> None:
        """Takes in a prompt."""
        words = text.strip()
        asked, is_new = self.question, not self.text or len(words) >= _SAYS_MUCH
        went_on = not is_new and not asked and keeps_going(words)
        if is_new:
            self._told = text
        elif asked:
            text = f"{words} (asked: {asked})"
        elif self._told and (went_on or not self.answered):
            text = f"{words} (before it: {' '.join(self._told.split())[:_BEFORE]})"
        if not (went_on and not self.answered):
            # Who only says to go on with what is under way asks for nothing new.
            self.text, self.entry = text, entry
        self.answered, self.question = False, ""

    def worked(self) -> None:
        """Takes in a reply that calls a tool."""
        self.answered, self.question = False, ""

    def replied(self, words: str) -> None:
        """Takes in a reply that ends with words."""
        words = words.rstrip("*_ )\n")
        asks = words.endswith(("?", "？"))
        self.question = last_sentence(words.rpartition("\n")[2]) if asks else ""
        self.answered = not asks or reports(words)
