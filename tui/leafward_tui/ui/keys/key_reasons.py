"""Reasons why a key does nothing here: something is missing, or the key is none of this screen's."""

from __future__ import annotations

from typing import TYPE_CHECKING

from leafward_tui.ui.keys.intents import intent, intents_for
from leafward_tui.ui.keys.key_overrides import key_label

if TYPE_CHECKING:
    from leafward_tui.ui.keys.key_overrides import Keymap

SCREEN_TITLES = {
    "catalogue": "list of sessions",
    "explorer": "tree",
    "blame": "lines of a file",
    "log": "operations",
    "xray": "X-ray",
    "summaries": "comparison of summaries",
    "lab": "compaction lab",
    "runs": "comparison of runs",
    "compare": "comparison",
    "help": "list of keys",
    "themes": "list of themes",
    "draft": "summary of a branch",
    "merge": "merge of summaries",
    "graft": "graft of turns",
    "restore": "restore of files",
    "heal": "sheet that heals",
    "totals": "totals",
}
"""Names of the screens in messages to the user."""

_LACKING = {
    **dict.fromkeys(("find.next", "find.previous"), "no hits"),
    **dict.fromkeys(
        ("project.fold", "project.fold_all", "project.close", "project.open"), "no group to fold here"
    ),
    **dict.fromkeys(("sort.next", "group.next", "totals.open"), "no sessions here"),
    **dict.fromkeys(("column.left", "column.right", "compare.fold", "ancestor.show"), "not on this tab"),
    **dict.fromkeys(("change.next", "change.previous"), "no changes here"),
    **dict.fromkeys(("pane.next", "pane.previous"), "no other pane here"),
    **dict.fromkeys(("divider.left", "divider.right"), "only between two panes, on a wider terminal"),
    **dict.fromkeys(("log.find", "log.show"), "no operations yet"),
    **dict.fromkeys(("summary.find", "same.fold", "summary.go"), "no other summary to compare with"),
    **dict.fromkeys(("draft.move", "draft.again", "draft.save"), "nothing to choose in this text"),
    "preview.toggle": "nothing to show yet",
    "compare.enter": "nothing to open on this line",
    "archived.toggle": "no session is archived",
    **dict.fromkeys(("blame.open", "file.timeline"), "no file here"),
    "blame.show": "no turn is known to have written this line",
    "mark.go": "no mark is set",
    "hit.open": "no hit here",
    "copy.text": "nothing to copy here",
    "session.undo": "nothing to undo",
    "move.here": "no rows to move to",
}
"""Messages about the thing that an intent lacks where it can do nothing; all other intents are only said to wait."""
_WAITS = "not possible now"

_FIRST = {"find.next": "/", "find.previous": "/", "mark.go": "m"}
"""For an intent, the default key of the intent on the same screen that supplies the missing thing."""


def reason_for_intent(intent_id: str, screen: str, keymap: Keymap, waits: str = "") -> str:
    """The reason why an intent of a screen does nothing now, and the key that helps: `no hits; / search`.

    `waits` is the event that every key of the screen waits for; empty for none.
    """
    if waits:
        return f"{intent(intent_id).hint}: {waits}"
    lacking = _LACKING.get(intent_id, _WAITS)
    key = _FIRST.get(intent_id)
    helps = next((entry for entry in intents_for(screen) if entry.default_keys == (key,)), None)
    text = lacking if lacking.startswith("nothing to ") else f"{intent(intent_id).hint}: {lacking}"
    if helps is None or not (label := keymap.label(helps.id)):
        return text
    return f"{text}; {label} {helps.hint}"


def reason_for_key(key: str, keymap: Keymap | None = None) -> str:
    """The message that a key, by Textual's name, does nothing here; with a keymap also where the screen's keys are listed."""
    help_key = keymap.label("app.help") if keymap is not None else ""
    return f"{key_label(key)} does nothing here" + (f"; {help_key} shows all keys" if help_key else "")
