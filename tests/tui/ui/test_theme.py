from __future__ import annotations

import math
import tomllib
from importlib.resources import files
from itertools import pairwise
from typing import TYPE_CHECKING

import pytest
from rich.color import Color as RichColor
from rich.color import ColorSystem
from rich.style import Style
from textual.app import App
from textual.widgets import Static

from leafward_tui.ui.appearance import colours
from leafward_tui.ui.appearance.palette import (
    HUES,
    TOKENS,
    Palette,
    Palettes,
    ThemeError,
    built_in_names,
    built_in_theme,
    load_theme,
    user_themes,
    weak_contrasts,
)
from leafward_tui.ui.appearance.terminal import Depth
from leafward_tui.ui.appearance.theme import (
    Ground,
    Styles,
    css_variables,
    suited,
    textual_theme,
    theme_variable_defaults,
)
from tests.tui.sure import sure

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

INKS = ("faint", "sub", "text", *HUES)


def luminance(colour: str) -> float:
    """WCAG 2.2, written here a second time so that the product's own arithmetic is checked too."""
    total = 0.0
    for weight, start in ((0.2126, 1), (0.7152, 3), (0.0722, 5)):
        value = int(colour[start : start + 2], 16) / 255
        total += weight * (value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4)
    return total


def ratio(one: str, other: str) -> float:
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def theme_files() -> Iterator[tuple[str, dict[str, str], dict[str, str]]]:
    for path in sorted(files("leafward_themes").iterdir(), key=lambda path: path.name):
        if path.name.endswith(".toml"):
            data = tomllib.loads(path.read_text(encoding="utf-8"))
            if not any(value.startswith("ansi_") for value in data["palette"].values()):
                yield data["name"], data["palette"], data["tint"]


COMPUTABLE = [pytest.param(palette, tint, id=name) for name, palette, tint in theme_files()]
DEFAULTS = {
    "understory": (
        {"line": 1.6, "edge": 2.3, "faint": 5.2, "sub": 8.5, "text": 14.5}
        | {"leaf": 9.9, "memory": 8.4, "ghost": 9.4, "warn": 9.7, "bad": 6.9},
        (3.7, 6.0, 4.4),
    ),
    "clearing": (
        {"line": 1.4, "edge": 2.2, "faint": 4.8, "sub": 7.0, "text": 14.2}
        | {"leaf": 6.0, "memory": 6.6, "ghost": 6.4, "warn": 6.2, "bad": 6.3},
        (3.9, 5.7, 4.2),
    ),
}


def test_at_least_eight_can_be_computed_and_the_defaults_lead() -> None:
    assert len(COMPUTABLE) >= 8
    assert built_in_names()[:2] == ("understory", "clearing")
    assert {"ansi", "ansi-light", "mono"} <= set(built_in_names())


@pytest.mark.parametrize("name", DEFAULTS)
def test_the_two_defaults_have_the_ratios_they_were_designed_with(name: str) -> None:
    palette, tint = next((palette, tint) for found, palette, tint in theme_files() if found == name)
    on_bg, (faint_on_sel, sub_on_sel, faint_on_raise) = DEFAULTS[name]
    for token, wanted in on_bg.items():
        assert ratio(palette[token], palette["bg"]) == pytest.approx(wanted, abs=0.06), token
    assert ratio(palette["faint"], palette["sel"]) == pytest.approx(faint_on_sel, abs=0.06)
    assert ratio(palette["sub"], palette["sel"]) == pytest.approx(sub_on_sel, abs=0.06)
    assert ratio(palette["faint"], palette["raise"]) == pytest.approx(faint_on_raise, abs=0.06)
    assert min(ratio(palette[hue], tint[hue]) for hue in HUES) >= 5.25
    assert min(ratio(palette["text"], tint[hue]) for hue in HUES) >= 11.75


