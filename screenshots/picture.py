"""A screen that Textual exported, redrawn as a small SVG that looks the same with whatever monospace font is there.

Textual's own export asks for a font from the web, and where that is missing rules and bars get gaps. Here every run of
text is given the width of its cells, and whatever has to meet the next cell (rules, bars, nodes) is drawn, not written.
"""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from dataclasses import dataclass, field
from html import escape

from rich.cells import cell_len, split_graphemes

CELL, LINE = 9, 18
FONT_SIZE = 15
"""Cells in pixels. Monospace fonts advance by 0.6 of their size, or close enough to be stretched."""
BASELINE = 13.5
MARGIN = 12

FONTS = "'JetBrains Mono','Cascadia Mono',Menlo,Consolas,'DejaVu Sans Mono','Liberation Mono',ui-monospace,monospace"

_EXPORT_CELL, _EXPORT_LINE, _EXPORT_BASELINE = 12.2, 24.4, 20
"""What Rich 14 and 15 measure an exported screen in."""

_SVG = "{http://www.w3.org/2000/svg}"
_RULE = re.compile(r"\.[\w-]+-(r\d+)\s*\{([^}]*)\}")
_PIECE = re.compile(r"[!-~]+(?: [!-~]+)*")
"""Words of ASCII with single spaces between them: what may be written in one go."""

LIGHT, HEAVY = 1.2, 3.0

_ARMS = {
    # up, down, left, right; 0 none, 1 light, 2 heavy
    "─": "0011", "━": "0022", "│": "1100", "┃": "2200",
    "┌": "0101", "┐": "0110", "└": "1001", "┘": "1010",
    "╭": "0101", "╮": "0110", "╰": "1001", "╯": "1010",
    "├": "1101", "┤": "1110", "┬": "0111", "┴": "1011", "┼": "1111",
    "┠": "2201", "┡": "1202", "┖": "2001", "┗": "2002", "┯": "0122", "┱": "0221", "┿": "1122",
    "┣": "2202", "┨": "2210", "┏": "0202", "┓": "0220", "┛": "2020", "┰": "0211", "┷": "1022",
}  # fmt: skip
_DASHED: dict[str, tuple[float, bool]] = {
    "┆": (LIGHT, True),
    "┊": (LIGHT, True),
    "╌": (LIGHT, False),
    "╍": (HEAVY, False),
    "┄": (LIGHT, False),
}
"""Weight, and whether it goes up and down."""
_BLOCKS = {
    # left, top, width, height in eighths of a cell; how much of it is filled
    "█": (0, 0, 8, 8, 1.0), "▓": (0, 0, 8, 8, 0.55), "▒": (0, 0, 8, 8, 0.4), "░": (0, 0, 8, 8, 0.22),
    "▌": (0, 0, 4, 8, 1.0), "▐": (4, 0, 4, 8, 1.0), "▀": (0, 0, 8, 4, 1.0),
    **{chr(0x2580 + n): (0, 8 - n, 8, n, 1.0) for n in range(1, 8)},
    **{chr(0x2590 - n): (0, 0, n, 8, 1.0) for n in range(1, 8)},
}  # fmt: skip


def _number(value: float) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".")


def _rectangle(x: float, y: float, width: float, height: float) -> str:
    return f"M{_number(x)} {_number(y)}h{_number(width)}v{_number(height)}h{_number(-width)}z"


