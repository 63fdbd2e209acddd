"""The styles and variables that Textual and line rendering need, made from a `Palette`.

This is the one place where a colour becomes a style.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from rich.style import Style
from textual.color import Color
from textual.theme import Theme

from leafward_tui.ui.appearance.palette import (
    DEFAULT_DARK,
    HUES,
    TOKENS,
    Palette,
    built_in_theme,
)
from leafward_tui.ui.appearance.terminal import Depth


def suited(palette: Palette, depth: Depth, *, no_color: bool = False) -> Palette:
    """`palette` as this terminal can show it: without hue on request, in the 256 colours, or in the terminal's 16.

    Under NO_COLOR the result never holds colours of the terminal's own: Textual 8.2 turns every colour grey then, and
    takes the terminal's default, which it does not know, for black.
    """
    if no_color:
        grey = built_in_theme("mono" if palette.dark else "mono-light") if palette.ansi else palette.mono()
        shown = grey.eight_bit() if depth is Depth.EIGHT_BIT else grey
    elif palette.ansi or depth is Depth.TRUE:
        return palette
    elif depth is Depth.EIGHT_BIT:
        shown = palette.eight_bit()
    else:
        shown = built_in_theme("ansi" if palette.dark else "ansi-light")
    return shown._replace(name=palette.name, title=palette.title, description=palette.description)


# --- Textual ----------------------------------------------------------------------------------------------------------


def css_variables(palette: Palette) -> dict[str, str]:
    """`lw-bg` … `lw-bad` and `lw-leaf-tint` … `lw-bad-tint`, to be used in stylesheets as `$lw-bg`."""
    named: dict[str, str] = {
        f"lw-{key}": getattr(palette, "raised" if key == "raise" else key) for key in TOKENS
    }
    return named | {f"lw-{hue}-tint": str(getattr(palette, f"{hue}_tint")) for hue in HUES}


def theme_variable_defaults() -> dict[str, str]:
    """The variables for `App.get_theme_variable_defaults`: a theme of Textual's own would leave `$lw-…` unresolved."""
    return css_variables(built_in_theme(DEFAULT_DARK))


def textual_theme(palette: Palette) -> Theme:
    """`palette` for `App.register_theme`; Textual's own widgets are calmed down to the same few colours."""
    p = palette
    return Theme(
        name=p.name,
        primary=p.leaf,
        secondary=p.memory,
        accent=p.ghost,
        warning=p.warn,
        error=p.bad,
        success=p.leaf,
        foreground=p.text,
        background=p.bg,
        surface=p.bg,
        panel=p.panel,
        boost=p.raised,
        dark=p.dark,
        text_alpha=1.0,
        ansi=p.ansi,
        variables=_calm(p) | css_variables(p),
    )


def _calm(p: Palette) -> dict[str, str]:
    """The colours of Textual's own widgets, by the names of its variables."""
    calm = {
        "text": p.text,
        "text-muted": p.sub,
        "text-disabled": p.faint,
        "foreground-muted": p.sub,
        "foreground-disabled": p.faint,
        "border": p.line,
        "border-blurred": p.line,
        "surface-active": p.raised,
        "block-cursor-foreground": p.text,
        "block-cursor-background": p.sel,
        "block-cursor-text-style": "bold",
        "block-cursor-blurred-foreground": p.text,
        "block-cursor-blurred-background": p.raised,
        "block-cursor-blurred-text-style": "none",
        "block-hover-background": p.raised,
        "input-cursor-background": p.text,
        "input-cursor-foreground": p.bg,
        "input-cursor-text-style": "none",
        "input-selection-background": p.ghost_tint,
        "input-selection-foreground": p.text,
        "screen-selection-background": p.ghost_tint,
        "screen-selection-foreground": p.text,
        "scrollbar": p.edge,
        "scrollbar-hover": p.faint,
        "scrollbar-active": p.sub,
        "scrollbar-background": p.bg,
        "scrollbar-background-hover": p.bg,
        "scrollbar-background-active": p.bg,
        "scrollbar-corner-color": p.bg,
        "footer-foreground": p.faint,
        "footer-background": p.panel,
        "footer-key-foreground": p.text,
        "footer-description-foreground": p.faint,
        "link-color": p.ghost,
        "link-style": "none",
        "link-color-hover": p.text,
        "link-background-hover": p.sel,
        "link-style-hover": "bold",
        "button-foreground": p.text,
        "button-color-foreground": p.bg,
        "button-focus-text-style": "bold",
        "markdown-h1-color": p.memory,
        "markdown-h1-text-style": "bold",
        "markdown-h2-color": p.memory,
        "markdown-h2-text-style": "bold",
        "markdown-h3-color": p.text,
        "markdown-h3-text-style": "bold",
        "markdown-h4-color": p.text,
        "markdown-h4-text-style": "bold",
        "markdown-h5-color": p.sub,
        "markdown-h5-text-style": "bold",
        "markdown-h6-color": p.sub,
        "markdown-h6-text-style": "none",
    }
    if p.ansi:  # Textual's stylesheets ask for these two as soon as a theme is one of the terminal's colours
        calm |= {"ansi-background": p.raised, "ansi-foreground": p.text}
    return calm


