"""Arithmetic on colours: contrast, greys of equal brightness, the nearest of the terminal's 256.

Colours are `#rrggbb` strings here, as in the themes.
"""

from __future__ import annotations

import math
from functools import cache
from typing import TYPE_CHECKING

from rich.color import Color as RichColor
from rich.color import ColorSystem
from rich.color_triplet import ColorTriplet

if TYPE_CHECKING:
    from collections.abc import Iterable


def _channels(colour: str) -> tuple[int, int, int]:
    return int(colour[1:3], 16), int(colour[3:5], 16), int(colour[5:7], 16)


def _linear(channel: float) -> float:
    """Light of one sRGB channel of 0 to 1 (WCAG 2.2, relative luminance)."""
    return channel / 12.92 if channel <= 0.04045 else ((channel + 0.055) / 1.055) ** 2.4


@cache
def luminance(colour: str) -> float:
    """Relative luminance of WCAG 2.2, 0 for black to 1 for white."""
    red, green, blue = (_linear(channel / 255) for channel in _channels(colour))
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    """Contrast ratio of WCAG 2.2, 1 to 21."""
    darker, lighter = sorted((luminance(one), luminance(other)))
    return (lighter + 0.05) / (darker + 0.05)


def grey(colour: str) -> str:
    """The grey of the same luminance as `colour`, so that every contrast is unchanged."""
    light = luminance(colour)
    channel = light * 12.92 if light <= 0.0031308 else 1.055 * light ** (1 / 2.4) - 0.055
    value = round(channel * 255)
    return f"#{value:02x}{value:02x}{value:02x}"


@cache
def _oklab(colour: str) -> tuple[float, float, float]:
    """The colour in Björn Ottosson's OKLab, a space whose distances match perceived differences."""
    red, green, blue = (_linear(channel / 255) for channel in _channels(colour))
    long = (0.4122214708 * red + 0.5363325363 * green + 0.0514459929 * blue) ** (1 / 3)
    medium = (0.2119034982 * red + 0.6806995451 * green + 0.1073969566 * blue) ** (1 / 3)
    short = (0.0883024619 * red + 0.2817188376 * green + 0.6299787005 * blue) ** (1 / 3)
    return (
        0.2104542553 * long + 0.7936177850 * medium - 0.0040720468 * short,
        1.9779984951 * long - 2.4285922050 * medium + 0.4505937099 * short,
        0.0259040371 * long + 0.7827717662 * medium - 0.8086757660 * short,
    )


@cache
def _eight_bit() -> dict[str, str]:
    """The fixed 240 of the 256 colours as they are shown, each with a colour that Rich reduces to it.

    The two differ for most greys, which Rich's rounding misses by one step when it is handed the grey itself.
    """
    steps = (0, 95, 135, 175, 215, 255)
    triplets = [(red, green, blue) for red in steps for green in steps for blue in steps]
    triplets += [(grey, grey, grey) for grey in (round(step * 255 / 25) for step in range(1, 25))]
    shown: dict[str, str] = {}
    for triplet in triplets:
        reduced = RichColor.from_triplet(ColorTriplet(*triplet)).downgrade(ColorSystem.EIGHT_BIT)
        shown.setdefault(reduced.get_truecolor().hex, ColorTriplet(*triplet).hex)
    return shown


def _shown(colour: str) -> str:
    """The colour a 256-colour terminal shows for `colour`."""
    reduced = RichColor.from_triplet(ColorTriplet(*_channels(colour))).downgrade(ColorSystem.EIGHT_BIT)
    return reduced.get_truecolor().hex


_NEUTRAL = 0.03
"""OKLab chroma below which a colour is to stay a grey: a tinge of the ground would come out as a plain hue."""


def nearest_eight_bit(colour: str, against: Iterable[str] = (), ratio: float = 1.0) -> str:
    """The nearest of the fixed 240 colours to `colour` with a contrast of at least `ratio` to all of `against`.

    Where none has that contrast, the one with the most. Rich alone goes by saturation and makes the green-grey
    `#25342d` a plain green; this function returns, and expects in `against`, colours that Rich reduces to fixed
    ones.
    """
    here = _oklab(colour)
    grounds = [_shown(ground) for ground in against]
    choice = list(_eight_bit())
    if here[1] ** 2 + here[2] ** 2 < _NEUTRAL**2:
        choice = [one for one in choice if one[1:3] == one[3:5] == one[5:7]]
    readable = [one for one in choice if all(contrast(one, ground) >= ratio for ground in grounds)]
    if readable:
        best = min(readable, key=lambda one: math.dist(here, _oklab(one)))
    else:
        best = max(choice, key=lambda one: min(contrast(one, ground) for ground in grounds))
    return _eight_bit()[best]
