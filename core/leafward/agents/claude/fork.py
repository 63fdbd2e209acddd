"""A new transcript that ends at an earlier turn (Claude Code 2.1): the rows of the path as they are, under a new id.

The new file lies beside its source, since the folder decides which sessions Claude Code finds. Ids of rows stay: Claude Code
and its readers recognise copies by shared ids. Every row also names its source, as rows of `/branch` do.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING
from uuid import uuid4

from leafward.agents.authorship import OwnCut, own_cut
from leafward.agents.claude.entries.left_out import LEFT_OUT_CODE
from leafward.agents.claude.entries.records import (
    BEGINS,
    NAMED,
    REPLIES,
    SIDECHAIN,
    Role,
    message_of,
    replacements_in,
    results_in,
    tag_of,
    text_in,
)
from leafward.agents.claude.field_edits import with_field
from leafward.agents.claude.injection import attachment_row
from leafward.agents.claude.kept_rows import ResumedRows, following, row_at, row_of, rows_again
from leafward.agents.claude.store import (
    PROJECTS,
    SUFFIX,
    config_folder,
    config_folder_above,
    folder_for,
    place_of,
)
from leafward.agents.claude.transcript import ClaudeReader
from leafward.agents.fork_draft import ForkDraft, after_results
from leafward.agents.resume import Resume, own_variables
from leafward.agents.storage.json_text import written
from leafward.agents.storage.lines import seams
from leafward.base.errors import Refused
from leafward.base.paths import is_kept
from leafward.context.model_context import context_at
from leafward.session.entries import EntryIndex, Kind, blocks_of, tool_calls
from leafward.session.foreign import reader_of
from leafward.session.journal.write import WriteRemark
from leafward.session.lines.line_decoding import decode_line
from leafward.session.messages import PROJECTION

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from leafward.agents.claude.source import TranscriptFile
    from leafward.agents.fork_draft import ForkPoint, ForkTerms
    from leafward.session.entries import Body
    from leafward.session.session import Session

TITLE = "Claude Code"
"""The agent's name as people write it."""
FORKED = " (fork)"
"""Suffix of a copied session's name, so that the two differ in Claude Code's list."""
_RESUMED = "only the session that started it is resumed"
_ECHOES = frozenset({"local-command-caveat", "command-name", "local-command-stdout", "local-command-stderr"})
"""Tags of the output of Claude Code's own commands in the conversation; it needs no answer."""
_UNANSWERED = 'it ends with {}: Claude Code answers that by itself ("No response requested.") before it sends the next prompt'
_ECHOED = (
    'it ends with what a command of Claude Code left: 2.1.197 answers that by itself ("No response requested."),'
    " 2.1.330 does not"
)
_BESIDE = frozenset({Role.QUIET, Role.INJECTED, Role.ATTACHED})


def may_end(session: Session, end: EntryIndex, before_prompt: bool) -> str | None:
    """Why a session of Claude Code may not end at an entry of any session: except behind a finished reply, it adds a reply.

    It also adds one right behind a compaction, unless the compaction is its own.
    """
    kind = session.columns.kind[end]
    if isinstance(reader_of(session), ClaudeReader):
        if any(note.code == LEFT_OUT_CODE and note.entry == end for note in session.source.notes):
            return "these words were left out of the next request"
        source = (session.body(end) or {}).get("source") or {}
        if place_of(str(session.path)).helper or source.get("isSidechain") is True:
            return f"it belongs to a sub-agent: {_RESUMED}"
        if kind == Kind.COMPACTION and not session.is_kept(end):
            return _stands_below(session, end)
    if kind == Kind.COMPACTION:
        messages = context_at(session, end).messages
        last = messages.entry[len(messages) - 1] if len(messages) else end
        if last != end:
            return may_end(session, EntryIndex(last), before_prompt)
    if kind not in (Kind.ASSISTANT, Kind.USER, Kind.TOOL_RESULT):
        return "no reply follows this entry yet"
    return _after_reply(session, end, before_prompt)