# --- line rendering ---------------------------------------------------------------------------------------------------


class Ground(NamedTuple):
    """Every ink on one background. A row picks its ground once and its inks by name.

    An ink too weak for a ground is one step brighter there already: `faint` is `sub`, and `edge` is `faint`, on
    the selected row, on raised ground and on tints. On a ground that is one of the terminal's own sixteen colours every
    ink is `text`: a terminal's red on its grey may not be seen at all.
    """

    blank: Style
    """The background alone, for padding."""
    text: Style
    sub: Style
    faint: Style
    edge: Style
    line: Style
    leaf: Style
    memory: Style
    ghost: Style
    warn: Style
    bad: Style
    strong: Style
    """Bold text: selection, heads of sections, the one number that matters."""
    strong_leaf: Style
    strong_memory: Style
    strong_ghost: Style
    strong_warn: Style
    strong_bad: Style
    nothing: Style
    """Italic: for an empty list, or a number of hidden rows."""
    hit: Style
    """Underlined: found by a search."""
    strong_hit: Style

    @classmethod
    def of(cls, palette: Palette, ground: str) -> Ground:
        """The inks of `palette` on its colour `ground`, a field name such as `sel` or `leaf_tint`."""
        name = getattr(palette, ground)
        back = Color.parse(name).rich_color
        lifted = ground not in {"bg", "panel"}
        faint = palette.sub if lifted else palette.faint
        edge = palette.faint if lifted else palette.edge
        unknown = name.startswith("ansi_") and name != "ansi_default"

        def ink(colour: str, **attributes: bool) -> Style:
            if unknown:
                colour = palette.text
            return Style(color=Color.parse(colour).rich_color, bgcolor=back, **attributes)  # type: ignore[arg-type]  # bools only

        return cls(
            blank=Style(bgcolor=back),
            text=ink(palette.text),
            sub=ink(palette.sub),
            faint=ink(faint),
            edge=ink(edge),
            line=ink(palette.line),
            strong=ink(palette.text, bold=True),
            nothing=ink(faint, italic=True),
            hit=ink(palette.warn, underline=True),
            strong_hit=ink(palette.warn, bold=True, underline=True),
            **{hue: ink(getattr(palette, hue)) for hue in HUES},
            **{f"strong_{hue}": ink(getattr(palette, hue), bold=True) for hue in HUES},
        )


class Styles(NamedTuple):
    """Every style a line is rendered with: `styles.sel.text` is text on the selected row."""

    bg: Ground
    panel: Ground
    raised: Ground
    sel: Ground
    leaf_tint: Ground
    memory_tint: Ground
    ghost_tint: Ground
    warn_tint: Ground
    bad_tint: Ground

    @classmethod
    def of(cls, palette: Palette) -> Styles:
        """The styles of `palette`; made once a theme, equal palettes share one value."""
        return _styles(palette)


@lru_cache(maxsize=16)
def _styles(palette: Palette) -> Styles:
    return Styles(**{name: Ground.of(palette, name) for name in Styles._fields})