@pytest.mark.parametrize(("palette", "tint"), COMPUTABLE)
def test_everything_that_is_read_is_readable_where_it_stands(
    palette: dict[str, str], tint: dict[str, str]
) -> None:
    assert ratio(palette["text"], palette["bg"]) >= 11
    assert ratio(palette["sub"], palette["bg"]) >= 7
    for ink in INKS:
        assert ratio(palette[ink], palette["bg"]) >= 4.75, ink
        assert ratio(palette[ink], palette["panel"]) >= 4.5, ink
    # faint is promoted to sub on these two, so it is not asked for
    for ink in INKS[1:]:
        assert ratio(palette[ink], palette["sel"]) >= 4.5, ink
        assert ratio(palette[ink], palette["raise"]) >= 4.5, ink
    for hue in HUES:
        assert ratio(palette[hue], tint[hue]) >= 5.2, hue
        assert ratio(palette["text"], tint[hue]) >= 9, hue
        assert ratio(palette["sub"], tint[hue]) >= 4.5, hue
        assert ratio(palette["bg"], tint[hue]) >= 1.1, hue


@pytest.mark.parametrize(("palette", "tint"), COMPUTABLE)
def test_the_levels_of_emphasis_are_steps(palette: dict[str, str], tint: dict[str, str]) -> None:
    steps = [ratio(palette[token], palette["bg"]) for token in ("line", "edge", "faint", "sub", "text")]
    assert steps[0] >= 1.3
    for lower, higher in pairwise(steps):
        assert higher >= lower * 1.25
    grounds = [ratio(palette[token], palette["bg"]) for token in ("bg", "panel", "raise", "sel")]
    assert grounds == sorted(grounds)
    assert grounds[3] >= 1.2


@pytest.mark.parametrize("name", ["moonless", "snowfield"])
def test_the_high_contrast_themes_are_triple_a(name: str) -> None:
    palette = next(palette for found, palette, _ in theme_files() if found == name)
    assert all(ratio(palette[ink], palette["bg"]) >= 7 for ink in INKS)
    assert ratio(palette["text"], palette["bg"]) >= 18
    assert all(ratio(palette[token], palette["bg"]) >= 3 for token in ("line", "edge"))


def test_wayfinder_keeps_its_hues_apart_without_red_and_green() -> None:
    def seen(colour: str) -> tuple[float, float, float]:
        """OKLab of what deuteranopia leaves, after the matrix of Machado, Oliveira and Fernandes (2009)."""
        linear = []
        for start in (1, 3, 5):
            value = int(colour[start : start + 2], 16) / 255
            linear.append(value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4)
        matrix = (
            (0.367322, 0.860646, -0.227968),
            (0.280085, 0.672501, 0.047413),
            (-0.011820, 0.042940, 0.968881),
        )
        left = [max(0.0, sum(a * b for a, b in zip(row, linear, strict=True))) for row in matrix]
        encoded = [12.92 * v if v <= 0.0031308 else 1.055 * v ** (1 / 2.4) - 0.055 for v in left]
        return colours._oklab("#" + "".join(f"{round(min(v, 1) * 255):02x}" for v in encoded))

    def closest(name: str) -> float:
        hues = [seen(getattr(built_in_theme(name), hue)) for hue in HUES]
        return min(math.dist(one, other) for i, one in enumerate(hues) for other in hues[:i])

    assert closest("wayfinder") > 0.08
    assert closest("wayfinder") > 1.5 * closest("understory")


@pytest.mark.parametrize("palette", Palettes().values(), ids=lambda palette: palette.name)
def test_without_hue_the_brightness_stays(palette: Palette) -> None:
    mono = palette.mono()
    assert weak_contrasts(mono) == ()
    for name in Palette._fields:
        before, after = getattr(palette, name), getattr(mono, name)
        if isinstance(before, str) and before.startswith("#"):
            assert after[1:3] == after[3:5] == after[5:7]
            assert ratio(before, "#000000") == pytest.approx(ratio(after, "#000000"), rel=0.03)
    if palette.ansi:
        assert {getattr(mono, hue) for hue in HUES} == {palette.sub}
    assert mono.mono() == mono


