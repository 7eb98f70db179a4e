"""The page of a report: HTML that needs no other file and makes no request."""

from __future__ import annotations

import base64
import hashlib
import html
import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from importlib import resources

from bootstrap.reports.content import (
    Block,
    Bullets,
    Code,
    Excerpt,
    Folded,
    Pair,
    Paragraph,
    Report,
    Section,
    Tile,
)
from bootstrap.reports.estimates import Estimate
from bootstrap.reports.figures import STYLES, Figure, Matrix, shares_of_rows
from bootstrap.reports.tables import Cell, Column, Table, shown_cell

_SCRIPTS = ("echarts.common.min.js", "report.js")
#: The approximate width in pixels of the columns of a table by kind, of others, and of the widest
#: table that stands beside its figure.
_WIDTHS = {"estimate": 95, "interval": 110, "signed interval": 130}
_WIDTH, _WIDEST_BESIDE = 75, 500
#: A row with a longer name has a wider column of names.
_LONG_NAME = 12


def page_of(report: Report) -> str:
    """Build the page of a report.

    Parameters
    ----------
    report : Report
        The content.

    Returns
    -------
    str
        HTML. Its content security policy forbids every request and all scripts but its own.
    """
    return "".join(_Page(report).lines())


class _Page:
    """Builds a page, and collects its figures, which scripts draw."""

    def __init__(self, report: Report) -> None:
        self._report = report
        self._figures: list[Figure] = []

    def lines(self) -> Iterable[str]:
        """Return the parts of the page."""
        report = self._report
        scripts = [_asset(name) for name in _SCRIPTS]
        body = [
            "<header>",
            f"<h1>{_text(report.title)}</h1>",
            f'<p class="subtitle">{_text(report.subtitle)}</p>' if report.subtitle else "",
            *_outcome(report.outcome),
            _tiles(report.tiles),
            _contents(report.sections),
            "</header>\n<main>\n",
            *(self._section(section, key) for key, section in enumerate(report.sections)),
            "</main>\n",
            "<footer>Made by bootstrap. Figures are drawn with Apache ECharts (Apache License "
            "2.0).</footer>\n",
        ]
        return [
            "<!doctype html>\n",
            '<html lang="en">\n<head>\n<meta charset="utf-8">\n',
            f'<meta http-equiv="Content-Security-Policy" content="{_policy(scripts)}">\n',
            '<meta name="viewport" content="width=device-width, initial-scale=1">\n',
            '<meta name="referrer" content="no-referrer">\n',
            f"<title>{_text(report.title)}</title>\n",
            f"<style>\n{_asset('report.css')}</style>\n</head>\n<body>\n",
            *body,
            '<noscript><p class="note">The figures need JavaScript. The tables have all of their '
            "numbers.</p></noscript>\n",
            f'<script type="application/json" id="figures">{self._data()}</script>\n',
            *(f"<script>{script}</script>\n" for script in scripts),
            "</body>\n</html>\n",
        ]

    def _data(self) -> str:
        """Return the figures as JSON that no parser of HTML takes for markup."""
        value = {
            "styles": [asdict(style) for style in STYLES],
            "figures": [asdict(figure) for figure in self._figures],
        }
        text = json.dumps(value, allow_nan=False, separators=(",", ":"))
        for character in "<>&":
            text = text.replace(character, f"\\u{ord(character):04x}")
        return text

    def _section(self, section: Section, key: int) -> str:
        return (
            f'<section id="section-{key}" aria-labelledby="title-{key}">\n'
            f'<h2 id="title-{key}">{_text(section.title)}</h2>\n'
            f"{self._blocks(section.blocks)}</section>\n"
        )

    def _blocks(self, blocks: Iterable[Block]) -> str:
        return "".join(self._block(block) for block in blocks)

    def _block(self, block: Block) -> str:
        match block:
            case Folded():
                inner = self._blocks(block.blocks)
                return f"<details><summary>{_text(block.title)}</summary>\n{inner}</details>\n"
            case Pair():
                beside = _width(block.table) <= _WIDEST_BESIDE
                inner = self._shown(block.figure) + _table(block.table)
                return f'<div class="pair{" beside" if beside else ""}">\n{inner}</div>\n'
            case Figure() | Matrix():
                return f'<div class="alone">{self._shown(block)}</div>\n'
            case Table():
                return f'<div class="alone">{_table(block)}</div>\n'
            case _:
                return _prose(block)

    def _shown(self, figure: Figure | Matrix) -> str:
        return _matrix(figure) if isinstance(figure, Matrix) else self._figure(figure)

    def _figure(self, figure: Figure) -> str:
        self._figures.append(figure)
        number = len(figure.panels)
        size = "single" if number == 1 else "few" if number <= 3 else "many"
        panels = "".join(
            '<div class="panel">'
            + (f"<h4>{_text(panel.title)}</h4>" if panel.title else "")
            + f'<div class="chart" role="img" aria-label="{_text(_label(figure, panel.title))}">'
            "</div></div>"
            for panel in figure.panels
        )
        return (
            f'<figure data-figure="{len(self._figures) - 1}" data-name="{_text(figure.name)}">'
            f'<h3>{_text(figure.title)}</h3><ul class="legend" aria-label="Series"></ul>'
            f"{_axis_title(figure, above=True)}"
            f'<div class="panels {size}">{panels}</div>{_axis_title(figure, above=False)}'
            f"<figcaption>{_text(figure.caption)}</figcaption></figure>\n"
        )


