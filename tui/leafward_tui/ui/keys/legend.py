"""The signs and words of a screen with their meanings, for newcomers; the list of keys ends with it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from leafward.query.vocabulary import FIELDS, FUNCTIONS, TERMS, TEXT_TERMS
from leafward_tui.ui.appearance.context_signs import PARTS, part_sign

if TYPE_CHECKING:
    from leafward_tui.ui.appearance.glyphs import Glyphs


class Meaning(NamedTuple):
    """A sign or a word with its meaning."""

    sign: str
    title: str


_WORDS: dict[str, str] = {
    "turn": "A prompt, or a command of yours, and everything until the next",
    "entry": "One record of the session: a message, a result, a note",
    "leaf": "Where the agent goes on",
    "preview leaf": "Moved in Leafward only: the agent does not follow",
    "agent's leaf": "Where the agent goes on while the leaf is a preview",
    "path": "From the first entry to the leaf",
    "sub-agent": "A call here made one, which has a session of its own",
    "added": "Put in by the agent or an extension, not typed by you",
    "fork begins": "Everything above it was copied",
    "branch": "Turns that leave the path",
    "context": "What the model receives with the next prompt",
    "compaction": "A summary in place of the beginning of the context",
    "facts": "Paths, commands, numbers, errors, identifiers, URLs, constraints (rules), decisions, todos",
    "by weight": "A rule counts more than a number, your words more than output",
    "lost": "Facts that the model no longer sees",
    "repeats": "What was read, run or said again soon afterwards",
    "not in file": "System prompt, tools and files that are sent and not recorded",
    "estimation error": "What the model counted more for the file's text than we estimate, or less",
    "injected": "Files, rules and last actions, beside the summary",
    "split turn": "Its beginning is summarised, its end kept",
    "dropped": "Left out, and not summarised",
    "pruned": "Old results that opencode clears first: they are not summarised",
    "keep recent": "Tokens at the end that are kept as they are",
    "reserve": "Tokens left free for the reply",
    "window": "Tokens that the model takes",
    "extractive": "A summary of quotes, made without a model",
    "exam": "Questions that a model must answer to go on",
    "pin": "Put a fact into the summary word for word",
    "A saw B's edit": "A read or changed the file after B had changed it on disk; A's path does not record that",
    "graft": "Append turns of one branch below another",
    "ancestor": "The last entry that both sides share",
    "cached": "The provider may still have it, for about an hour: then it costs about a tenth of the full price",
    "edits": "Calls that write files; Compare and D count commands that do, too",
    "tokens of a row": "Estimated; with ~ where the provider counted fewer for the whole request",
    "family": "A session with its forks, copies and sub-agents, in whatever project",
    "when": "Time since the last message; for a fork or copy without one of its own, since it was made",
    "last:": "Last prompt, model or cost, where several sessions have one title",
    "kept": "There is a copy that the agent cannot delete",
    "no task": "A sub-agent that was started without a task",
    "by hand": "New between two known versions, and no recorded call can have written it",
    "unknown": "No recorded call is known to have written it",
    "unsure": "More than one turn may have written it",
    "fork": "A new session that begins with the entries of another one",
    "at full price": "Not in the provider's cache, where a token costs about a tenth",
    "cache expired": "The last request is more than an hour old: the provider no longer has it in its cache",
    "focused summary": "A summary that emphasises what you name",
    "metadata": "Records that the model does not get: models, settings, labels, notes of agent and Leafward",
    "files named": "Files that calls on the path read or modify",
    "rules, files and next step": "Rules in force, last actions, changed files and the next step, word for word",
    "abandoned branch": "The entries from where the two paths part to the leaf now",
    "version 3": "The present format of pi's files: pi rewrites older ones the same way when it opens them",
    "Leafward's own file": "Beside the agent's file, which stays as it is",
    "redacted": "Replaced by a note: what looks like a key, a token or a password",
    "base": "What the files were before the session's first change",
    "safe": "The file on disk is as the session, git or a restore left it",
    "tokens": "Sent and received in all requests; copied history counts once",
}
_WORDS_OF = {
    "explorer": (
        "turn",
        "entry",
        "leaf",
        "preview leaf",
        "agent's leaf",
        "path",
        "sub-agent",
        "added",
        "fork begins",
        "branch",
        "context",
        "compaction",
        "split turn",
        "dropped",
        "facts",
        "by weight",
        "lost",
        "repeats",
        "exam",
        "not in file",
        "estimation error",
        "cached",
        "edits",
        "tokens of a row",
    ),
    "lab": (
        "keep recent",
        "reserve",
        "window",
        "split turn",
        "pruned",
        "injected",
        "facts",
        "by weight",
        "extractive",
        "exam",
        "pin",
        "not in file",
        "estimation error",
        "cached",
    ),
    "xray": ("facts", "lost", "pin", "injected", "split turn", "dropped", "not in file", "estimation error"),
    "compare": ("ancestor", "A saw B's edit", "graft", "pin", "context", "not in file", "estimation error"),
    "catalogue": (
        "turn",
        "branch",
        "compaction",
        "context",
        "when",
        "fork",
        "family",
        "last:",
        "kept",
        "no task",
    ),
    "blame": ("by hand", "unknown", "unsure"),
    "totals": ("tokens", "compaction", "repeats"),
    "runs": ("facts", "by weight", "lost", "exam", "not in file"),
}
"""The unexplained words of each screen, by the screen's name."""
_WORDS_OF_SHEETS = (
    "at full price",
    "cache expired",
    "focused summary",
    "metadata",
    "files named",
    "rules, files and next step",
    "abandoned branch",
    "version 3",
    "Leafward's own file",
    "redacted",
    "base",
    "safe",
    "extractive",
)
"""The unexplained words of sheets."""


