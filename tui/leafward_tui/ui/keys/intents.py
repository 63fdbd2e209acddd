"""Everything a user can do with a key, in one catalogue.

Bindings, command palette, key bar, help and the ids of a user's keymap all come from `INTENTS`: only a listed intent
has a key, and each is in the help too. The module is long because it is one table: divided by screen, it would no
longer show that a key means the same on each.
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

from textual.binding import Binding

from leafward.base.strategies import Strategy

EVERYWHERE = (
    "catalogue",
    "search",
    "explorer",
    "log",
    "xray",
    "summaries",
    "lab",
    "runs",
    "compare",
    "blame",
)
"""The full screens; each of these keys means the same on all of them."""

SCREENS = (*EVERYWHERE, "help", "themes", "draft", "totals", "merge", "graft", "restore", "heal")
"""Every name that `Intent.screens` may hold."""


_LISTS = SCREENS
_TREE = ("explorer",)
_LIST = ("catalogue",)
_HITS = ("search",)
_BLAME = ("blame",)
_SEARCHED = ("catalogue", "search", "explorer", "log")
"""Screens whose text can be searched."""
_XRAY = ("xray",)
_SUMMARIES = ("summaries",)
_LAB = ("lab",)
_COMPARE = ("compare",)
_CHANGES = (*_XRAY, *_SUMMARIES, *_COMPARE, *_BLAME)
"""Screens with changes to step through."""
_FILES = ("restore",)
_TWO_PANES = ("catalogue", "search", "explorer")
"""Screens with a line between two panes that can be moved."""

APP_ACTIONS = {"app.palette": "command_palette", "app.quit": "quit"}
"""Intents that Textual's own application actions fulfil, above every screen and modal."""

INTENT_ACTION = "intent"
"""The one action that keys of screens run, with the id of the intent."""

WRITES = frozenset(
    {
        "move.here",
        "draft.move",
        "operation.undo",
        "operation.redo",
        "label.edit",
        "name.edit",
        "branch.archive",
        "compaction.accept",
        "context.edit",
        "edits.undo",
        "carry.open",
        "difference.pin",
        "graft.accept",
        "merge.accept",
    }
)
"""Intents that append to the session: where nothing can be written they are in no key bar and no palette."""

ASKS = frozenset(
    {
        "label.edit",
        "name.edit",
        "bisect.open",
        "find.open",
        "log.find",
        "xray.find",
        "summary.find",
        "compare.find",
        "blame.find",
    }
)
"""Intents that open a field. Where none is opened, the text typed for it must not act as commands."""

GROUPS = ("Rows", "Tree", "Go", "Change", "Find", "View", "Compaction", "Compare", "Sessions", "Leafward")
"""Headings of the help, in its order."""


class Intent(NamedTuple):
    """One thing a user can do."""

    id: str
    """`area.verb`; a user's keymap refers to it, so it never changes."""
    keys: str
    """Default keys, comma separated; single characters as they are typed, others in Textual's names."""
    title: str
    """The sentence of the palette and the help."""
    hint: str
    """At most two words for the key bar."""
    screens: tuple[str, ...]
    """Screens on which it exists."""
    group: str
    """Heading in the help."""
    palette: bool = True
    """False for an intent that makes no sense from the palette, such as one row down."""
    also: str = ""
    """Words for what can be done on the screen it opens, by which palette and help find it."""

    @property
    def action(self) -> str:
        """The action's name where the application or a widget binds the key itself: `row.down` runs its `action_row_down`."""
        of_app = APP_ACTIONS.get(self.id)
        return f"app.{of_app}" if of_app else self.id.replace(".", "_")

    @property
    def default_keys(self) -> tuple[str, ...]:
        """The default keys, in Textual's comma form taken apart; a comma itself is named `comma`."""
        return tuple(self.keys.split(","))