def _text(text: str) -> str:
    return html.escape(text)


def _asset(name: str) -> str:
    return (resources.files("bootstrap.reports") / "assets" / name).read_text(encoding="utf-8")


def _policy(scripts: Iterable[str]) -> str:
    """Return a policy that allows the styles of the page and these scripts, and no request."""
    digests = (base64.b64encode(hashlib.sha256(each.encode()).digest()) for each in scripts)
    allowed = " ".join(f"'sha256-{digest.decode()}'" for digest in digests)
    return (
        f"default-src 'none'; script-src {allowed}; style-src 'unsafe-inline'; base-uri 'none'; "
        "form-action 'none'"
    )


def _label(figure: Figure, panel: str) -> str:
    """Describe a chart for those who do not see it."""
    title = f"{figure.title}, {panel}" if panel else figure.title
    return f"Chart: {title}. {figure.caption}"


def _axis_title(figure: Figure, *, above: bool) -> str:
    """Return the title of the axis above or below the plots; classes need none."""
    upper, lower = (figure.places, figure.values) if figure.rows else (figure.values, figure.places)
    if above:
        return "" if figure.rows else f'<p class="axis above">{_text(upper.title)}</p>'
    return f'<p class="axis below">{_text(lower.title)}</p>'


def _outcome(lines: Sequence[str]) -> list[str]:
    kinds = ['<p class="outcome">', *["<p>"] * (len(lines) - 1)]
    return [f"{kind}{_text(line)}</p>\n" for kind, line in zip(kinds, lines, strict=False)]


def _tiles(tiles: Sequence[Tile]) -> str:
    shown = "".join(
        f'<div><dt>{_text(tile.label)}</dt><dd class="value">{_text(tile.value)}</dd>'
        + (f'<dd class="detail">{_text(tile.detail)}</dd>' if tile.detail else "")
        + "</div>"
        for tile in tiles
    )
    return f'<dl class="tiles">{shown}</dl>\n' if tiles else ""


def _contents(sections: Sequence[Section]) -> str:
    items = "".join(
        f'<li><a href="#section-{key}">{_text(section.title)}</a></li>'
        for key, section in enumerate(sections)
    )
    return f'<nav aria-label="Contents"><ul>{items}</ul></nav>\n'


def _prose(block: Paragraph | Bullets | Code | Excerpt) -> str:
    match block:
        case Paragraph():
            kind = ' class="note"' if block.is_note else ""
            return f"<p{kind}>{_text(block.text)}</p>\n"
        case Bullets():
            items = "".join(f"<li>{_text(line)}</li>" for line in block.lines)
            return f"<h3>{_text(block.title)}</h3>\n<ul>{items}</ul>\n"
        case Code():
            return f"<pre>{_text(block.text)}</pre>\n"
        case Excerpt():
            return _excerpt(block)