def legend_of(screen: str, glyphs: Glyphs, sheet: str = "") -> list[tuple[str, list[Meaning]]]:
    """Signs and words of a screen under their headings; none where it has no own.

    `sheet` is what a sheet over the screen says: the words in it are explained ahead of all others.
    """
    signs = [Meaning(*one) for one in _signs(screen, glyphs)]
    of_map = [Meaning(*one) for one in _map_signs(glyphs)] if screen == "explorer" else []
    there = _WORDS_OF.get(screen, ())
    here = [
        one
        for one in (*there, *_WORDS_OF_SHEETS)
        if re.search(rf"\b{re.escape(one)}(?:s|ed)?\b", sheet, re.IGNORECASE)
    ]
    words = [Meaning(word, _WORDS[word]) for word in there if word not in here]
    groups = (
        ("Words here", [Meaning(word, _WORDS[word]) for word in dict.fromkeys(here)]),
        ("Signs", signs),
        ("Signs of the map at the foot", of_map),
        ("Words", words),
        ("What can be searched for", _query_words(screen)),
    )
    return [(title, group) for title, group in groups if group]


def _query_words(screen: str) -> list[Meaning]:
    """The words of the query language that a screen takes; none where it takes plain text only."""
    if screen not in ("catalogue", "search", "explorer"):
        return []
    terms = TERMS if screen == "catalogue" else {**TERMS, **TEXT_TERMS}
    found = {f"{term}:": meaning for term, meaning in terms.items()}
    if screen == "explorer":
        fields = {f"{field}>": meaning for field, meaning in FIELDS.items()}
        found |= {**FUNCTIONS, **fields, "& | - !": "and, or, without, not"}
    return [Meaning(word, f"{meaning[:1].upper()}{meaning[1:]}") for word, meaning in found.items()]


def _map_signs(glyphs: Glyphs) -> list[tuple[str, str]]:
    """Signs of the map of the path, and of the bar beside it. A turn's own signs stand on the map too."""
    levels = "".join(glyphs.levels[level] for level in (1, 4, 8))
    return [
        (
            levels,
            "Size of the context after each turn; a full bar is the size at its top, where there is room for that",
        ),
        (f"{glyphs.axis} {glyphs.axis_left}", "The path; what a move drops of it"),
        (
            f"{glyphs.axis_branch} {glyphs.drop}{glyphs.arm}{glyphs.prompt_off}",
            "A branch, as long as its turns",
        ),
        (f"{glyphs.prompt_off}+1", "So many shorter branches leave there, too"),
        (f"{glyphs.axis_taken} {glyphs.drop_taken}{glyphs.arm_taken}", "The branch that a move takes"),
        (glyphs.prompt, "Where a move to the cursor leads"),
        ("2", "So many compactions in one place"),
        (
            glyphs.crumb,
            "A turn with a hit; a compaction with one is underlined, on a strip of one line a turn too",
        ),
        (
            f"{glyphs.block} {glyphs.block_again} {glyphs.block_free}",
            "Of the window: used, at full price after a move, free",
        ),
        (
            " ".join(part_sign(part, glyphs)[0] for part in PARTS if part != "injected"),
            f"In the tab Context: {', '.join(part for part in PARTS if part != 'injected')}",
        ),
    ]


