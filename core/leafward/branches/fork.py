"""New sessions from a place in an old one: the agents that can continue from there, the draft, and its writing.

The source is only read. The new file gets an unused name and is complete and durable before it becomes visible.
"""

from __future__ import annotations

import os
import subprocess
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from leafward.agents.base import expanded
from leafward.agents.conversation import COUNTS_COPIED, Conversation
from leafward.agents.fork_draft import ForkDraft, ForkPoint, ForkTerms, cut_at
from leafward.agents.recognition import agent_behind
from leafward.agents.registry import all_agents
from leafward.agents.rewrites import only_grew
from leafward.base.errors import Refused
from leafward.base.figures import counted, first_few
from leafward.base.paths import draft_ending, imports_dir
from leafward.base.safe_text import output_tail
from leafward.compaction.injection.injection import inject
from leafward.context.model_context import context_at
from leafward.files.command_changes import command_changes
from leafward.files.working_set import touched
from leafward.session.entries import BOOKKEEPING, NO_ENTRY, EntryIndex
from leafward.session.journal.creation import create_from
from leafward.session.journal.write import WriteRemark
from leafward.session.messages import prompt_text

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from leafward.agents.base import Agent
    from leafward.agents.resume import Resume
    from leafward.compaction.branch_summary import BranchDraft
    from leafward.compaction.injection.values import InjectionSettings
    from leafward.session.session import Session


_PATIENCE = 120
"""Seconds that an import may take."""
_LISTED = 5
_CONVERTED = WriteRemark(
    "kept-beside",
    "it includes entries from Leafward's sidecar, so the messages are converted as for another agent",
)
_WENT_BACK = WriteRemark(
    "went-back",
    "this prompt followed an earlier message that the compaction kept; the new session begins after all that it kept",
)
LEFT_BEHIND = "Summary of how this conversation went on before, in the session that it was forked from:"
"""Beginning of a fork's summary of the entries left behind."""


@dataclass(frozen=True, slots=True)
class Fork:
    """A new session that would be written."""

    source: str
    """Name of the agent that the source session belongs to."""
    cut: ForkPoint
    draft: ForkDraft
    prompt: str | None
    """The prompt before which the session was cut, to be edited and sent; None where it ends behind a reply."""
    remarks: tuple[WriteRemark, ...]
    obstacle: str | None
    """Why it cannot be written as things stand; None where nothing is in the way."""
    injected: str = ""
    """The text behind the copied entries."""
    compacted: bool = False
    """Whether a compaction replaces the beginning of the context there."""

    @property
    def holds(self) -> str:
        """The part of the old session that the new one holds, in entries (a copy) or messages, also from before a compaction."""
        if not self.draft.converted:
            copied = counted(self.draft.kept, "entry", "entries")
            return f"{copied}, the history before the compaction included" if self.compacted else copied
        told = counted(self.draft.kept, "message")
        if not self.compacted:
            return told
        told += " of the context, the summary included"
        return (
            f"{told}, and {self.draft.earlier:,} from before the compaction" if self.draft.earlier else told
        )


def cuts(session: Session, entry: int, targets: tuple[Agent, ...] | None = None) -> dict[str, ForkPoint]:
    """The point at which a new session of each agent would end for a fork at an entry, legal or not, by the agent's name."""
    return {
        agent.name: cut_at(session, EntryIndex(entry), agent.may_end) for agent in targets or all_agents()
    }


def folder_named(typed: str, env: Mapping[str, str]) -> str:
    """The folder that a user names as the working folder of a new session. Raises Refused where it does not exist."""
    if not typed.strip():
        # Not the current folder: an empty shell variable is not a choice.
        raise Refused("no folder is named for the new session")
    folder = str(expanded(typed, env))
    if not os.path.isdir(folder):
        raise Refused(f"no folder {folder}")
    return folder


def fork(
    session: Session,
    entry: int,
    to: Agent,
    terms: ForkTerms,
    source: Agent | None = None,
    *,
    injection: InjectionSettings | None = None,
    summary: BranchDraft | None = None,
) -> Fork:
    """The new session that an agent would get from an entry on. Reads only.

    A summary of the entries left behind and the injected context follow the copied entries, where they are wanted.
    Raises Refused where no session may end there, with the rule and the nearest legal entry, and where none can be made.
    """
    source = source or agent_behind(session)
    own = to is source
    cut = cut_at(session, EntryIndex(entry), to.may_end)
    if cut.rule is not None:
        raise Refused(refusal(session, cut, to))
    if injection is not None or summary is not None:
        kind = "injection" if summary is None else "summary"
        terms = replace(terms, injected=_carried(session, cut, injection, summary), injected_as=kind)
    if own and is_copy(session, cut):
        draft = to.fork(session, cut, terms)
    else:
        draft = replace(to.convert(Conversation(session, cut), terms), converted=True)
        if own:
            draft = replace(draft, remarks=(_CONVERTED, *draft.remarks))
    prompt = prompt_text(session.body(cut.prompt) or {}) if cut.prompt >= 0 else None
    remarks = (*draft.remarks, *_remarks(session, cut, terms.cwd, copied=not draft.converted))
    compacted = context_at(session, cut.tip(session)).compaction >= 0
    return Fork(source.name, cut, draft, prompt, remarks, draft.resume.obstacle(), terms.injected, compacted)