@dataclass
class _Drawing:
    """Shapes and words by how they are painted; what is painted alike is one element."""

    shapes: dict[str, list[str]] = field(default_factory=dict)
    """Path data by the attributes of its element."""
    words: dict[str, list[str]] = field(default_factory=dict)
    """Elements by the style of the group they stand in."""

    def shape(self, attributes: str, path: str) -> None:
        self.shapes.setdefault(attributes, []).append(path)

    def write(self, style: str, text: str, x: float, y: float) -> None:
        """Some text at the left edge of a cell, as wide as its cells."""
        cells = cell_len(text)
        width = f' textLength="{cells * CELL}"' if cells > 1 and cells == len(text) else ""
        self.words.setdefault(style, []).append(
            f'<text x="{_number(x)}" y="{_number(y)}"{width}>{escape(text, quote=False)}</text>'
        )

    def sign(self, sign: str, colour: str, x: float, y: float) -> bool:
        """Draws a sign whose cell begins at `x` and `y`; False where it is one to be written."""
        middle, centre = x + CELL / 2, y + LINE / 2
        if sign in _BLOCKS:
            left, top, width, height, filled = _BLOCKS[sign]
            opacity = "" if filled == 1.0 else f' fill-opacity="{filled}"'
            self.shape(
                f'fill="{colour}"{opacity} shape-rendering="crispEdges"',
                _rectangle(x + left * CELL / 8, y + top * LINE / 8, width * CELL / 8, height * LINE / 8),
            )
        elif sign in _ARMS:
            up, down, left, right = map(int, _ARMS[sign])
            # An arm reaches over the middle by half of what it meets, so that corners are closed.
            across = {0: 0.0, 1: LIGHT / 2, 2: HEAVY / 2}
            over_x, over_y = across[max(up, down)], across[max(left, right)]
            arms = (
                (up, f"M{_number(middle)} {_number(y)}V{_number(centre + over_y)}"),
                (down, f"M{_number(middle)} {_number(y + LINE)}V{_number(centre - over_y)}"),
                (left, f"M{_number(x)} {_number(centre)}H{_number(middle + over_x)}"),
                (right, f"M{_number(x + CELL)} {_number(centre)}H{_number(middle - over_x)}"),
            )
            for weight, arm in arms:
                if weight:
                    self.shape(_stroke(colour, HEAVY if weight == 2 else LIGHT), arm)
        elif sign in _DASHED:
            thick, upright = _DASHED[sign]
            for part in range(3):
                if upright:
                    from_, to = y + LINE * (part + 0.15) / 3, y + LINE * (part + 0.85) / 3
                    path = f"M{_number(middle)} {_number(from_)}V{_number(to)}"
                else:
                    from_, to = x + CELL * (part + 0.15) / 3, x + CELL * (part + 0.85) / 3
                    path = f"M{_number(from_)} {_number(centre)}H{_number(to)}"
                self.shape(_stroke(colour, thick), path)
        elif sign == "║":
            for column in (middle - 2, middle + 2):
                self.shape(_stroke(colour, LIGHT), f"M{_number(column)} {_number(y)}v{LINE}")
        elif sign in "●○◎":
            if sign != "●":
                self.shape(_stroke(colour, LIGHT), _circle(middle, centre, 4.2))
            if sign != "○":
                self.shape(f'fill="{colour}"', _circle(middle, centre, 4.6 if sign == "●" else 2))
        elif sign in "◆◇":
            paint = f'fill="{colour}"' if sign == "◆" else _stroke(colour, LIGHT)
            self.shape(paint, f"M{_number(middle)} {_number(centre - 5)}l4.5 5l-4.5 5l-4.5 -5z")
        elif sign == "▸":
            self.shape(f'fill="{colour}"', f"M{_number(middle - 2)} {_number(centre - 3)}l4.5 3l-4.5 3z")
        elif sign == "▾":
            self.shape(f'fill="{colour}"', f"M{_number(middle - 3)} {_number(centre - 2)}h6l-3 4.5z")
        else:
            return False
        return True


def _stroke(colour: str, weight: float) -> str:
    return f'fill="none" stroke="{colour}" stroke-width="{weight}"'


def _circle(x: float, y: float, radius: float) -> str:
    arc = f"a{radius} {radius} 0 1 0 "
    return f"M{_number(x - radius)} {_number(y)}{arc}{_number(2 * radius)} 0{arc}{_number(-2 * radius)} 0z"


def _graphemes(text: str) -> list[tuple[str, int]]:
    """What the text consists of for a reader, each with its place in cells."""
    found, at = [], 0
    for start, end, width in split_graphemes(text)[0]:
        found.append((text[start:end], at))
        at += width
    return found


