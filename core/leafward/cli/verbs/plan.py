"""The verb `plan`: the effect of a compaction, by one strategy or by all of them side by side."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from leafward.cli.model_request import chosen, outgoing_json, request_text, sent_by, would_be_sent
from leafward.cli.output.page import emit_json, page, say
from leafward.cli.output.plan_json import all_json, plan_json
from leafward.cli.output.plan_lines import all_lines, plan_lines
from leafward.cli.plan_request import injection_at, is_all, requested_plans
from leafward.cli.selection import opened
from leafward.cli.settings import configured

if TYPE_CHECKING:
    from leafward.base import config
    from leafward.cli.options.compaction_options import PlanOptions
    from leafward.compaction.plan.plan import Plan
    from leafward.session.session import Session
    from leafward.summaries.summarizers.summary import Summarizer


def plan(selector: str, options: PlanOptions, as_json: bool) -> int:
    """`leafward plan`."""
    settings = configured()
    summarizer = chosen(options.model, settings, options.base_url)
    with opened(selector) as session:
        found = requested_plans(session, options, settings)
        every = is_all(options, settings)
        if as_json:
            extras = _plan_extras(session, found, settings, summarizer)
            plans = [plan_json(session, made) | extra for made, extra in zip(found, extras, strict=True)]
            emit_json(all_json(plans) if every else plans[0])
        else:
            here = page()
            say(all_lines(session, found, here) if every else plan_lines(session, found[0], here))
    return 0


def _plan_extras(
    session: Session, found: list[Plan], settings: config.Config, summarizer: Summarizer
) -> list[dict[str, Any]]:
    """For each plan, the text to be injected, and the texts to be sent with their receiver."""
    from leafward.cli.output.injection_json import injection_json
    from leafward.compaction.draft.draft_assembly import prepared

    injection = {**injection_json(session, injection_at(session, found[0].at, settings)), "included": False}
    extras = []
    for made in found:
        request = prepared(session, made) if not made.nothing else None
        going = sent_by(summarizer, *request) if request is not None else None
        shown = going or would_be_sent(*request, settings.window) if request is not None else None
        extras.append(
            {
                "injection": injection,
                "summarizer": summarizer.name,
                "prompt": request_text(shown) if shown is not None else None,
                "outgoing": outgoing_json(going),
            }
        )
    return extras
