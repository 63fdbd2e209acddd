"""Threads of Codex told in a line: turns, compactions, rollbacks.

a       the prompt "a?" and the reply "A."
b!      a prompt whose turn was stopped, with Codex's note on that
c{ab}   a turn with a compaction before its reply, which keeps the prompts a and b
{ab}c   a turn with a compaction ahead of its prompt
{ab}    a compaction with a turn of its own, such as /compact
<2      a rollback of two turns
WORD    words of somebody else, by their names in `PUT_IN`
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.codex_rollout import Rollout

PUT_IN = {
    "DEVELOPER": ("developer", "Words of a hook"),
    "RULES": ("developer", "<permissions instructions>\nAsk first\n</permissions instructions>"),
    "PLACE": ("user", "<environment_context>\n  <cwd>/elsewhere</cwd>\n</environment_context>"),
    "SHELL": ("user", "<user_shell_command>\n<command>\nls\n</command>\n</user_shell_command>"),
    "WARNING": (
        "user",
        "Warning: apply_patch was requested via exec_command. Use the apply_patch tool instead of exec_command.",
    ),
    "REVIEW": ("user", "<user_action>\n  <action>review</action>\n</user_action>"),
    "STOPPED": (
        "user",
        "<turn_aborted>\nThe user interrupted the previous turn on purpose.\n</turn_aborted>",
    ),
}
_SUMMARY = (
    "Another language model started to solve this problem and produced a summary of its thinking process. You also have access to the"
    " state of the tools that were used by that language model. Use this to build on the work that has already been done and avoid"
    " duplicating work. Here is the summary produced by the other language model, use the information in this summary to assist with your"
    " own analysis:\n"
)
_HISTORIES = 104
"""The first version of Codex that stores what a compaction keeps."""
_TURN = re.compile(
    r"(?:\{(?P<ahead>[a-z]*)\}(?=[a-z]))?(?P<name>[a-z])?(?P<stopped>!)?(?:\{(?P<kept>[a-z]*)\})?\Z"
)


class Turns:
    """Appends such turns to a rollout of a version."""

    def __init__(self, rollout: Rollout, version: int) -> None:
        self._rollout = rollout
        self._stores_history = version >= _HISTORIES
        self._compactions = self._turns = 0

    def add(self, told: str) -> None:
        """Appends what is told."""
        for word in told.split():
            if word in PUT_IN:
                role, text = PUT_IN[word]
                self._rollout.said(text, role)
            elif word.startswith("<"):
                self._rollout.event("thread_rolled_back", num_turns=int(word[1:]))
            else:
                self._turn(word)

    def _turn(self, word: str) -> None:
        found = _TURN.match(word)
        assert found is not None, word
        rollout, name = self._rollout, found["name"]
        self._turns += 1
        turn = {"turn_id": f"01a22000-0000-7000-9000-{self._turns:012}"}
        rollout.event("task_started", **turn, model_context_window=258_400, collaboration_mode_kind="default")
        if found["ahead"] is not None:
            self._compaction(found["ahead"])
        if name is not None:
            rollout.prompt(f"{name}?")
        if found["kept"] is not None:
            self._compaction(found["kept"])
        if found["stopped"]:
            rollout.said(PUT_IN["STOPPED"][1])
            rollout.event("turn_aborted", **turn, reason="interrupted")
            return
        if name is not None:
            rollout.reply(f"{name.upper()}.")
        rollout.event("task_complete", **turn, last_agent_message=None)

    def _compaction(self, kept: str) -> None:
        self._compactions += 1
        summary = f"{_SUMMARY}{{{self._compactions}}}"
        history = [
            {"type": "message", "role": "user", "content": [{"type": "input_text", "text": text}]}
            for text in (*(f"{name}?" for name in kept), summary)
        ]
        stored = {"replacement_history": history} if self._stores_history else {}
        self._rollout.line("compacted", message=summary, **stored)
        self._rollout.event("context_compacted")


def in_short(texts: list[str]) -> str:
    """The texts of a context in the words of `Turns`."""
    names = {text: name for name, (_, text) in PUT_IN.items()}
    return " ".join(
        text.removeprefix(_SUMMARY) if text.startswith(_SUMMARY) else names.get(text, text) for text in texts
    )


def is_told(text: str) -> bool:
    """Whether a text is one of such a thread."""
    return text.startswith(_SUMMARY) or len(text) == 2 or any(text == known for _, known in PUT_IN.values())


def texts_sent(items: list[dict[str, object]]) -> list[str]:
    """The texts of a request's messages."""
    found = []
    for item in items:
        content = json.loads(json.dumps(item.get("content")))
        if item.get("type", "message") == "message" and isinstance(content, list):
            found.append("\n".join(str(part.get("text", "")) for part in content))
    return found