def _write(drawing: _Drawing, text: str, style: str, x: float, y: float) -> None:
    """A run of one style that begins in the cell at `x` and `y`."""
    colour = style.partition(";")[0].removeprefix("fill:").strip()
    if text.isascii():
        pieces = [(match[0], match.start()) for match in _PIECE.finditer(text)]
    else:
        pieces = []
        for piece, at in _graphemes(text):
            follows = bool(pieces) and pieces[-1][1] + len(pieces[-1][0]) == at
            if follows and piece.isascii() and piece != " " and pieces[-1][0].isascii():
                pieces[-1] = (pieces[-1][0] + piece, pieces[-1][1])
            elif piece != " ":
                pieces.append((piece, at))
    for piece, at in pieces:
        if len(piece) > 1 or not drawing.sign(piece, colour, x + at * CELL, y):
            drawing.write(style, piece, x + at * CELL, y + BASELINE)


def _grounds(content: ET.Element) -> dict[str, list[tuple[int, int, int]]]:
    """What lies behind the text: spans of cells by colour, each as column, row and width; neighbours are one span."""
    spans: dict[str, list[tuple[int, int, int]]] = {}
    for rect in content.iter(f"{_SVG}rect"):
        x = round(float(rect.get("x", "0")) / _EXPORT_CELL)
        y = round((float(rect.get("y", "0")) - 1.5) / _EXPORT_LINE)
        width = round(float(rect.get("width", "0")) / _EXPORT_CELL)
        found = spans.setdefault(rect.get("fill", "#000000"), [])
        if found and found[-1][0] + found[-1][2] == x and found[-1][1] == y:
            found[-1] = (found[-1][0], y, found[-1][2] + width)
        elif width:
            found.append((x, y, width))
    return spans


def picture(exported: str, title: str) -> str:
    """The SVG of a screen out of what `App.export_screenshot` gave. The title is what a screen reader says."""
    root = ET.fromstring(exported)  # noqa: S314  made in this process
    css = "".join(element.text or "" for element in root.iter(f"{_SVG}style"))
    styles = {
        name: ";".join(filter(None, map(str.strip, rule.split(";")))) for name, rule in _RULE.findall(css)
    }
    clip = next(e for e in root.iter(f"{_SVG}clipPath") if e.get("id", "").endswith("clip-terminal"))[0]
    columns = round(float(clip.get("width", "0")) / _EXPORT_CELL)
    rows = round(float(clip.get("height", "0")) / _EXPORT_LINE)
    content = next(e for e in root.iter(f"{_SVG}g") if "clip-terminal" in e.get("clip-path", ""))

    grounds = _grounds(content)
    ground = max(grounds, key=lambda fill: sum(width for _, _, width in grounds[fill]))

    drawing = _Drawing()
    for text in content.iter(f"{_SVG}text"):
        style = styles[text.get("class", "").rpartition("-")[2]]
        x = round(float(text.get("x", "0")) / _EXPORT_CELL) * CELL
        y = round((float(text.get("y", "0")) - _EXPORT_BASELINE) / _EXPORT_LINE) * LINE
        _write(drawing, "".join(text.itertext()).replace("\xa0", " "), style, x, y)

    width, height = columns * CELL + 2 * MARGIN, rows * LINE + 2 * MARGIN
    frame = (
        f'<rect x="{0.5 - MARGIN}" y="{0.5 - MARGIN}" width="{width - 1}" height="{height - 1}" rx="8" fill="{ground}" '
        'stroke="#808080" stroke-opacity="0.35"/>'
    )
    box = f'viewBox="{-MARGIN} {-MARGIN} {width} {height}" width="{width}" height="{height}"'
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {box} role="img">',
        f"<title>{escape(title, quote=False)}</title>",
        frame,
    ]
    lines += [
        f'<path fill="{fill}" shape-rendering="crispEdges" d="'
        f'{"".join(_rectangle(x * CELL, y * LINE, width * CELL, LINE) for x, y, width in spans)}"/>'
        for fill, spans in grounds.items()
        if fill != ground
    ]
    lines += [f'<path {paint} d="{"".join(parts)}"/>' for paint, parts in drawing.shapes.items()]
    lines.append(
        f'<g font-family="{FONTS}" font-size="{FONT_SIZE}" style="white-space:pre;font-variant-ligatures:none">'
    )
    for style, words in drawing.words.items():
        lines += [f'<g style="{style}">', *words, "</g>"]
    lines.append("</g></svg>")
    return "\n".join(lines) + "\n"