@pytest.mark.parametrize(
    "palette", [p for p in Palettes().values() if not p.ansi], ids=lambda palette: palette.name
)
def test_in_256_colours_it_stays_readable_and_the_ground_stays_grey(palette: Palette) -> None:
    def shown(colour: str) -> str:
        return RichColor.parse(colour).downgrade(ColorSystem.EIGHT_BIT).get_truecolor().hex

    reduced = palette.eight_bit()
    for ink in INKS:
        assert ratio(shown(getattr(reduced, ink)), shown(reduced.bg)) >= 4.5, ink
    for ink in INKS[1:]:
        assert ratio(shown(getattr(reduced, ink)), shown(reduced.sel)) >= 4.5, ink
    for hue in HUES:
        assert ratio(shown(getattr(reduced, hue)), shown(getattr(reduced, f"{hue}_tint"))) >= 4.5, hue
    assert shown(reduced.sel) != shown(reduced.bg)
    if palette.name == "understory":
        assert RichColor.parse(palette.sel).downgrade(ColorSystem.EIGHT_BIT).get_truecolor().hex == "#005f00"
        assert shown(reduced.sel) == "#303030"


@pytest.mark.parametrize(
    "palette", [p for p in Palettes().values() if p.ansi], ids=lambda palette: palette.name
)
@pytest.mark.parametrize("hues", [True, False])
def test_on_a_colour_of_the_terminals_own_every_ink_is_that_of_text(palette: Palette, *, hues: bool) -> None:
    """It fails where the zero of the selected row has the colour of the row, or its error sign a red that is hardly seen."""
    ground = Ground.of(palette if hues else palette.mono(), "sel")
    inks = [style for name, style in ground._asdict().items() if name != "blank"]
    assert {style.color for style in inks} == {ground.text.color}
    assert ground.text.color != ground.text.bgcolor
    assert palette.dark or "yellow" not in palette.warn, "it cannot be read on white"
    assert palette.edge == palette.faint, "a fainter one of the sixteen cannot be seen on its ground"


def test_suited_follows_the_terminal() -> None:
    dark, light = built_in_theme("understory"), built_in_theme("clearing")
    assert suited(dark, Depth.TRUE) is dark
    assert suited(dark, Depth.EIGHT_BIT) == dark.eight_bit()
    own = suited(light, Depth.SIXTEEN)
    assert own.ansi
    assert (own.name, own.text) == ("clearing", "ansi_black")
    assert suited(dark, Depth.TRUE, no_color=True) == dark.mono()