def is_copy(session: Session, cut: ForkPoint) -> bool:
    """Whether a new session of the source's own agent is a copy of the stored entries.

    It is a conversion instead where an entry of the sidecar changes the context: that is how a preview move becomes real.
    """
    if session.source.book is None:
        return True
    kinds = session.columns.kind
    return not any(
        session.is_kept(index) and kinds[index] not in BOOKKEEPING
        for index in session.tree.path(cut.tip(session))
    )


def refusal(session: Session, cut: ForkPoint, to: Agent) -> str:
    """Why a session of an agent cannot end at an entry, and where it could, on one line."""
    columns = session.columns
    if cut.entry < 0:
        return f"no session can begin here: {cut.rule}"
    problem = f"{to.title} cannot go on at {columns.id(cut.entry)}: {cut.rule}"
    if cut.nearest == NO_ENTRY:
        return f"{problem}; no entry near it works either"
    return f"{problem}; the nearest entry that works is {columns.id(cut.nearest)}"


def _carried(
    session: Session, cut: ForkPoint, settings: InjectionSettings | None, summary: BranchDraft | None
) -> str:
    parts = [] if summary is None else [f"{LEFT_BEHIND}\n\n{summary.text}"]
    if settings is not None:
        parts.append(inject(session, cut.end, settings).text)
    return "\n\n".join(part for part in parts if part)


def _remarks(session: Session, cut: ForkPoint, cwd: str, *, copied: bool) -> list[WriteRemark]:
    tree = session.tree
    leaf = session.leaf
    below = tree.below(tree.common_ancestor(cut.end, leaf), leaf)
    later = [index for run in below for index in range(run.start, run.stop)]
    by_command = command_changes(session, later)
    edited = sorted(
        {name for name, file in touched(session, later).items() if file.modified}
        | by_command.fates.keys()
        | by_command.entries.keys()
    )
    found = []
    if cwd and session.cwd and cwd != session.cwd:
        text = f"it works in another folder than its source; its messages still name {session.cwd}"
        found.append(WriteRemark("other-folder", text))
    if edited:
        listed = first_few(edited, _LISTED)
        text = f"files are as they are now, not as they were at this entry: {listed} changed after it"
        found.append(WriteRemark("working-tree", text))
    if cut.prompt in session.source.kept_until:
        found.append(_WENT_BACK)
    if copied:
        found.append(COUNTS_COPIED)
    return found


def store(session: Session, draft: ForkDraft, *, may_grow: bool = False) -> Path:
    """Writes a draft's file, for its owner only, and returns its path; the source `may_grow` where its end is left out.

    Raises Refused, with nothing left behind, where the session's folder is gone, the name is taken, the source changed while
    it was read, or the file cannot be written.
    """
    draft.resume.ready()
    path = draft.file
    # No agent takes such a name for a session: it neither begins nor ends like theirs.
    waiting = path.with_name(draft_ending())
    return create_from(path, waiting, draft.content(), lambda: _refuse_changed(session, may_grow=may_grow))


def _refuse_changed(session: Session, *, may_grow: bool) -> None:
    """Raises Refused where the source is not what was read. An agent that goes on in it changes nothing of that."""
    changed = session.changed_on_disk()
    if session.gone or (changed and not (may_grow and only_grew(session))):
        raise Refused(f"{session.path.name} changed while it was read; nothing is written, try again")


def import_now(draft: ForkDraft, env: Mapping[str, str], *, kept: bool = True) -> None:
    """Runs the agent's own import of a written document in the session's folder, then deletes the document.

    Raises Refused with the agent's message where it fails; anything it left is removed. The document stays, and the error says
    how to import it later; with `kept` false it is deleted.
    """
    if draft.imported is None:
        return
    try:
        _run(draft.imported.command.ready(), env)
    except Refused as error:
        # Why the import failed says more than why its leftovers stay.
        with suppress(Refused):
            _run(draft.imported.undo, env)
        if not kept:
            draft.file.unlink(missing_ok=True)
            raise
        later = f"the document is kept; to import it, run {draft.imported.command.line()}"
        raise Refused(f"{error}; {later}") from error
    # The session exists even if this fails; `doctor` reports the leftovers.
    with suppress(OSError):
        draft.file.unlink(missing_ok=True)


def store_and_import(
    session: Session, draft: ForkDraft, env: Mapping[str, str], *, may_grow: bool = False
) -> None:
    """Writes a draft and lets its agent import it where needed. Raises LeafwardError, before writing where there is no agent."""
    # Checked before writing: a user who retries once the agent is installed would get two.
    draft.resume.program(env)
    store(session, draft, may_grow=may_grow)
    import_now(draft, env)


def stored_words(draft: ForkDraft, *, imported: bool) -> str:
    """What was written of a draft, and where: its file, or the session that its agent imported."""
    if imported:
        return f"session {draft.id} was imported into {draft.path.parent}"
    return f"{draft.file} was written"


def left_imports() -> list[Path]:
    """Documents that wait for an import: never run, run by hand, or failed."""
    try:
        return sorted(path for path in imports_dir().iterdir() if path.is_file())
    except OSError:
        return []


def _run(command: Resume, env: Mapping[str, str]) -> None:
    name = command.argv[0]
    environment, program = command.environment(env), command.program(env)
    try:
        done = subprocess.run(
            [program, *command.argv[1:]],
            cwd=command.cwd,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_PATIENCE,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise Refused(f"{name} did not end within {_PATIENCE} seconds") from None
    except OSError as error:
        raise Refused(f"{name}: {error.strerror or error}") from error
    if done.returncode:
        output = output_tail(done.stderr or done.stdout)
        raise Refused(f"{' '.join(command.argv[:2])} failed ({done.returncode}): {output}")