def _excerpt(excerpt: Excerpt) -> str:
    parts = "".join(
        f'<mark class="{kind}">{_text(text)}</mark>' if kind else _text(text)
        for text, kind in excerpt.parts
    )
    return (
        f'<div class="excerpt"><div class="where">{_text(excerpt.where)} · {_text(excerpt.what)}'
        f'</div><div class="text">{parts}</div></div>\n'
    )


def _width(table: Table) -> int:
    """Estimate the width of a table in pixels."""
    first = max((len(str(row[0])) for row in table.rows), default=0)
    others = (_WIDTHS.get(column.kind, _WIDTH) for column in table.columns[1:])
    return min(8 * first + 20, 210) + sum(others)


def _table(table: Table) -> str:
    heads = "".join(
        f'<th scope="col"{_kind_of(column)}>{_text(column.title)}</th>' for column in table.columns
    )
    rows = "".join(_row(table, number, row) for number, row in enumerate(table.rows))
    caption = f'<p class="caption">{_text(table.caption)}</p>' if table.caption else ""
    return (
        f'<div data-table="{_text(table.name)}"><h3>{_text(table.title)}</h3>'
        f'<div class="table" tabindex="0" role="region" aria-label="{_text(table.title)}">'
        f"<table><thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table></div>{caption}</div>\n"
    )


def _kind_of(column: Column) -> str:
    return ' class="text"' if column.kind == "text" else ""


def _row(table: Table, number: int, row: Sequence[Cell]) -> str:
    """Build a row; where its first cell is the best, the whole row is marked."""
    is_best = (number, 0) in table.marked
    cells = []
    for place, (column, value) in enumerate(zip(table.columns, row, strict=True)):
        star = "★ " if (number, place) in table.marked else ""
        shown = _text(star + shown_cell(value, column.kind))
        if isinstance(value, Estimate) and value.interval:
            shown += f"<small>{shown_cell(value.interval, 'interval')}</small>"
        cells.append(_cell(column, place, shown, star=bool(star) and not is_best))
    kind = "best" if is_best else "all" if row[0] == "all" else ""
    return f'<tr class="{kind}">{"".join(cells)}</tr>' if kind else f"<tr>{''.join(cells)}</tr>"


def _cell(column: Column, place: int, shown: str, *, star: bool) -> str:
    if place == 0:
        # Long names are broken after an underscore.
        kind = ' class="long"' if len(shown) > _LONG_NAME else ""
        return f'<th scope="row"{kind}>{shown.replace("_", "_<wbr>")}</th>'
    kinds = [*(["text"] if column.kind == "text" else []), *(["best"] if star else [])]
    return f'<td class="{" ".join(kinds)}">{shown}</td>' if kinds else f"<td>{shown}</td>"


def _matrix(matrix: Matrix) -> str:
    heads = "".join(f'<th scope="col">{_text(name)}</th>' for name in matrix.columns)
    rows = []
    for name, counts, shares in zip(
        matrix.rows, matrix.counts, shares_of_rows(matrix), strict=True
    ):
        cells = "".join(
            _shaded(count, share, diagonal=name == column)
            for count, share, column in zip(counts, shares, matrix.columns, strict=True)
        )
        shown = _text(name)
        rows.append(f'<tr><th scope="row" title="{shown}">{shown}</th>{cells}</tr>')
    corner = f'<th class="corner" scope="col">{_text(matrix.row_title)} ↓</th>'
    return (
        f'<figure class="matrix" data-name="{_text(matrix.name)}"><h3>{_text(matrix.title)}</h3>'
        f'<p class="axis">{_text(matrix.column_title)} →</p>'
        f'<div class="table" tabindex="0" role="region" aria-label="{_text(matrix.title)}">'
        f"<table><thead><tr>{corner}{heads}</tr></thead><tbody>{''.join(rows)}</tbody></table>"
        f"</div><figcaption>{_text(matrix.caption)}</figcaption></figure>\n"
    )


def _shaded(count: int, share: float, *, diagonal: bool) -> str:
    if not count:
        return "<td></td>"
    kind = ' class="diagonal"' if diagonal else ""
    ink = "#fff" if share > 0.55 else "#1b1f24"
    style = f"background:rgba(0,92,150,{0.06 + 0.84 * share:.2f});color:{ink}"
    return f'<td{kind} style="{style}">{count:,}</td>'