def _after_reply(session: Session, end: EntryIndex, before_prompt: bool) -> str | None:
    """Why a session may not end there: Claude Code continues only after a finished reply."""
    kind = session.columns.kind[end]
    if kind == Kind.USER:
        return "a prompt without its reply"
    if kind == Kind.TOOL_RESULT:
        return "inside a turn, which is not finished"
    if kind == Kind.ASSISTANT:
        message = (session.body(end) or {}).get("message")
        reply = message if isinstance(message, dict) else {}
        if tool_calls(reply):
            return "inside a turn: it calls tools"
        texts = (block for block in blocks_of(reply.get("content")) if block.get("type") == "text")
        if not any(block.get("text") for block in texts):
            return "inside a turn: no reply text yet"
    return after_results(session, end, before_prompt)


def _stands_below(session: Session, end: EntryIndex) -> str | None:
    """Why a session may not end at a compaction: in a copy, its kept rows stand behind the summary and are sent."""
    projection = (session.body(end) or {}).get(PROJECTION)
    after = projection.get("after") if isinstance(projection, dict) else None
    if any(session.columns.index(name) > end for name in after or ()):
        return "what the compaction kept comes after it here"
    return None


def fork(session: Session, cut: ForkPoint, terms: ForkTerms, root: Path) -> ForkDraft:
    """A draft of the transcript up to a cut; for a copy of ours, in the store at `root`.

    Raises Refused for a sub-agent's transcript, and where the file changed since it was read.
    """
    reader = reader_of(session)
    if not isinstance(reader, ClaudeReader):
        raise Refused(f"{session.path.name} is not a transcript of Claude Code")
    if place_of(str(session.path)).helper:
        raise Refused(f"{session.path.name} is a sub-agent's: {_RESUMED}")
    cwd = terms.folder(session, TITLE)
    copy = _Copy(session, reader, own_cut(session, reader.columns, cut), cwd)
    name = str(uuid4())
    folder, remarks = _folder(session, cwd, terms, root)
    path = Path(folder) / f"{name}{SUFFIX}"
    return ForkDraft(
        agent="claude",
        id=name,
        path=path,
        file=path,
        content=lambda: copy.lines(name, terms),
        resume=resume_of(path, name, cwd, terms.env),
        kept=copy.held,
        left=copy.left,
        remarks=(*copy.remarks(), *remarks),
    )


def resume_of(path: Path, name: str, cwd: str, env: Mapping[str, str]) -> Resume:
    """`claude --resume ID`, in the session's folder, with its configuration folder where that is not the usual one."""
    removed, added = own_variables(env), tuple[tuple[str, str], ...]()
    config = config_folder_above(os.path.dirname(os.path.abspath(path)))
    if config is not None and not _same(config, config_folder(env)):
        added = (("CLAUDE_CONFIG_DIR", config),)
        if _same(config, config_folder({**env, "CLAUDE_CONFIG_DIR": ""})):
            # Where the variable is set, even to the usual folder, Claude Code's settings lie elsewhere.
            removed, added = (*removed, "CLAUDE_CONFIG_DIR"), ()
    return Resume(("claude", "--resume", name), cwd, removed, added)


def _same(one: str, other: str) -> bool:
    return os.path.realpath(one) == os.path.realpath(other)


def folder_of(projects: str, cwd: str) -> str:
    """The project folder for sessions that work in a folder. Raises Refused, as `folder_for` does."""
    # Claude Code uses the resolved path of the folder.
    return folder_for(projects, os.path.realpath(cwd) if os.path.isdir(cwd) else cwd)