def _signs(screen: str, glyphs: Glyphs) -> list[tuple[str, str]]:
    folded = (glyphs.folded, "Folded: can be unfolded")
    return {
        "explorer": [
            (f"{glyphs.prompt} {glyphs.prompt_off}", "A turn: on the path, off it"),
            (glyphs.leaf, "The leaf"),
            (f"{glyphs.rail} {glyphs.rail_off}", "An entry that begins no turn: on the path, off it"),
            (f"{glyphs.compaction} {glyphs.branch_summary}", "A compaction; a summary of a branch"),
            (glyphs.error, "Something failed in this turn"),
            (glyphs.edited, "A context edit: the model reads another text here"),
            (f"{glyphs.run} {glyphs.folded}", "Folded turns"),
            (f"{glyphs.branch}{glyphs.arm}{glyphs.prompt_off}", "A branch leaves there"),
            (f"{glyphs.branch}{glyphs.arm}{glyphs.folded}", "A folded branch"),
            (f"2{glyphs.rail_off}", "So many branches pass here, in the room of one"),
            (f"{glyphs.ellipsis} 2 hidden", "Rows that the filter leaves out"),
            (f"{glyphs.entered} {glyphs.branch_taken}{glyphs.arm_taken}", "Added by a move to the cursor"),
            (f"{glyphs.left} {glyphs.rail_left}", "Dropped by a move to the cursor"),
            (f"{glyphs.crumb} '", "A row with a hit; the marked row"),
            ("[x]", "A label"),
            ("! ls", "A command that the user ran"),
            ("#12", "The number of an entry, counted from 0"),
            (glyphs.zero, "None"),
        ],
        "lab": [
            ("S P K", "Summarised, beginning of the split turn, kept"),
            (
                f"{glyphs.stop} {glyphs.stop_done} {glyphs.knob}",
                "Values that give another cut; the value now",
            ),
            (f"~35k{glyphs.ellipsis}", "Estimated until the summary is there"),
            (
                " ".join(part_sign(part, glyphs)[0] for part in PARTS if part != "after"),
                f"Of the window: {', '.join(part for part in PARTS if part != 'after')}",
            ),
            (glyphs.block_free, "Free"),
            (glyphs.error, "A fact that is lost"),
            (glyphs.ok, "Pinned, switched on, or answered"),
            (glyphs.arrow, "The right answer of a question"),
            folded,
        ],
        "xray": [
            (glyphs.kept, "Kept: the same on both sides"),
            (glyphs.differs, "Kept, with a part left out or replaced"),
            (glyphs.compaction, "Summarised; a line of the summary"),
            (glyphs.injected, "Injected"),
            (glyphs.cut, "Dropped: left out, and not summarised"),
            (f"{glyphs.pointer} {glyphs.arrow}", "Source of the line, and what it led to"),
            ("as before", "The summary before this one has the same line; rewritten: a similar one"),
            folded,
        ],
        "compare": [
            (f"{glyphs.differs} {glyphs.same}", "Different, the same on both sides"),
            ("?", "Not known whether they are the same"),
            ("+ " + glyphs.minus, "Lines added, removed since the common ancestor"),
            ("+5 turns", "At the head: of this side alone, since the common ancestor"),
            ("A B", "Beside a line: only this side has it"),
            ("A B C", "Both sides, and their common ancestor"),
        ],
        "catalogue": [
            (glyphs.recent, "Written to in the last two minutes"),
            (f"{glyphs.nest}{glyphs.nest_arm}", "A fork or a sub-agent of the session above"),
            (f"{glyphs.nest}{glyphs.nest_inferred}", "Seems to be a copy of it: both begin alike"),
            (
                "! 1 damaged",
                "A line is broken, or its parent is not in the file; `leafward doctor` lists it, and lesser things",
            ),
            ("5 of 9", "Sessions that the filter finds, archived ones too, of those there are"),
            ("~785", "Estimated: the file records no count"),
            ("$5+", "At least that: some sessions record no cost"),
        ],
        "totals": [
            ("$5+", "At least that: some sessions of the row record no cost"),
            ("?", "No session of the row records its cost"),
            (glyphs.zero, "None"),
        ],
        "log": [
            (glyphs.own, "By Leafward"),
            (glyphs.rail_off, "By the agent"),
            (glyphs.own_undone, "Undone"),
        ],
    }.get(screen, [])
