"""A new session from an entry: the request, the choices and the draft, as values and words. Pure."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from leafward.base.safe_text import safe_line
from leafward.base.shown_path import no_project_folder
from leafward.session.entries import NO_ENTRY
from leafward_tui.ui.sheets.choice_sheet import Choice
from leafward_tui.ui.sheets.sheet import SheetLine
from leafward_tui.ui.text.paths import working_folder

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from leafward.agents.base import Agent
    from leafward.agents.fork_draft import ForkDraft, ForkPoint
    from leafward.branches.fork import Fork
    from leafward.compaction.branch_summary import BranchDraft

_TAKEN = "jkqbisgxfh"
"""Letters with another meaning in the choice of an agent."""

_HERE, _ELSEWHERE = "h", "f"
"""The keys of the folders that can be chosen."""


@dataclass(frozen=True, slots=True)
class ForkRequest:
    """The request for a new session."""

    end: int
    """The entry after which the new session would end: the end of the turn under the cursor."""
    prompt: int = NO_ENTRY
    """The prompt that the turn begins with; -1 where there is none."""
    before: bool = False
    """Whether to end before that prompt instead."""
    inject: bool = False
    summary: bool = False
    cwd: str = ""
    """The folder that it works in, as typed; empty for that of this session."""

    @property
    def entry(self) -> int:
        """The requested entry."""
        return self.prompt if self.before else self.end


class Folder(NamedTuple):
    """The folder that a new session would work in."""

    path: str
    """The folder as a safe text; empty where none is recorded."""
    there: bool
    here: str = ""
    """The folder that the application runs in; empty where it is gone."""

    @property
    def obstacle(self) -> str:
        """The reason why nobody can work there, and the keys that choose another; empty where one can."""
        if self.there:
            return ""
        reason = no_project_folder(self.path) if self.path else "the session does not name its folder"
        return f"{reason}; {f'{_HERE} or ' if self.here else ''}{_ELSEWHERE} chooses one"


def folder_at(path: str) -> Folder:
    """The folder of a path, in its present state."""
    return Folder(safe_line(path, _LINE), os.path.isdir(path), working_folder())


def letters(agents: Sequence[Agent]) -> dict[str, Agent]:
    """A letter for each agent: the first of its name that is free."""
    found: dict[str, Agent] = {}
    for agent in agents:
        letter = next(letter for letter in agent.name if letter not in _TAKEN and letter not in found)
        found[letter] = agent
    return found


def targets(
    agents: Mapping[str, Agent],
    cuts: Mapping[str, ForkPoint],
    own: str,
    folder: Folder,
    *,
    copied: bool = True,
) -> list[Choice]:
    """The agents that could go on, the session's own first; the others with their reasons.

    `copied`: whether its own agent would get a copy of the stored session.
    """
    nowhere = "" if folder.there else "needs a folder"
    choices = []
    for letter, agent in sorted(agents.items(), key=lambda item: item[1].name != own):
        effect = "a copy of what it stored" if agent.name == own and copied else "converted to its format"
        hint = "you see it before anything is written"
        choices.append(Choice(letter, agent.title, effect, hint, cuts[agent.name].rule or nowhere))
    return choices


def options(
    request: ForkRequest,
    agents: Mapping[str, Agent],
    cuts: Mapping[str, ForkPoint],
    named: Callable[[int], str],
    folder: Folder,
    made: BranchDraft | None = None,
    *,
    leaves: bool,
) -> list[Choice]:
    """The choices before that of an agent: end, folder, additions, and the nearest legal entries.

    `made`: the summary of the abandoned branch, where there is one already.
    """
    found = []
    elsewhere = Choice(_ELSEWHERE, "In another folder", _other(request, folder))
    if not folder.there:
        if folder.here:
            found.append(Choice(_HERE, "In the folder that Leafward runs in", folder.here, path=True))
        found.append(elsewhere)
    if request.prompt >= 0 and request.prompt != request.end:
        title = "End after this turn instead" if request.before else "Leave this prompt out, to edit it"
        found.append(Choice("b", title, "" if request.before else "puts the prompt on the clipboard"))
    found.append(
        Choice(
            "i",
            "Add rules, files and next step",
            "on" if request.inject else "off",
            current=request.inject,
        )
    )
    if leaves:
        effect = "on" if request.summary else "off"
        if request.summary and made is not None:
            effect = f"on, that of {made.summary.summarizer}"
        found.append(Choice("s", "Add a summary of the abandoned branch", effect, current=request.summary))
    if folder.there:
        found.append(elsewhere)
    for letter, nearest in zip("gx", nearest_of(cuts), strict=False):
        whose = [
            agent.title
            for agent in agents.values()
            if not cuts[agent.name].legal and cuts[agent.name].nearest == nearest
        ]
        title = f"Go to {named(nearest)}, where one can begin"
        found.append(Choice(letter, title, f"the nearest for {', '.join(whose)}"))
    return found


def _other(request: ForkRequest, folder: Folder) -> str:
    if not folder.there:
        return "you type which"
    return f"now {folder.path}" if request.cwd else f"instead of {folder.path}"


def nearest_of(cuts: Mapping[str, ForkPoint]) -> list[int]:
    """The nearest legal entries of the agents that cannot go on here, without repeats."""
    return list(
        dict.fromkeys(int(cut.nearest) for cut in cuts.values() if not cut.legal and cut.nearest >= 0)
    )


def draft_lines(made: Fork, request: ForkRequest) -> list[SheetLine]:
    """The lines of a draft: the file that would be written, the commands to go on, and remarks."""
    draft = made.draft
    lines = [
        SheetLine(f"holds {made.holds}"),
        SheetLine(f"writes {safe_line(draft.file.name, _LINE)}"),
        SheetLine(f"in {safe_line(str(draft.file.parent), _LINE)}"),
    ]
    if draft.imported is not None:
        lines.append(SheetLine(f"import: {draft.imported.command.line()}", "", _WHOLE))
    lines.append(SheetLine(f"then: {draft.resume.line()}", "", _WHOLE))
    put_in = ["a summary of the abandoned branch"] * request.summary + [
        "the injected context (rules, recent actions, changed files, next step)"
    ] * request.inject
    if put_in:
        lines.append(SheetLine(f"after the copied entries: {', then '.join(put_in)}"))
    if made.prompt is not None:
        lines.append(SheetLine(f"prompt: {safe_line(made.prompt, 300)}"))
    if made.obstacle is not None:
        lines.append(SheetLine(safe_line(made.obstacle, _LINE), "bad"))
    lines += [SheetLine(safe_line(one.text, 300), _HUES.get(one.code, "")) for one in made.remarks]
    return lines


_LINE = 1000
_WHOLE = 6
"""Lines that a command may take, so that it is shown whole."""
_HUES = {"working-tree": "warn", "leafward-entries": "warn", "damaged-lines": "warn"}


def ways(made: Fork, title: str) -> list[Choice]:
    """The choices for a draft."""
    draft = made.draft
    refused = safe_line(made.obstacle or "", _LINE)
    operation = f"write {draft.file.name}"
    prompt = "its prompt is copied" if made.prompt is not None else ""
    if draft.imported is None:
        return [
            Choice("w", "Write it", "its command is copied", operation, refused),
            Choice("o", "Write it and open it here", prompt, operation, refused),
            Choice("r", f"Write it and go on in {title}", prompt or "runs the command", operation, refused),
        ]
    both = f"{operation}, and import it"
    return [
        Choice("w", "Write the document", "the import command is copied", operation, refused),
        Choice("i", f"Write it and import it into {title}", "its command is copied", both, refused),
        Choice(
            "r", f"Write it, import it and go on in {title}", prompt or "runs both commands", both, refused
        ),
    ]


def earlier_lines(draft: ForkDraft) -> list[SheetLine]:
    """The lines about the session of an earlier attempt."""
    there = "nobody has continued it" if draft.imported is None else "it was not imported"
    return [
        SheetLine(f"{safe_line(draft.file.name, _LINE)}: {there}"),
        SheetLine(f"in {safe_line(str(draft.file.parent), _LINE)}"),
    ]


def earlier_choices(draft: ForkDraft, title: str, *, goes_on: bool) -> list[Choice]:
    """The choices where an earlier attempt wrote the same session: go on with it, or write another one."""
    operation = f"write nothing, {'go on' if goes_on else 'import it'}"
    if draft.imported is None:
        first = f"Go on with it in {title}"
    else:
        first = f"Import it into {title}" + (" and go on" if goes_on else "")
    return [
        Choice("r", first, "no second copy", operation),
        Choice("a", "Write another one", "a second copy", "write another one"),
    ]
