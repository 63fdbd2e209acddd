"""What the user says of the present behaviour of a thing is no rule, and a rule that tells of a thing is one."""

from __future__ import annotations

import pytest

from leafward.summaries.facts.sentences.demands import demands
from leafward.summaries.summarizers.outline import SummarySection
from tests.core.told import reply, told_in, user, worked


@pytest.mark.parametrize(
    "complaint",
    [
        "it still shows the old sum, and the button is beside the crate instead of below",
        "when i open the orchard its still the old table instead of the new one",
        "localhost:3000 showing a blank page instead of the orchard",
        "but the page always jumps to the top",
        "the crate count never updates after a harvest",
        "when adding crates, only the first crate is currently added successfully",
        "der Knopf zeigt immer den alten Wert",
        "die Liste wird nie aktualisiert",
        "ça affiche toujours l'ancien total",
        "la liste ne montre jamais les nouvelles poires",
        "el botón siempre aparece en la esquina",
        "siempre sale el mismo error",
        "o botão sempre aparece no canto",
        "кнопка всегда показывает старое значение",
        "页面还是不能滚动",
        "这个按钮不能点击",
        "ボタンを押すと必ずエラーになる",
        "버튼을 누르면 항상 에러가 나요",
        "al intentar guardar la cosecha aparece que el peso debe ser numérico",
        "when I open the orchard I get the number must not be empty",
        "it shows that we don't send a weight",
        "cuando intento guardar la cosecha, no se puede sin peso",
    ],
)
def test_a_complaint_is_no_rule(complaint: str) -> None:
    assert not demands(complaint)
    said = [user(complaint), *worked("src/rows.py", "a"), reply("I changed it.")]
    then = [user("now print the crates by weight"), *worked("src/crates.py", "b")]
    assert told_in(SummarySection.CONSTRAINTS, *said, *then) == []


@pytest.mark.parametrize(
    "rule",
    [
        "the table must always show the sum",
        "when we release the orchard never push to main",
        "the user never sees an id",
        "if the crate is missing return none instead of raising",
        "Kommentare immer auf Deutsch schreiben",
        "die Daten immer sortieren",
        "le code toujours en anglais",
        "les erreurs doivent toujours indiquer le numéro de ligne",
        "los commits siempre en español",
        "siempre usa pnpm",
        "nunca use bibliotecas novas",
        "всегда используй pnpm",
        "用户不能修改密码",
        "必ず日本語で表示されるようにして",
        "항상 한국어로 답변하세요",
    ],
)
def test_a_rule_in_the_words_of_a_complaint_is_one(rule: str) -> None:
    assert demands(rule)
