"""The verb `fork`: a new session from an entry of an old one, for its own agent or another."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from leafward import agents
from leafward.agents.fork_point import cut_at
from leafward.base.errors import Refused
from leafward.base.safe_text import safe, safe_line
from leafward.branches import fork as forking
from leafward.branches.fork import Draft, Fork, Remark, Terms
from leafward.cli.facts import id_of
from leafward.cli.handing_on import installed
from leafward.cli.handing_on import run as run_agent
from leafward.cli.inject import injection_settings
from leafward.cli.model_request import cancellable, chosen, progress, refuse_cancelled, sent_by, tell_outgoing
from leafward.cli.output import emit_json, note, page, plural, say
from leafward.cli.plan import configured
from leafward.cli.selection import opened
from leafward.cli.summarize import window_of
from leafward.compaction.branch import left_branch, summarize_branch
from leafward.session.headline import headline
from leafward.session.journal import utc_now
from leafward.summaries.summarizers.choice import CONFIGURED

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from leafward.agents import Agent, Resume
    from leafward.base.config import Config
    from leafward.compaction.branch import BranchDraft
    from leafward.session.entries import EntryIndex
    from leafward.session.session import Session

_ELSEWHERE = "--cwd FOLDER begins it in another one"
_LINE = 4000
"""Characters of a path or a command that are shown."""


def fork(selector: str, entry: str, to: str | None, asked: Mapping[str, Any], as_json: bool) -> int:
    """`leafward fork`. `asked` holds the options as the command line names them."""
    if asked["summary"] != "model" and (asked["model"] is not None or asked["base_url"] is not None):
        raise click.UsageError("--model and --base-url name who summarises, so they need --summary model")
    if asked["runs"] and (as_json or asked["dry_run"]):
        raise click.UsageError("--run hands the terminal over, so it goes with neither --json nor --dry-run")
    settings = configured()
    folder = forking.folder_named(asked["cwd"], os.environ) if asked["cwd"] is not None else ""
    with opened(selector) as session:
        source = agents.agent_behind(session)
        target = agents.agent_named(to) if to is not None else source
        index = session.place if entry == "leaf" else session.find(entry)
        text, remarks = _carried(session, index, target, asked, settings)
        kind = "summary" if asked["summary"] != "none" else "injection"
        terms = Terms(os.environ, settings, utc_now(), text, kind, folder)
        made = forking.fork(session, index, target, terms, source)
        made = replace(made, remarks=(*made.remarks, *remarks))
        imported = False
        if not asked["dry_run"]:
            if made.obstacle is not None:
                raise Refused(f"{made.obstacle}; {_ELSEWHERE}")
            # Before anything is written: who tries again once the agent is there would have two.
            if asked["imports"] or asked["runs"]:
                installed(made.draft.resume, target.title)
            forking.store(session, made.draft)
            if asked["imports"] or asked["runs"]:
                _import(made.draft)
                imported = made.draft.imported is not None
        if as_json:
            emit_json(_json(session, made, target, imported=imported, dry_run=asked["dry_run"]))
            return 0
        say(_text(session, made, target, imported=imported, dry_run=asked["dry_run"]))
        for one in _remarks(made):
            note(one.text)
        if asked["dry_run"]:
            note("nothing was written")
    return run_agent(made.draft.resume.ready(), target.title) if asked["runs"] else 0


def _import(draft: Draft) -> None:
    """Lets the agent import a document. Where that fails, says how the one that is there can be imported: no fork makes another."""
    try:
        forking.import_now(draft, os.environ)
    except Refused as error:
        if draft.imported is None:
            raise
        raise Refused(
            f"{error}; the document stays, and is imported by {draft.imported.command.line()}"
        ) from error


def _carried(
    session: Session, index: EntryIndex, target: Agent, asked: Mapping[str, Any], settings: Config
) -> tuple[str, tuple[Remark, ...]]:
    """What is put in behind what is copied. Nothing is made, and no model asked, where the cut is not legal."""
    cut = cut_at(session, index, target.may_end)
    if not cut.legal:
        raise Refused(forking.refusal(session, cut, target))
    summary: BranchDraft | None = None
    remarks: tuple[Remark, ...] = ()
    if asked["summary"] != "none":
        summary, remarks = _summarised(session, cut.end, asked, settings)
    injection = injection_settings(settings) if asked["inject"] else None
    return forking.carried(session, cut, injection, summary), remarks


def _summarised(
    session: Session, end: EntryIndex, asked: Mapping[str, Any], settings: Config
) -> tuple[BranchDraft | None, tuple[Remark, ...]]:
    """A summary of what lies between the end of the new session and the leaf. A dry run asks no model."""
    name = asked["model"] or CONFIGURED if asked["summary"] == "model" else None
    summarizer = chosen(name, settings, asked["base_url"])
    with cancellable() as stop:
        branch = left_branch(session, session.leaf, end, window=window_of(summarizer, settings), stop=stop)
        if branch is None:
            return None, (Remark("nothing-left", "nothing is left behind that a summary could tell"),)
        going = sent_by(summarizer, branch.span(), branch.budget())
        if asked["dry_run"] and going is not None:
            tell_outgoing(summarizer, going, would=True)
            return None, (
                Remark("nothing-sent", "a dry run asks no model: the summary is not among what is shown"),
            )
        tell_outgoing(summarizer, going)
        with progress() as show:
            made = summarize_branch(session, branch, summarizer, progress=show, stop=stop)
        refuse_cancelled(stop)
    return made, tuple(Remark("summary", text) for text in made.remarks)


def _remarks(made: Fork) -> list[Remark]:
    found = list(made.remarks)
    if made.obstacle is not None:
        found.append(Remark("cwd-missing", f"{made.obstacle}; {_ELSEWHERE}"))
    return found


def _json(session: Session, made: Fork, target: Agent, *, imported: bool, dry_run: bool) -> dict[str, Any]:
    draft, cut = made.draft, made.cut
    document: dict[str, Any] = {
        "agent": target.name,
        "path": str(draft.path),
        "id": draft.id,
        "cwd": draft.resume.cwd,
        "resume": list(draft.resume.argv),
        "env": dict(draft.resume.env_set),
        "prompt": made.prompt,
        "source": {"agent": made.source, "id": session.id, "path": str(session.path)},
        "entry": id_of(session, cut.entry),
        "end": id_of(session, cut.end),
        "kept": draft.kept,
        "left": draft.left,
        "file": str(draft.file) if not imported else None,
        "import": _command_json(draft.imported.command) if draft.imported is not None else None,
        "imported": imported,
        "dry_run": dry_run,
        "diagnostics": [{"code": one.code, "text": one.text} for one in _remarks(made)],
    }
    return document


def _command_json(command: Resume) -> dict[str, Any]:
    return {"argv": list(command.argv), "cwd": command.cwd, "env": dict(command.env_set)}


def _text(session: Session, made: Fork, target: Agent, *, imported: bool, dry_run: bool) -> Iterator[str]:
    draft, cut, paper = made.draft, made.cut, page()
    where = "before" if cut.prompt >= 0 else "after"
    at = f"{safe_line(id_of(session, cut.entry) or '', 40)}  {safe_line(headline(session, cut.entry).text, 60)}"
    done = "would begin" if dry_run else "began"
    yield f"{paper.style(done, 'ghost')} a session of {target.title}, {where} {at}"

    def row(word: str, text: str) -> str:
        return f"{paper.style(f'{word:<9}', 'faint')}{text}"

    unit = "entry" if target.name == made.source else "message"
    units = "entries" if unit == "entry" else "messages"
    yield row("holds", plural(draft.kept, unit, units))
    if imported:
        yield row("imported", f"into {safe_line(str(draft.path.parent), _LINE)}")
    else:
        yield row("file", safe_line(str(draft.file), _LINE))
        if draft.imported is not None:
            yield row("import", draft.imported.command.line())
    yield row("continue", draft.resume.line())
    if made.prompt is not None:
        yield ""
        yield paper.style("prompt", "faint")
        yield safe(made.prompt)