INTENTS: tuple[Intent, ...] = (
    # Rows: the same on every screen.
    Intent("row.down", "j,down", "Next row", "down", _LISTS, "Rows", palette=False),
    Intent("row.up", "k,up", "Previous row", "up", _LISTS, "Rows", palette=False),
    Intent("page.down", "pagedown", "One page down", "page", _LISTS, "Rows", palette=False),
    Intent("page.up", "pageup", "One page up", "page", _LISTS, "Rows", palette=False),
    Intent("half.down", "ctrl+d", "Half a page down", "half page", _LISTS, "Rows", palette=False),
    Intent("half.up", "ctrl+u", "Half a page up", "half page", _LISTS, "Rows", palette=False),
    Intent("row.top", "g,home", "Go to the first row", "top", _LISTS, "Rows"),
    Intent("row.bottom", "G,end", "Go to the last row", "end", _LISTS, "Rows"),
    # Tree: along parents and branches.
    Intent("entry.child", "J", "Go to the child entry", "child", _TREE, "Tree"),
    Intent("entry.parent", "K", "Go to the parent entry", "parent", _TREE, "Tree"),
    Intent("branch.previous", "[", "Go to the previous sibling branch", "branch", _TREE, "Tree"),
    Intent("branch.next", "]", "Go to the next sibling branch", "branch", _TREE, "Tree"),
    Intent("point.previous", "{", "Go to the branch point above", "branch point", _TREE, "Tree"),
    Intent("point.next", "}", "Go to the branch point below", "branch point", _TREE, "Tree"),
    # Go: straight to a place.
    Intent("leaf.go", "@", "Go to the leaf", "leaf", _TREE, "Go"),
    Intent("mark.set", "m", "Mark this entry", "mark", _TREE, "Go"),
    Intent("mark.go", "'", "Go to the mark", "to mark", _TREE, "Go"),
    Intent("jump.labels", "f", "Jump to a row on the screen by letters", "jump", _TREE, "Go"),
    # Change: writes to the session.
    Intent("move.here", "enter", "Move the leaf here", "move", _TREE, "Change"),
    Intent("branch.summarise", "s", "Summarise this branch", "summarise", _TREE, "Change", also="summary"),
    Intent(
        "draft.move", "enter", "Move with this summary, or go to the turn found", "move", ("draft",), "Change"
    ),
    Intent(
        "draft.again", "s", "Summarise another way, or search again", "summarise again", ("draft",), "Change"
    ),
    Intent(
        "draft.base",
        "ctrl+o",
        "Bisect: choose what the files were before the session",
        "base",
        ("draft",),
        "Change",
    ),
    Intent(
        "context.edit",
        "E",
        "Edit the context: leave this row out, or replace it",
        "edit context",
        _TREE,
        "Change",
    ),
    Intent(
        "operation.undo",
        "u",
        "Undo the last operation; in the log, this one",
        "undo",
        ("explorer", "log"),
        "Change",
    ),
    Intent("operation.redo", "U", "Redo what was undone", "redo", ("explorer", "log"), "Change"),
    Intent("log.open", "o", "Show the operations on this session", "log", _TREE, "Change"),
    Intent("log.show", "enter", "Show the entry in the tree", "show", ("log",), "Change"),
    Intent("files.restore", "H", "Restore the files to how they were here", "files", _TREE, "Change"),
    Intent("restore.toggle", "space", "Choose this file, or leave it alone", "choose", _FILES, "Change"),
    Intent("restore.all", "a", "Choose all files that are safe, or none", "all", _FILES, "Change"),
    Intent("restore.accept", "ctrl+s", "Accept: restore the chosen files", "accept", _FILES, "Change"),
    Intent("label.edit", "l", "Label this entry", "label", _TREE, "Change"),
    Intent("name.edit", "r", "Name this session", "name", _TREE, "Change"),
    Intent("branch.archive", "A", "Archive this branch, or unarchive it", "archive", _TREE, "Change"),
    # Find.
    Intent("find.open", "/", "Search the text of this session, or run a query", "search", _TREE, "Find"),
    Intent("blame.find", "/", "Search the lines", "search", _BLAME, "Find"),
    Intent(
        "blame.show", "enter", "Open the session at the turn that wrote this line", "open", _BLAME, "Find"
    ),
    Intent(
        "blame.open",
        "#",
        "Blame: show which turn wrote each line of a file",
        "blame",
        (*_TREE, *_LIST),
        "Find",
    ),
    Intent("log.find", "/", "Search the operations", "search", ("log",), "Find"),
    Intent("xray.find", "/", "Search both sides", "search", _XRAY, "Find"),
    Intent("summary.find", "/", "Search both summaries", "search", _SUMMARIES, "Find"),
    Intent("compare.find", "/", "Search this tab", "search", _COMPARE, "Find"),
    Intent("filter.edit", "/", "Search the list: filter the sessions", "search", _LIST, "Find"),
    Intent("search.open", "S,ctrl+f", "Search all text of all sessions", "search text", _LIST, "Find"),
    Intent("query.edit", "/", "Search for something else", "search", _HITS, "Find"),
    Intent("hit.open", "enter", "Open the session at this hit", "open", _HITS, "Find"),
    Intent("find.next", "n", "Next hit; in lists of sessions, the next session", "next", _SEARCHED, "Find"),
    Intent(
        "find.previous",
        "N",
        "Previous hit; in lists of sessions, the one before",
        "previous",
        _SEARCHED,
        "Find",
    ),
    Intent("keys.find", "/", "Search the keys", "search", ("help",), "Find"),
    Intent("filter.choose", "&", "Filter the rows", "filter", _TREE, "Find"),
    # View.
    Intent("pane.next", "tab", "Next pane", "pane", (*EVERYWHERE, *_FILES), "View", palette=False),
    Intent(
        "pane.previous", "shift+tab", "Previous pane", "pane", (*EVERYWHERE, *_FILES), "View", palette=False
    ),
    Intent("divider.left", "(", "Move the line between the panes left", "line left", _TWO_PANES, "View"),
    Intent("divider.right", ")", "Move the line between the panes right", "line right", _TWO_PANES, "View"),
    Intent("fold.toggle", "z", "Fold or unfold here", "fold", _TREE, "View"),
    Intent("fold.open", "right", "Unfold here", "unfold", _TREE, "View", palette=False),
    Intent("fold.close", "left", "Fold here", "fold", _TREE, "View", palette=False),
    Intent("fold.all", "Z", "Fold or unfold everything", "fold all", _TREE, "View"),
    Intent("density.next", "v", "Next view: turns, entries or comfortable rows", "view", _TREE, "View"),
    Intent("follow.toggle", "F", "Follow the session as it grows", "follow", _TREE, "View"),
    Intent("tab.entry", "1", "Show the entry", "entry", _TREE, "View"),
    Intent("tab.context", "x,2", "Show what the model sees here", "context", _TREE, "View"),
    Intent("tab.compaction", "3", "Show what the compaction here did", "compaction", _TREE, "View"),
    Intent("tab.files", "w,4", "Show the files read and modified", "files", _TREE, "View"),
    Intent("tab.raw", "5", "Show the line as it is in the file", "raw", _TREE, "View"),
    # Compactions seen through.
    Intent(
        "xray.open", "X", "Show a compaction or context edit before and after", "x-ray", _TREE, "Compaction"
    ),
    Intent("source.go", "enter", "Go to the source, or open the fold", "source", _XRAY, "Compaction"),
    Intent(
        "change.next", "n", "Next hit; without a search, the next change", "next change", _CHANGES, "Find"
    ),
    Intent(
        "change.previous",
        "N",
        "Previous hit; without a search, the previous change",
        "previous",
        _CHANGES,
        "Find",
    ),
    Intent("kept.fold", "z", "Fold what is kept, or close this fold", "fold kept", _XRAY, "Compaction"),
    Intent("fact.pin", "p", "Pin a lost fact into a corrected compaction", "pin lost", _XRAY, "Compaction"),
    Intent("edits.undo", "u", "Undo these context edits", "undo edits", _XRAY, "Compaction"),
    Intent("only.kept", "1", "Show only what is kept", "only kept", _XRAY, "Compaction"),
    Intent("only.replaced", "2", "Show only what is summarised", "only summarised", _XRAY, "Compaction"),
    Intent(
        "only.prefix", "3", "Show only the beginning of the split turn", "only split", _XRAY, "Compaction"
    ),
    Intent("only.injected", "4", "Show only what is injected", "only injected", _XRAY, "Compaction"),
    Intent("only.cut", "5", "Show only what is dropped", "only dropped", _XRAY, "Compaction"),
    Intent("summaries.compare", "d", "Compare with another summary", "compare", _XRAY, "Compaction"),
    Intent("summary.other", "d", "Compare with the summary before that", "compare", _SUMMARIES, "Compaction"),
    Intent("same.fold", "z", "Fold or show what is the same", "fold same", _SUMMARIES, "Compaction"),
    Intent("summary.go", "enter", "Show the entry in the tree", "show", _SUMMARIES, "Compaction"),
    # The compaction lab.
    Intent(
        "lab.open",
        "c",
        "Open the compaction lab here",
        "compact",
        _TREE,
        "Compaction",
        also="summary, injected context, pins",
    ),
    Intent("compaction.accept", "ctrl+s", "Accept: append the compaction", "accept", _LAB, "Compaction"),
    Intent("summary.run", "s", "Summarise: write the summary", "summarise", _LAB, "Compaction"),
    Intent("lab.choose", "enter", "Go to the source, or write the summary", "source", _LAB, "Compaction"),
    Intent("summary.edit", "E", "Edit the summary", "edit", _LAB, "Compaction"),
    Intent("summarizer.choose", "W", "Choose who writes the summary", "summariser", _LAB, "Compaction"),
    Intent("focus.edit", "*", "Say what the summary should emphasise", "focus", _LAB, "Compaction"),
    Intent("slider.less", "left", "Lower the value", "slide", _LAB, "Compaction", palette=False),
    Intent("slider.more", "right", "Raise the value", "slide", _LAB, "Compaction", palette=False),
    Intent(
        "slider.less_fine",
        "shift+left",
        "Lower the value a little",
        "slide",
        _LAB,
        "Compaction",
        palette=False,
    ),
    Intent(
        "slider.more_fine",
        "shift+right",
        "Raise the value a little",
        "slide",
        _LAB,
        "Compaction",
        palette=False,
    ),
    Intent("cut.down", "-", "Keep less: the next cut below", "keep less", _LAB, "Compaction"),
    Intent("cut.up", "+", "Keep more: the next cut above", "keep more", _LAB, "Compaction"),
    Intent("cut.here", "=", "Cut before this row", "cut here", _LAB, "Compaction"),
    *(
        Intent(f"strategy.{one}", str(key), f"Plan by {one.agent}'s rules", one.value, _LAB, "Compaction")
        for key, one in enumerate(Strategy, 1)
    ),
    Intent(
        "injection.switch",
        "i",
        "Turn injected context or this section on or off",
        "inject",
        _LAB,
        "Compaction",
    ),
    Intent("lost.pin", "p", "Pin this lost fact into the summary", "pin", _LAB, "Compaction"),
    Intent("lost.pin_all", "P", "Pin all lost facts", "pin all", _LAB, "Compaction"),
    Intent("draft.xray", "X", "Show the context before and after", "x-ray", _LAB, "Compaction"),
    Intent("runs.compare", "d", "Compare the runs made so far", "compare runs", _LAB, "Compaction"),
    Intent(
        "lab.unfold",
        "z",
        "Fold the turns away from the cut, or unfold them",
        "fold turns",
        _LAB,
        "Compaction",
    ),
    Intent("lab.whole", "Z", "Fold all other panes, or unfold them", "fold panes", _LAB, "Compaction"),
    Intent("lab.page", "v", "Next view: summary, prompt, injected text or exam", "view", _LAB, "Compaction"),
    Intent(
        "session.reload",
        "ctrl+r",
        "Reload the session, or the file",
        "reload",
        (*_LAB, *_XRAY, *_COMPARE, *_BLAME),
        "View",
    ),
    Intent("run.take", "enter", "Take the settings of this run", "take", ("runs",), "Compaction"),
    Intent("run.first", "m", "Mark this run: compare the others with it", "mark", ("runs",), "Compaction"),
    # Branches compared.
    Intent(
        "compare.open",
        "d",
        "Compare with the mark, else with the leaf",
        "compare",
        _TREE,
        "Compare",
        also="merge, graft, pin",
    ),
    Intent("branches.table", "D", "Compare all branches in a table", "branches", _TREE, "Compare"),
    Intent("compare.files", "1", "Show the files of both", "files", _COMPARE, "Compare"),
    Intent("compare.contents", "2", "Show the contents of this file", "contents", _COMPARE, "Compare"),
    Intent("compare.context", "3", "Show both contexts", "context", _COMPARE, "Compare"),
    Intent("compare.summary", "4", "Show both summaries", "summary", _COMPARE, "Compare"),
    Intent("compare.outcome", "5", "Show the outcome of both", "outcome", _COMPARE, "Compare"),
    Intent(
        "compare.enter",
        "enter",
        "Open this file, fold or line; show it in the tree",
        "open",
        _COMPARE,
        "Compare",
    ),
    Intent(
        "column.left",
        "left",
        "Go to the column on the left, or the previous file",
        "column",
        _COMPARE,
        "Compare",
        palette=False,
    ),
    Intent(
        "column.right",
        "right",
        "Go to the column on the right, or the next file",
        "column",
        _COMPARE,
        "Compare",
        palette=False,
    ),
    Intent("compare.fold", "z", "Fold or show what is the same", "fold same", _COMPARE, "Compare"),
    Intent("sides.swap", "V", "Swap A and B", "swap", _COMPARE, "Compare"),
    Intent(
        "ancestor.show", "C", "Show the common ancestor as A, then all three", "ancestor", _COMPARE, "Compare"
    ),
    Intent(
        "base.toggle",
        "B",
        "Rebuild files with what is on disk or in git, or without",
        "base",
        _COMPARE,
        "Compare",
    ),
    Intent("difference.pin", "p", "Pin a fact that the other branch lacks", "pin", _COMPARE, "Compare"),
    Intent("graft.toggle", "space", "Choose this turn, or leave it out", "choose", ("graft",), "Compare"),
    Intent("graft.all", "a", "Choose all turns, or none", "all", ("graft",), "Compare"),
    Intent("graft.accept", "ctrl+s", "Accept: append the chosen turns", "accept", ("graft",), "Compare"),
    Intent("conflict.a", "1", "Take the line of A", "take A", ("merge",), "Compare"),
    Intent("conflict.b", "2", "Take the line of B", "take B", ("merge",), "Compare"),
    Intent("conflict.both", "3", "Take both lines", "both", ("merge",), "Compare"),
    Intent(
        "conflict.base", "4", "Take the line of their common ancestor", "as before", ("merge",), "Compare"
    ),
    Intent("merge.accept", "ctrl+s", "Accept: append the merged summary", "accept", ("merge",), "Compare"),
    # Sessions: the catalogue.
    Intent("session.open", "enter", "Open this session", "open", _LIST, "Sessions"),
    Intent("preview.toggle", "space", "Show or hide the preview", "preview", (*_LIST, *_HITS), "Sessions"),
    Intent("sort.next", ">", "Sort by the next column", "sort", _LIST, "Sessions"),
    Intent(
        "group.next", "v", "Next view: by project, family, day, agent or ungrouped", "view", _LIST, "Sessions"
    ),
    Intent(
        "archived.toggle",
        ".",
        "Show archived sessions and sub-agents without a task",
        "archived",
        _LIST,
        "Sessions",
    ),
    Intent(
        "totals.open", "$", "Show tokens and costs by project, agent and day", "totals", _LIST, "Sessions"
    ),
    Intent("session.keep", "Y", "Keep a copy where the agent cannot delete it", "keep", _LIST, "Sessions"),
    Intent("session.archive", "A", "Archive this session, or unarchive it", "archive", _LIST, "Sessions"),
    Intent(
        "session.delete", "delete,backspace", "Move this session to the trash", "delete", _LIST, "Sessions"
    ),
    Intent("session.undo", "u", "Undo the last archive or delete", "undo", _LIST, "Sessions"),
    Intent(
        "project.relocate",
        "L",
        "Copy a moved project's sessions to its new folder",
        "relocate",
        _LIST,
        "Sessions",
    ),
    Intent("agents.install", "I", "Install Leafward in an agent, or remove it", "install", _LIST, "Sessions"),
    Intent("project.fold", "z", "Fold or unfold this project", "fold", _LIST, "Sessions"),
    Intent("project.fold_all", "Z", "Fold or unfold all projects", "fold all", _LIST, "Sessions"),
    Intent("project.close", "left", "Fold this project", "fold", _LIST, "Sessions", palette=False),
    Intent("project.open", "right", "Unfold this project", "unfold", _LIST, "Sessions", palette=False),
    Intent(
        "catalogue.refresh", "ctrl+r", "Reload the list: look for new sessions", "reload", _LIST, "Sessions"
    ),
    Intent("demo.open", "O", "Open the demo session", "demo", _LIST, "Sessions"),
    # Out of here.
    Intent("draft.save", "e", "Export this text to a file", "export", ("draft",), "Leafward"),
    Intent("copy.text", "y", "Copy the text here", "copy", (*EVERYWHERE, "draft"), "Leafward"),
    Intent("comparison.save", "e", "Export the comparison to a file", "export", _COMPARE, "Leafward"),
    Intent(
        "file.timeline",
        "T",
        "Show the rows of the tree that touch this file",
        "timeline",
        (*_COMPARE, *_TREE),
        "Compare",
    ),
    Intent(
        "carry.open", "M", "Carry work over: merge summaries, graft turns", "carry over", _COMPARE, "Compare"
    ),
    Intent(
        "export.save", "e", "Export this branch, or the chosen rows, to a file", "export", _TREE, "Leafward"
    ),
    Intent(
        "session.fork", "b", "Fork: start a new session here, in any agent", "new session", _TREE, "Leafward"
    ),
    Intent("session.parent", "^", "Open the session that this one came from", "parent", _TREE, "Sessions"),
    Intent("session.child", "_", "Open the sub-agent that a call here made", "sub-agent", _TREE, "Sessions"),
    Intent(
        "session.heal",
        "h",
        "Heal: repair what the provider rejects, in a new session",
        "heal",
        _TREE,
        "Leafward",
    ),
    Intent("bisect.open", "%", "Bisect: find the turn after which a command fails", "bisect", _TREE, "Find"),
    Intent("heal.accept", "enter", "Start the healed session and open it", "begin", ("heal",), "Leafward"),
    Intent("agent.resume", "R", "Resume this session in its agent", "resume", _TREE, "Leafward"),
    Intent("session.resume", "R", "Resume this session in its agent", "resume", _LIST, "Leafward"),
    Intent("theme.keep", "enter", "Keep this theme", "keep", ("themes",), "View"),
    Intent("app.themes", "t", "Choose a theme", "theme", EVERYWHERE, "Leafward"),
    Intent("app.help", "?", "Show all keys", "keys", (*EVERYWHERE, "help", "draft", "totals"), "Leafward"),
    Intent("app.palette", "ctrl+p", "Show all commands", "commands", EVERYWHERE, "Leafward", palette=False),
    Intent(
        "mode.leave",
        "escape",
        "Cancel what is under way, or go back",
        "cancel",
        SCREENS,
        "Leafward",
        palette=False,
    ),
    Intent("app.back", "q", "Go back; from the first screen, quit", "back", SCREENS, "Leafward"),
    Intent("app.quit", "ctrl+q", "Quit", "quit", EVERYWHERE, "Leafward"),
)

_BY_ID = {entry.id: entry for entry in INTENTS}


def intent(intent_id: str) -> Intent:
    """The intent with this id. Raises KeyError for an unknown one."""
    return _BY_ID[intent_id]


@cache
def intents_for(screen: str) -> tuple[Intent, ...]:
    """The intents of the screen, in the catalogue's order."""
    return tuple(entry for entry in INTENTS if screen in entry.screens)


def _routed(entry: Intent) -> Binding:
    action = f"{INTENT_ACTION}('{entry.id}')"
    return Binding(entry.keys, action, entry.hint, show=False, tooltip=entry.title, id=entry.id)


def intent_bindings(screen: str) -> list[Binding]:
    """The `BINDINGS` of a `RoutedScreen`, each with its intent's id, so that a keymap reaches it."""
    return [_routed(entry) for entry in intents_for(screen) if entry.id not in APP_ACTIONS]


def app_bindings() -> list[Binding]:
    """The `BINDINGS` of the application itself; they also work while a modal is open."""
    return [
        Binding(
            entry.keys,
            entry.action,
            entry.hint,
            show=False,
            tooltip=entry.title,
            id=entry.id,
            priority=True,
        )
        for entry in map(_BY_ID.__getitem__, APP_ACTIONS)
    ]