ROLLBACKS: dict[str, tuple[str, str]] = {
    # No compaction: the same in every version.
    "a b c <1": ("a? A. b? B.", ""),
    "a b c <1 d": ("a? A. b? B. d? D.", ""),
    "a b c <9": ("", ""),
    "a b c <0": ("a? A. b? B. c? C.", ""),
    "<1 a b": ("a? A. b? B.", ""),
    "a b c <1 <1 d": ("a? A. d? D.", ""),
    "a b c <1 d <2 e": ("a? A. e? E.", ""),
    "a b! <1 c": ("a? A. c? C.", ""),
    "a b! c <2": ("a? A.", ""),
    # What Codex put in for the turn goes with it from 0.117 on; words of others stay.
    "a PLACE b <1": ("a? A. PLACE", "a? A."),
    "a RULES b <1": ("a? A. RULES", "a? A."),
    "a SHELL b <1": ("a? A. SHELL", "a? A."),
    "a b! c <1": ("a? A. b? STOPPED", "a? A. b?"),
    "a DEVELOPER b <1": ("a? A. DEVELOPER", ""),
    "a DEVELOPER PLACE b <1 c": ("a? A. DEVELOPER PLACE c? C.", "a? A. DEVELOPER c? C."),
    # These count as prompts, the command does not.
    "a REVIEW b <2": ("a? A.", ""),
    "a SHELL b <2": ("", ""),
    "a b WARNING c <2": ("a? A. b? B.", ""),
    # Behind a compaction, and past it.
    "a b {ab} c d <1": ("a? b? {1} c? C.", ""),
    "a b {ab} c d <2": ("a? b? {1}", ""),
    "a b {ab} c d <3": ("a? b?", "-"),
    "a b {ab} c d <3 e": ("a? b? e? E.", "e? E."),
    "a b {ab} c d <4": ("a?", "-"),
    "a b {ab} c d <9": ("", ""),
    "a b {ab} <1": ("a? b?", "-"),
    "a b c <1 {ab} d <2 e": ("a? b? e? E.", "e? E."),
    "a {a} b {ab} c <1": ("a? b? {2}", ""),
    "a {a} b {ab} c <2": ("a? b?", ""),
    "a {a} b {ab} c <2 d": ("a? b? d? D.", ""),
    "a {a} b {ab} c <3": ("a?", ""),
    "a b c{abc} d <1": ("a? b? c? {1} C.", ""),
    "a b c{abc} d <2": ("a? b? c?", "C."),
    "a b c{abc} d <2 e": ("a? b? c? e? E.", "C. e? E."),
    "a b c{abc} d <2 e <1": ("a? b? c?", "C."),
    "a b {ab}c <1": ("a? b? {1}", "-"),
    "a b {ab}c <1 d": ("a? b? {1} d? D.", "d? D."),
    "a b {ab}c d <1": ("a? b? {1} c? C.", ""),
    "a b {ab}c d <2": ("a? b? {1}", "-"),
    "a b {ab}c d <2 e <1 f": ("a? b? {1} f? F.", "f? F."),
    "a {a}b {ab}c <1": ("a? b? {2}", ""),
    "a {a}b {ab}c <2": ("a? b?", ""),
}
"""What 0.80 and 0.101 send for such a thread, and 0.118 to 0.142 if they send something else: "-" for nothing."""
