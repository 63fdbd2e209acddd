"""The verb `fork`: a new session from an entry of an old one, for its own agent or another."""

from __future__ import annotations

import os
from dataclasses import replace
from functools import cache, partial
from typing import TYPE_CHECKING, Any

import click

from leafward.agents.fork_draft import ForkDraft, ForkTerms, cut_at
from leafward.agents.recognition import agent_behind
from leafward.agents.registry import agent_named
from leafward.base.errors import Refused
from leafward.base.figures import short
from leafward.base.safe_text import excerpt_line, pasted_path, safe, safe_line
from leafward.branches import fork as forking
from leafward.branches.earlier_fork import models_summary, unused_fork, waiting_import
from leafward.cli.agent_program import installed
from leafward.cli.agent_program import run as run_agent
from leafward.cli.branch_summary import refuse_model_alone, window_of
from leafward.cli.model_request import cancellable, chosen, progress, refuse_cancelled, sent_by, tell_outgoing
from leafward.cli.output.page import emit_json, indented, note, page, say
from leafward.cli.output.written import after
from leafward.cli.selection import opened
from leafward.cli.settings import configured
from leafward.compaction.branch_summary import left_branch, summarize_branch
from leafward.compaction.injection.configured import configured_settings
from leafward.session.headlines.entry_headline import headline
from leafward.session.injected_block import split_enclosed
from leafward.session.journal.lines import utc_now
from leafward.session.journal.write import WriteRemark
from leafward.summaries.summarizers.choice import CONFIGURED
from leafward.summaries.summarizers.extractive.summarizer import Extractive
from leafward.summaries.summarizers.summary import tokens_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from leafward.agents.base import Agent
    from leafward.agents.resume import Resume
    from leafward.base.config import Config
    from leafward.branches.earlier_fork import PutIn
    from leafward.branches.fork import Fork
    from leafward.cli.options.branch_options import ForkOptions
    from leafward.compaction.branch_summary import BranchDraft
    from leafward.session.entries import EntryIndex
    from leafward.session.session import Session

_ELSEWHERE = "--cwd FOLDER begins it in another folder"


def fork(selector: str, entry: str, options: ForkOptions, dry_run: bool, as_json: bool) -> int:
    """`leafward fork`."""
    _refuse_combinations(options, dry_run=dry_run, as_json=as_json)
    settings = configured()
    folder = forking.folder_named(options.cwd, os.environ) if options.cwd is not None else ""
    with opened(selector) as session:
        source = agent_behind(session)
        target = agent_named(options.to) if options.to is not None else source
        index = session.place if entry == "leaf" else session.find(entry)
        terms = ForkTerms(os.environ, settings, utc_now(), cwd=folder)
        injection = configured_settings(settings) if options.inject else None
        drafted = partial(forking.fork, session, index, target, terms, source, injection=injection)
        imported, there, made = False, None, None
        begins = (options.run_import or options.run) and not dry_run
        if begins and not options.another and options.summary == "model":
            plain = drafted()
            there = _before_asking(session, plain, target, options, settings)
            made = plain if there is not None else None
        if made is None:
            summary, remarks = _left_behind(session, index, target, options, settings, dry_run=dry_run)
            made = drafted(summary=summary)
            made = replace(made, remarks=(*made.remarks, *remarks))
        if not dry_run:
            _refuse_obstacle(made)
            if begins:
                installed(made.draft.resume, target.title)
                if there is None and not options.another:
                    there = _earlier(session, made, options, settings)
            made = _written(session, made, there)
            if begins:
                forking.import_now(made.draft, os.environ)
                imported = made.draft.imported is not None
        new = not dry_run and (there is None or imported)
        with after(forking.stored_words(made.draft, imported=imported) if new else ""):
            if as_json:
                emit_json(_json(session, made, target, imported=imported, dry_run=dry_run))
                return 0
            done = "would begin" if dry_run else "began" if there is None else "reuses"
            _tell(session, made, target, done, imported=imported, dry_run=dry_run)
    return run_agent(made.draft.resume.ready(), target.title) if options.run else 0


def _refuse_combinations(options: ForkOptions, *, dry_run: bool, as_json: bool) -> None:
    """Raises UsageError where two options exclude each other, or one needs another."""
    refuse_model_alone(options)
    if options.run and (as_json or dry_run):
        raise click.UsageError("--run starts the agent in this terminal, so it excludes --json and --dry-run")
    if options.another and not (options.run or options.run_import):
        raise click.UsageError("--another needs --run or --import")


def _before_asking(
    session: Session, plain: Fork, target: Agent, options: ForkOptions, settings: Config
) -> ForkDraft | None:
    """The session of an earlier try with a model's summary; None without one. Raises Refused where the agent cannot begin.

    Checked before anything is written or a model is asked: a later try, with the agent installed, must not make a second session.
    """
    _refuse_obstacle(plain)
    installed(plain.draft.resume, target.title)
    offline = partial(_offline_summary, session, plain.cut.end, settings)
    return _earlier(session, plain, options, settings, models_summary(plain.injected, cache(offline)))


def _written(session: Session, made: Fork, there: ForkDraft | None) -> Fork:
    """The fork once it is stored, or with the session of an earlier try, which is there already."""
    if there is None:
        forking.store(session, made.draft, may_grow=True)
        return made
    text = "an earlier try wrote this session; --another writes a second one"
    return replace(made, draft=there, remarks=(*made.remarks, WriteRemark("earlier-try", text)))