def _folder(session: Session, cwd: str, terms: ForkTerms, root: Path) -> tuple[str, list[WriteRemark]]:
    """The folder of the copy: its source's where that lies in a store and the copy works in the same folder."""
    beside = os.path.dirname(os.path.abspath(session.path))
    projects = os.path.dirname(beside)
    if is_kept(beside):
        return folder_of(os.path.join(root, PROJECTS), cwd), []
    if os.path.basename(projects) == PROJECTS:
        return beside if cwd == session.cwd else folder_of(projects, cwd), []
    folder = folder_of(os.path.join(config_folder(terms.env), PROJECTS), cwd)
    text = f"the source is not in a store of Claude Code; the new session goes to {folder}"
    return folder, [WriteRemark("elsewhere", text)]


class _Copy:
    """The copied part of a transcript."""

    def __init__(self, session: Session, reader: ClaudeReader, cut: OwnCut, cwd: str) -> None:
        self._session, self._reader, self._cut, self._cwd = session, reader, cut, cwd
        file = reader.reopened()
        try:
            self.rows = rows_again(file, reader.size)
            self.target = self._target()
            self.unanswered = self._notice(file)
        finally:
            file.close()
        if self.rows.flags[self.target] & SIDECHAIN:
            raise Refused(f"it belongs to a sub-agent: {_RESUMED}")
        self._kept = ResumedRows(self.rows, self.target).marks
        self.held, self.left = self._counted()

    def _target(self) -> int:
        """The last row of the new session.

        Before a prompt, the parent of the prompt; else the row of the entry, with silent rows that follow it.
        """
        rows, columns, cut = self.rows, self._reader.columns, self._cut
        target = -1
        if cut.prompt >= 0:
            prompt = row_at(rows, columns.start[cut.prompt])
            target = rows.parent[prompt] if prompt >= 0 else -1
        at = self._before_compaction(cut.last(columns))
        while target < 0 <= at:
            row = row_of(rows, columns, at)
            if row >= 0:
                beside = _BESIDE if columns.kind[at] != Kind.ASSISTANT else frozenset({Role.QUIET})
                target = following(rows, row, beside)
            at = columns.parent[at]
        if target < 0:
            raise Refused(
                "none of these entries is in Claude Code's own conversation, so it could not resume there"
            )
        return target

    def _before_compaction(self, at: int) -> int:
        """The requested entry, or the entry above a compaction that has only begun there.

        Claude Code reads no further up than the row with which a compaction begins: a copy that ended with that row, or with
        attachments before the summary, would hold nothing of the conversation before.
        """
        rows, columns = self.rows, self._reader.columns
        above = at
        while above >= 0 and above != self._cut.end:
            row = row_at(rows, columns.start[above])
            if row >= 0 and rows.role[row] == Role.BOUNDARY and columns.kind[above] != Kind.COMPACTION:
                at = columns.parent[above]
            above = columns.parent[above]
        return at

    def _notice(self, file: TranscriptFile) -> str:
        """The row behind the last reply that Claude Code answers by itself, in words for a remark; empty without one.

        It answers the last row of a user. Since 2.1.330 at the latest, output of its own commands does not count.
        """
        rows, row, echo = self.rows, self.target, ""
        for _ in range(len(rows)):
            role = rows.role[row] if row >= 0 else Role.REPLY
            if role in REPLIES:
                return echo
            if role in (Role.SUMMARY, Role.BOUNDARY):
                return echo if self._keeps_a_reply() else _UNANSWERED.format("a summary")
            if role in (Role.PROMPT, Role.RESULT):
                return _UNANSWERED.format("a message")
            if role in (Role.INJECTED, Role.COMMAND):
                _, body = self._row(file, row)
                if body.get("type") == "user":
                    if tag_of(text_in(message_of(body).get("content"))) not in _ECHOES:
                        return _UNANSWERED.format("a notice")
                    echo = _ECHOED
            row = rows.parent[row]
        return echo

    def _keeps_a_reply(self) -> bool:
        """Whether the kept entries of a compaction end with a reply: then Claude Code answers nothing (2.1.330)."""
        columns = self._reader.columns
        at: int = self._cut.end
        while at >= 0 and columns.kind[at] != Kind.COMPACTION:
            at = columns.parent[at]
        projection = (self._reader.translation.body(at) or {}).get(PROJECTION) if at >= 0 else None
        names = [*projection["before"], *projection["after"]] if isinstance(projection, dict) else []
        kinds = [columns.kind[index] for name in names if (index := columns.index(name)) >= 0]
        spoken = [kind for kind in kinds if kind in (Kind.USER, Kind.ASSISTANT, Kind.TOOL_RESULT)]
        return bool(spoken) and spoken[-1] == Kind.ASSISTANT

    def _counted(self) -> tuple[int, int]:
        """The numbers of copied and not copied entries on the path up to the end."""
        copies = left = 0
        columns = self._reader.columns
        at: int = self._cut.end
        for _ in range(len(columns)):
            if at < 0:
                break
            row = row_at(self.rows, columns.start[at])
            copied = row >= 0 and self._kept[row]
            copies, left = copies + bool(copied), left + (not copied)
            at = columns.parent[at]
        return copies, left + self._cut.passed

    def remarks(self) -> tuple[WriteRemark, ...]:
        """Remarks on the copy."""
        found = list(self._cut.remarks())
        if self.unanswered:
            found.append(WriteRemark("notice", self.unanswered))
        return tuple(found)

    def lines(self, name: str, terms: ForkTerms) -> Iterator[bytes]:
        """The rows, one per line, with the new session's id; then the added text, and the name."""
        rows, source = self.rows, self._session.id
        lost = rows.inferred - rows.notes.boundaries.keys()
        answered: set[str] = set()
        last: Body = {}
        file = self._reader.reopened()
        try:
            for row in range(len(rows)):
                named = rows.flags[row] & NAMED
                if not (self._kept[row] and named) and rows.role[row] != Role.REPLACED:
                    continue
                raw, body = self._row(file, row)
                if rows.role[row] == Role.RESULT:
                    answered.update(str(one.get("tool_use_id")) for one in results_in(body))
                if named:
                    raw = with_field(
                        raw, "forkedFrom", {"sessionId": source, "messageUuid": str(body.get("uuid"))}
                    )
                elif not any(one["toolUseId"] in answered for one in replacements_in(body)):
                    continue
                if row in lost:
                    # Claude Code would begin with the row, where much time passed before it.
                    _, above = self._row(file, rows.parent[row])
                    raw = with_field(raw, "parentUuid", above.get("uuid"))
                if "sessionId" in body:
                    raw = with_field(raw, "sessionId", name)
                if body.get("cwd") == self._session.cwd != self._cwd:
                    # The rows name the session's folder: Claude Code lists it there, and Leafward resumes it there.
                    raw = with_field(raw, "cwd", self._cwd)
                    body["cwd"] = self._cwd
                if row == self.target:
                    last = body
                yield raw + b"\n"
        finally:
            file.close()
        if terms.injected:
            yield written(attachment_row(terms.injected, terms, name, last)) + b"\n"
        own_title = self._session.name
        if own_title:
            title = own_title if own_title.endswith(FORKED) else own_title + FORKED
            yield written({"type": "custom-title", "customTitle": title, "sessionId": name}) + b"\n"

    def _row(self, file: TranscriptFile, row: int) -> tuple[bytes, Body]:
        """A row as it is, without other content of its line; and decoded."""
        raw = file.line(self.rows.start[row])
        body = decode_line(raw)
        if body is None:
            first, stop = next(iter(seams(raw, 0, len(raw), BEGINS)), (0, len(raw)))
            raw = raw[first:stop]
            body = decode_line(raw)
        if body is None:
            raise Refused(f"{self._session.path} was changed since it was read: reload it")
        return raw.strip(b"\r \t\0"), body