@pytest.mark.parametrize("name", ["understory", "clearing", "ansi", "ansi-light"])
@pytest.mark.parametrize("depth", Depth)
async def test_under_no_color_text_is_never_lost(
    name: str, depth: Depth, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Words(App[None]):
        CSS = "Static, Screen { background: $lw-bg; color: $lw-text; }"

        def get_theme_variable_defaults(self) -> dict[str, str]:
            return theme_variable_defaults()

        def compose(self) -> Iterator[Static]:
            yield Static("words")

    monkeypatch.setenv("NO_COLOR", "1")
    shown = suited(built_in_theme(name), depth, no_color=True)
    assert shown.name == name
    app = Words()
    app.register_theme(textual_theme(shown))
    app.theme = shown.name
    async with app.run_test() as pilot:
        await pilot.pause()
        strip = app.screen._compositor.render_strips()[0]
        style = sure(next(segment.style for segment in strip if "words" in segment.text))
        assert style.color is not None
        drawn, behind = style.color.get_truecolor(), sure(style.bgcolor).get_truecolor()
        assert len(set(drawn)) == len(set(behind)) == 1
        assert ratio(drawn.hex, behind.hex) >= 11


# --- reading


def write(path: Path, **changes: str | None) -> Path:
    """A good theme file, with lines of ``[palette]`` replaced or, for None, left out."""
    values: dict[str, str | None] = {**dict.fromkeys(TOKENS, '"#102030"'), **changes}
    lines = ['name = "mine"', 'title = "Mine"', "dark = true", "[palette]"]
    lines += [f"{key} = {value}" for key, value in values.items() if value is not None]
    lines += ["[tint]", *(f'{hue} = "#0a0b0c"' for hue in HUES)]
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


def test_a_users_file_is_read_in_every_way_a_colour_can_be_written(tmp_path: Path) -> None:
    theme = load_theme(
        write(tmp_path / "mine.toml", bg='"#123"', text='"White"', leaf='"ansi_green"', bad='"rgb(1,2,3)"')
    )
    assert (theme.bg, theme.text, theme.leaf, theme.bad) == ("#112233", "#ffffff", "ansi_green", "#010203")
    assert theme.raised == "#102030"
    assert theme.description == ""
    assert theme.ansi


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        (
            {"faint": None, "fain": '"#111111"'},
            "mine.toml: palette.fain: unknown key, did you mean palette.faint?",
        ),
        ({"faint": None}, 'mine.toml: palette.faint: missing, must be a colour such as "#9ccb7a"'),
        ({"bad": '"reddish"'}, "mine.toml: palette.bad: 'reddish' is no colour"),
        ({"bad": '"#11223344"'}, "mine.toml: palette.bad: '#11223344' is not opaque"),
        ({"bad": f'"rgb({"9" * 5000},0,0)"'}, "mine.toml: palette.bad: 'rgb(999"),
        ({"bad": '"auto"'}, "mine.toml: palette.bad: 'auto' is no colour"),
        ({"bad": "7"}, 'mine.toml: palette.bad: must be a colour such as "#9ccb7a", not 7'),
        ({"zzz": "7"}, "mine.toml: palette.zzz: unknown key, known are bg, panel"),
    ],
)
def test_a_fault_names_file_and_key(tmp_path: Path, changes: dict[str, str | None], fault: str) -> None:
    with pytest.raises(ThemeError) as raised:
        load_theme(write(tmp_path / "mine.toml", **changes))
    assert any(found.startswith(fault) for found in raised.value.faults), raised.value.faults
    assert all(len(found) <= 200 and found.isprintable() for found in raised.value.faults)
    assert fault in str(raised.value)


def test_a_title_that_would_act_on_the_terminal_is_a_fault(tmp_path: Path) -> None:
    path = write(tmp_path / "mine.toml")
    text = path.read_text("utf-8")
    for sign in ("\\u001b]0;x\\u0007", "\\u202e"):
        path.write_text(text.replace('title = "', f'title = "{sign}'), "utf-8")
        with pytest.raises(ThemeError, match="title: must be one line of text"):
            load_theme(path)


def test_a_file_that_nobody_wrote_by_hand_is_refused_at_once(tmp_path: Path) -> None:
    """The parser takes half a minute for a name of 100,000 parts."""
    path = tmp_path / "mine.toml"
    path.write_text(f"[{'.'.join('a' * 100_000)}]", "utf-8")
    with pytest.raises(ThemeError, match="File too large"):
        load_theme(path)


def test_all_faults_are_told_at_once(tmp_path: Path) -> None:
    path = tmp_path / "x.toml"
    path.write_text('name = "Not Good"\ndark = "yes"\ntint = 3\n[pallette]\n', encoding="utf-8")
    with pytest.raises(ThemeError) as raised:
        load_theme(path)
    assert [fault.split(":")[1].strip() for fault in raised.value.faults] == [
        "pallette",
        "title",
        "dark",
        "name",
        "palette",
        "tint",
    ]