def _tell(session: Session, made: Fork, target: Agent, done: str, *, imported: bool, dry_run: bool) -> None:
    say(_text(session, made, target, done, imported=imported))
    if dry_run and made.injected:
        say(["", *indented(made.injected, "")])
    for one in _remarks(made):
        note(one.text)
    if dry_run:
        note("nothing was written")


def _refuse_obstacle(made: Fork) -> None:
    if made.obstacle is not None:
        raise Refused(f"{made.obstacle}; {_ELSEWHERE}")


def _earlier(
    session: Session, made: Fork, options: ForkOptions, settings: Config, put_in: PutIn | None = None
) -> ForkDraft | None:
    """The result of an earlier try of the same fork: a session without new messages, or a document that was not imported."""
    unused = unused_fork(session, made, settings, os.environ, put_in) if options.run else None
    return unused or waiting_import(made, put_in)


def _left_behind(
    session: Session,
    index: EntryIndex,
    target: Agent,
    options: ForkOptions,
    settings: Config,
    *,
    dry_run: bool,
) -> tuple[BranchDraft | None, tuple[WriteRemark, ...]]:
    """The summary of the abandoned branch. Asks no model if the cut is not legal."""
    if options.summary == "none":
        return None, ()
    cut = cut_at(session, index, target.may_end)
    if not cut.legal:
        raise Refused(forking.refusal(session, cut, target))
    return _summarised(session, cut.end, options, settings, dry_run=dry_run)


def _summarised(
    session: Session, end: EntryIndex, options: ForkOptions, settings: Config, *, dry_run: bool
) -> tuple[BranchDraft | None, tuple[WriteRemark, ...]]:
    """A summary of the branch from the end of the new session to the leaf. A dry run asks no model."""
    name = options.model or CONFIGURED if options.summary == "model" else Extractive.name
    summarizer = chosen(name, settings, options.base_url)
    with cancellable() as stop:
        branch = left_branch(session, session.leaf, end, window=window_of(summarizer, settings), stop=stop)
        if branch is None:
            return None, (WriteRemark("nothing-left", "no abandoned branch to summarise"),)
        going = sent_by(summarizer, branch.span(), branch.budget())
        if dry_run and going is not None:
            tell_outgoing(summarizer, going, would=True)
            return None, (
                WriteRemark("nothing-sent", "a dry run asks no model, so the summary is not shown"),
            )
        tell_outgoing(summarizer, going)
        with progress() as show:
            made = summarize_branch(branch, summarizer, progress=show, stop=stop)
        refuse_cancelled(stop)
    return made, tuple(WriteRemark("summary", text) for text in made.remarks)


def _offline_summary(session: Session, end: EntryIndex, settings: Config) -> str:
    """The text of an offline summary of the branch from the end of the new session to the leaf."""
    branch = left_branch(session, session.leaf, end, window=settings.window)
    return summarize_branch(branch, Extractive()).text if branch is not None else ""


def _remarks(made: Fork) -> list[WriteRemark]:
    found = list(made.remarks)
    if made.obstacle is not None:
        found.append(WriteRemark("cwd-missing", f"{made.obstacle}; {_ELSEWHERE}"))
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
        "entry": session.columns.id_at(cut.entry),
        "end": session.columns.id_at(cut.end),
        "kept": draft.kept,
        "left": draft.left,
        "injected": made.injected or None,
        "file": str(draft.file) if not imported else None,
        "import": _command_json(draft.imported.command) if draft.imported is not None else None,
        "imported": imported,
        "dry_run": dry_run,
        "diagnostics": [{"code": one.code, "text": one.text} for one in _remarks(made)],
    }
    return document


def _command_json(command: Resume) -> dict[str, Any]:
    return {"argv": list(command.argv), "cwd": command.cwd, "env": dict(command.env_set)}


def _added(made: Fork) -> str:
    """Names and size of the text added after the copied entries."""
    summary, context = split_enclosed(made.injected)
    parts = ["a summary of the abandoned branch"] * bool(summary) + ["the injected context"] * bool(context)
    return f"{' and '.join(parts)}, ~{short(tokens_of(made.injected))} tokens"


def _text(session: Session, made: Fork, target: Agent, done: str, *, imported: bool) -> Iterator[str]:
    draft, cut, paper = made.draft, made.cut, page()
    where = "before" if cut.prompt >= 0 else "after"
    at = f"{safe_line(session.columns.id_at(cut.entry) or '', 40)}  {excerpt_line(headline(session, cut.entry).text, 60)}"
    yield f"{paper.style(done, 'ghost')} a session of {target.title}, {where} {at}"

    def row(word: str, text: str) -> str:
        return f"{paper.style(f'{word:<9}', 'faint')}{text}"

    yield row("holds", made.holds)
    if made.injected:
        yield row("adds", _added(made))
    if imported:
        yield row("imported", f"into {pasted_path(str(draft.path.parent))}")
    else:
        yield row("file", pasted_path(str(draft.file)))
        if draft.imported is not None:
            yield row("import", draft.imported.command.line())
    yield row("continue", draft.resume.line())
    if made.prompt is not None:
        yield ""
        yield paper.style("prompt", "faint")
        yield safe(made.prompt)
