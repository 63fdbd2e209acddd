"""What is asked before a branch is summarised: which branch, by whom, what it should dwell on; and what would be sent is shown."""

from __future__ import annotations

from typing import TYPE_CHECKING

from leafward_tui.explorer.changing import Changing
from leafward_tui.explorer.model.branch_summary import branch_words, redacted_words, sending_words, span_words
from leafward_tui.explorer.model.folds import LineKind

if TYPE_CHECKING:
    from leafward.compaction.branch import Branch
    from leafward.summaries.summarizers.model import Outgoing
    from leafward_tui.explorer.model.branch_summary import Summing, Wanted

_REMEMBERED = "summariser"


class SummaryAsking(Changing):
    """Sheets that come before a summary."""

    def action_branch_summarise(self) -> None:
        """Shows a summary: of the branch under the cursor, of what moving here would leave, or of what a move to the mark would."""
        from leafward_tui.ui.sheet import Choice, ChoiceSheet

        if self.session is None or self.refuse_while_summing():
            return
        ways = self._ways()
        if not ways:
            self.tell(
                "nothing to summarise between here and the leaf; a marked entry is where a summary can begin",
                "warn",
            )
            return
        if len(ways) == 1:
            self.start_summary(next(iter(ways.values()))[1])
            return
        choices = [
            Choice(key, title, span_words(wanted, self.shell.glyphs), "only shown: nothing is written")
            for key, (title, wanted) in ways.items()
        ]

        def done(key: str | None) -> None:
            if key is not None:
                self.start_summary(ways[key][1])

        self.app.push_screen(ChoiceSheet("Summarise", choices), done)

    def _ways(self) -> dict[str, tuple[str, Wanted]]:
        """What can be summarised from the line of the cursor, by the letter that chooses it."""
        session, exploration, line = self.session, self.exploration, self.graph.line
        if session is None or exploration is None or line is None or line.kind is LineKind.HIDDEN:
            return {}
        layout, here = exploration.layout, int(session.place)
        target = exploration.target(line)
        found: dict[str, tuple[str, Wanted]] = {}

        def offer(key: str, title: str, start: int, to: int, *, carried: bool) -> None:
            if self.entries_left(start, to):
                found[key] = (title, self.wanted(start, to, preview=True, carried=carried))

        if not layout.on_path(target):
            tip = layout.last_entry_of(exploration.last_row(layout.branch_of(line.row)))
            offer("b", "This branch, from its tip up", tip, here, carried=False)
        offer("p", "What a move to here leaves", here, target, carried=True)
        marked = layout.row_of(exploration.mark) if exploration.mark >= 0 else -1
        if marked >= 0 and (to := layout.last_entry_of(marked)) != target:
            offer("m", "What a move to the mark leaves", here, to, carried=True)
        return found

    def choose_summarizer(self, summing: Summing, branch: Branch, going: Outgoing | None) -> None:
        """Asks who summarises."""
        from leafward_tui.explorer.summary_work import MODEL, OFFLINE
        from leafward_tui.ui.sheet import Choice, ChoiceSheet, SheetLine

        wanted = summing.wanted
        before = self.shell.recall(_REMEMBERED)
        operation = "only shown: nothing is written" if wanted.preview else self.appending()
        if summing.then is not None:
            operation = "goes into the new session, which is shown first"
        about = [SheetLine(branch_words(branch))]
        choices = [
            Choice(
                "x",
                "Extractive, on this machine",
                "nothing is sent, no cost",
                operation,
                current=before == OFFLINE,
            )
        ]
        if going is not None:
            choices.append(
                Choice("m", going.model, sending_words(going), operation, current=before in (None, MODEL))
            )
            choices.append(Choice("v", "Read what would be sent", "every request, word for word"))
            taken_out = redacted_words(going.redacted)
            from leafward.summaries.summarizers.addresses import host_of

            about.append(SheetLine(f"{going.model} is asked at {host_of(going.model, going.base_url)}"))
            about += [SheetLine(taken_out, "warn")] if taken_out else []
            about += [SheetLine(remark, "warn") for remark in going.remarks]
        if wanted.preview:
            choices.append(Choice("f", "With a focus", wanted.focus or "what it should dwell on"))

        def done(key: str | None) -> None:
            if key == "v" and going is not None:
                self._read_requests(summing, branch, going)
            elif key == "f":
                self.end_summary("")
                self.ask_focus(wanted)
            elif key is None:
                self.end_summary("")
                self.settle()
            else:
                name = OFFLINE if key == "x" else MODEL
                self.shell.remember(_REMEMBERED, name)
                self.make_summary(summing, branch, name)

        self.app.push_screen(
            ChoiceSheet("Who summarises", choices, about, note=span_words(wanted, self.shell.glyphs)), done
        )

    def _read_requests(self, summing: Summing, branch: Branch, going: Outgoing) -> None:
        from leafward_tui.ui.reading_sheet import ReadingSheet

        parts = []
        for request in going.requests:
            later = ", built from the answers to the others" if request.later else ""
            parts.append(
                f"{request.title}: {request.tokens:,} tokens{later}\n\n{request.system}\n\n{request.prompt}"
            )
        sheet = ReadingSheet(
            f"What {going.model} would be sent",
            "\n\n\n".join(parts),
            note=sending_words(going),
            markdown=False,
        )
        self.app.push_screen(sheet, lambda _none: self.choose_summarizer(summing, branch, going))

    def ask_focus(self, wanted: Wanted) -> None:
        """Asks what the summary should dwell on, then makes it."""
        from leafward_tui.ui.sheet import TextSheet

        def done(text: str | None) -> None:
            if text is None:
                self.settle()
            else:
                self.start_summary(wanted._replace(focus=" ".join(text.split())))

        sheet = TextSheet(
            "Focus of the summary",
            wanted.focus,
            note=span_words(wanted, self.shell.glyphs),
            placeholder="what it should dwell on; empty for all of it",
            commit="summarise",
            operation_of=lambda _text: "" if wanted.preview else self.appending(),
        )
        self.app.push_screen(sheet, done)

    def make_summary(self, summing: Summing, branch: Branch, name: str) -> None:
        """Makes the summary by the summariser of a name."""
        raise NotImplementedError

    def end_summary(self, said: str) -> None:
        """No summary is under way any more; says why."""
        raise NotImplementedError