def test_broken_themes_are_named_and_skipped(tmp_path: Path) -> None:
    write(tmp_path / "a.toml")
    write(tmp_path / "b.toml")
    write(tmp_path / "c.toml", bg='"nope"')
    (tmp_path / "d.toml").write_bytes(b'name = "\xff"')
    (tmp_path / "e.toml").write_text("name =", encoding="utf-8")
    (tmp_path / "f.toml").mkdir()
    (tmp_path / "notes.txt").write_text("no theme", encoding="utf-8")
    themes, problems = user_themes(tmp_path)
    assert [theme.name for theme in themes] == ["mine"]
    assert [problem.split(":")[0] for problem in problems] == [
        "b.toml",
        "c.toml",
        "d.toml",
        "e.toml",
        "f.toml",
    ]
    assert user_themes(tmp_path / "none") == ((), ())


def test_a_built_in_name_is_its_files_name() -> None:
    assert [theme.name for theme in Palettes().values()] == list(built_in_names())
    assert all(theme.title and theme.description for theme in Palettes().values())
    with pytest.raises(KeyError):
        built_in_theme("../understory")


def test_weak_contrasts_are_told(tmp_path: Path) -> None:
    assert all(weak_contrasts(theme) == () for theme in Palettes().values())
    theme = load_theme(write(tmp_path / "mine.toml", text='"#ffffff"'))
    told = weak_contrasts(theme)
    assert "mine: sub on sel has a contrast of 1.0, 4.5 is readable" in told
    assert not any("text on" in line for line in told)


# --- Textual and line rendering


async def test_stylesheets_see_the_palette_under_every_theme() -> None:
    class Swatch(App[None]):
        CSS = "Static { background: $lw-raise; color: $lw-leaf; } Screen { background: $lw-bg; }"

        def get_theme_variable_defaults(self) -> dict[str, str]:
            return theme_variable_defaults()

        def compose(self) -> Iterator[Static]:
            yield Static("leaf")

    app = Swatch()
    async with app.run_test() as pilot:
        assert (
            app.query_one(Static).styles.color.hex.lower() == "#9ccb7a"
        )  # a theme of Textual's own: our defaults
        for palette in Palettes().values():
            app.register_theme(textual_theme(palette))
            app.theme = palette.name
            await pilot.pause()
            assert app.query_one(Static).styles.color.hex.lower() == palette.leaf
            assert app.query_one(Static).styles.background.hex.lower() == palette.raised
            assert app.screen.styles.background.hex.lower() == palette.bg
            assert app.native_ansi_color is palette.ansi


def test_variables_carry_every_token() -> None:
    names = set(css_variables(built_in_theme("understory")))
    assert names == {f"lw-{token}" for token in TOKENS} | {f"lw-{hue}-tint" for hue in HUES}


@pytest.mark.parametrize("palette", Palettes().values(), ids=lambda palette: palette.name)
def test_styles_keep_to_the_few_attributes(palette: Palette) -> None:
    styles = Styles.of(palette)
    for ground_name in Styles._fields:
        ground = getattr(styles, ground_name)
        assert isinstance(ground, Ground)
        back = ground.blank.bgcolor
        for name in Ground._fields:
            style = getattr(ground, name)
            assert isinstance(style, Style)
            assert style.bgcolor == back
            assert not any((style.dim, style.reverse, style.blink, style.conceal))
            assert bool(style.bold) is name.startswith("strong")
            assert bool(style.italic) is (name == "nothing")
            assert bool(style.underline) is name.endswith("hit")


def test_faint_is_promoted_where_it_would_be_too_weak() -> None:
    palette = built_in_theme("understory")
    styles = Styles.of(palette)
    assert styles.bg.faint.color == RichColor.parse(palette.faint)
    assert styles.panel.faint.color == RichColor.parse(palette.faint)
    for ground in (styles.sel, styles.raised, styles.warn_tint):
        assert ground.faint.color == RichColor.parse(palette.sub)
        assert ground.edge.color == RichColor.parse(palette.faint)
    assert styles.sel.text.bgcolor == RichColor.parse(palette.sel)
    assert Styles.of(palette) is styles


def test_terminal_colours_stay_the_terminals() -> None:
    styles = Styles.of(built_in_theme("ansi"))
    assert sure(styles.bg.leaf.color).is_system_defined
    assert sure(styles.bg.blank.bgcolor).is_default
