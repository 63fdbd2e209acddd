"""Results remembered word by word equal those of a look at the whole text."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from leafward.redaction import signs
from leafward.redaction.rules import printed, spaced_values
from leafward.summaries.facts.forms import forms
from leafward.summaries.facts.forms.words import Words
from leafward.summaries.facts.sentences import (
    decisions,
    demands,
    marker_words,
    negation,
    questions,
    remaining_work,
    replies,
    responses,
)
from leafward.summaries.facts.sentences.negation import negated
from tests.surroundings import THOROUGH

if TYPE_CHECKING:
    from pathlib import Path

TEXTS = (
    'import { a } from "../orchard/tree.js"; const loadTree = readTree(src/tree.ts, `lib/tree.py:12`)',
    "see ./src/pear.py and (docs/plan.md). parse_row() fails at a.ts/b.ts, #12, @scope/name, --dry-run",
    "deadbee1 is the commit; C:\\orchard\\pear.rs, ~/notes/x.md, Makefile and LICENSE, v1.2.3-beta4",
    "HTTPServer snake_case call() web-2 a1b2c3d quince.toml Rakefile --apply x() 5b A.B-7 docs\\pear",
    "src/大.py文件 und größe.tsx, x" * 3 + "y" * 200 + "/z.py",
)


def apart(text: str, *, relative: bool, calls: bool) -> tuple[list[str], list[str]]:
    """The paths and the names of a text, each by a look at all of it."""
    paths = [
        form for form in forms.paths(text, "/home/ada") if relative or not form.text.startswith(("./", "../"))
    ]
    rest, last = [], 0
    for form in paths:
        rest.append(text[last : form.start])
        last = form.start + len(form.text)
    words = " ".join([*rest, text[last:]]).split()
    names = [form.key for word in words for form in forms.identifiers_in(word, calls)]
    return [f"{form.start} {form.key}" for form in paths], names


@pytest.mark.parametrize("relative", [True, False])
@pytest.mark.parametrize("calls", [True, False])
def test_paths_and_names_are_those_of_the_whole_text(relative: bool, calls: bool) -> None:
    known = Words("/home/ada", relative=relative, calls=calls, names=True)
    for text in (*TEXTS, "\n".join(TEXTS), *TEXTS):
        paths, names = known.read(text)
        assert ([f"{form.start} {form.key}" for form in paths], [form.key for form in names]) == apart(
            text, relative=relative, calls=calls
        )


def test_paths_and_names_of_a_real_session(corpora: Path) -> None:
    known = Words("/home/ada", relative=True, calls=True, names=True)
    for line in (corpora / "pi" / "before-compaction.jsonl").read_text("utf-8").splitlines()[:200]:
        text = json.dumps(json.loads(line), ensure_ascii=False)
        paths, names = known.read(text)
        assert ([f"{form.start} {form.key}" for form in paths], [form.key for form in names]) == apart(
            text, relative=True, calls=True
        )


def test_no_sign_of_a_pattern_counts_as_decoration() -> None:
    """A sentence with arrows or dashes in it is told by its words alone: no pattern may need such a sign."""
    every = [
        value
        for module in (decisions, negation, remaining_work, replies, questions, demands)
        for value in vars(module).values()
        if isinstance(value, marker_words.Markers)
    ]
    assert len(every) >= 6
    for one in every:
        signs_in = {char for char in one.pattern.pattern if not char.isascii() and not char.isalnum()}
        assert all(marker_words.OTHER_SCRIPT.search(char) for char in signs_in), signs_in


OBLIGES = (
    "must,mustn't,mustnt,never,always,mandatory,forbid,forbidden,prohibited,under no circumstances,at most,at least,no more than,"
    "no later than,niemals,nie,muss,musst,darf,darfst,immer,jamais,toujours,dois,doit,doivent,devez,il faut que,il ne faut pas,"
    "nunca,siempre,debe,sempre,deve"
)


@pytest.mark.parametrize("words", OBLIGES.split(","))
def test_no_word_of_a_rule_is_passed_over(words: str) -> None:
    """A sentence is matched with a pattern only where it holds a word of that: each word must be among those."""
    assert demands.demands(f"pears and quinces {words} ripen beside apples")


@pytest.mark.parametrize(
    "name", ["_NOTHING_OF", "_FORBIDS", "_RULE_BRIEF", "_ANSWERED_IN", "_RULE_FIRST", "_RULES"]
)
def test_no_other_word_of_a_rule_is_passed_over(name: str) -> None:
    """No pattern of a demand is asked where a sentence holds none of their words: each match must hold one."""
    pattern, words = vars(demands)[name], vars(demands)["_OTHERWISE"]

    @settings(max_examples=3000 if THOROUGH else 80, deadline=None)
    @given(st.from_regex(re.compile(pattern.pattern)))
    def told(sentence: str) -> None:
        low = sentence.lower()
        assert words.may_stand_in(sentence) or pattern.search(low) is None

    told()


@pytest.mark.parametrize(
    "prompt",
    [
        *(
            f"ok, I {verb} all of your"
            for verb in ["undid", "undone", "reverted", "discarded", "rolled back", "threw away"]
        ),
        *(
            f"ich habe die Zeilen wieder {verb}"
            for verb in ("zurückgesetzt", "rückgängig gemacht", "VERWORFEN")
        ),
        *(f"j'ai {verb} tes quinces" for verb in ("annulé", "Supprimé")),
        *(f"我把它{verb}了" for verb in ("撤销", "回退", "还原")),
    ],
)
def test_no_verb_of_undone_work_is_passed_over(prompt: str) -> None:
    assert responses.undid(prompt)
    assert not responses.undid(f"pears\n{prompt}")


@pytest.mark.parametrize(
    "text",
    [
        "curl -u ada:hunter22hunter https://x",
        "passwort: geheim123",
        "密码是 hunter2222",
        "redis-cli -a pearpear1",
    ],
)
def test_signs_are_found_in_words_that_were_met_before(text: str) -> None:
    first, _ = signs.signs_of(text)
    assert first
    assert signs.signs_of(text)[0] == first
    assert signs.signs_of(f"before\n{text}\tbehind")[0] & first == first


def test_a_pattern_that_is_made_later_is_found_in_a_sentence_that_was_told_before() -> None:
    sentence = "The quinces were counted by nobody."
    assert negated(sentence) is negated(sentence)
    assert marker_words.markers(r"\bquinces?\b", "quince quinces").stand_in(sentence)


@pytest.mark.parametrize("framed", ["{}", "pear {} quince", "Pears\t{}\n-", "é {} 密", "kind={}"])
def test_every_sign_of_a_secret_is_found_in_a_text_that_holds_it(framed: str) -> None:
    """A rule without its sign in a text is not asked: of no sign may the part that is looked for be missing."""
    for sign, bit in signs.SIGNS.bits.items():
        assert signs.signs_of(framed.format(sign))[0] & bit, sign


@pytest.mark.parametrize("place", range(10))
def test_no_form_behind_a_name_begins_with_another_character(place: int) -> None:
    """Only forms with the character behind a name are tried: of none may a first character be missing."""
    forms_tried = {id(form): form for tried in spaced_values.FORMS_BY_FIRST.values() for form in tried}
    assert len(forms_tried) == 10
    form = list(forms_tried.values())[place]
    first = {char for char, tried in spaced_values.FORMS_BY_FIRST.items() if form in tried}

    @settings(max_examples=3000 if THOROUGH else 80, deadline=None)
    @given(st.from_regex(re.compile(form[0].pattern)))
    def begun(text: str) -> None:
        found = form[0].search(text)
        assert found is None or found[0][:1] in first

    begun()


def test_long_runs_are_told_apart_wherever_they_stand() -> None:
    long, longer = "a" * 18, "b_$./:" * 9
    _, together = signs.signs_of(f"{long} short {longer},{long}\n(é{longer}é)ende" + "c" * 17)
    assert sorted(together.split("\n")) == sorted([long, longer, "ende" + "c" * 17])
    assert signs.signs_of("c" * 17)[1] == ""


@pytest.mark.parametrize("literal", printed.LITERALS)
def test_no_command_that_prints_a_secret_is_passed_over(literal: str) -> None:
    assert printed.may_print(f"pear && {literal}quince")
    assert not printed.may_print("pear && quince")


def test_a_sign_is_found_whose_letters_are_written_with_other_characters() -> None:
    held, _ = signs.signs_of("the api_token")
    assert signs.signs_of("the ap\u0130_to\u212aen")[0] & held == held
