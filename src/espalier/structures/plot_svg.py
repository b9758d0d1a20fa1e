"""A figure of matplotlib as an SVG picture that suits light and dark pages, like the drawings of trees.

The picture is on a card of its own. A style inside it exchanges the light colours for dark ones if the reader
prefers a dark page. Text stays text, and equal figures give equal files.
"""

from __future__ import annotations

import io
import re
from typing import TYPE_CHECKING

from espalier.structures.palette import CARD, DARK, EDGE

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FONT = "Helvetica, Arial, 'Liberation Sans', sans-serif"
OPTIONS = {"svg.hashsalt": "espalier", "svg.fonttype": "none", "savefig.transparent": True}
_NO_METADATA = {"Date": None, "Creator": None, "Format": None, "Type": None}


def themed_svg(figure: Figure) -> str:
    """Return the figure as SVG on a card, in light colours, or in dark ones if the reader prefers these."""
    import matplotlib

    buffer = io.StringIO()
    with matplotlib.rc_context(OPTIONS):  # type: ignore[arg-type]
        figure.savefig(buffer, format="svg", metadata=_NO_METADATA)
    text = buffer.getvalue()
    text = re.sub(r"(font: [^;]*?px) [^;\"]*", rf"\1 {FONT}", text)
    text = re.sub(r"font-family: [^;\"]*", f"font-family: {FONT}", text)
    text = re.sub(r"(?<=#)[0-9a-fA-F]{6}", lambda found: found[0].lower(), text)
    start = text.index("<g ")
    # Matplotlib leaves spaces at the ends of lines, which version control complains about.
    lines = (text[text.index("<svg") : start] + _card(text) + text[start:]).splitlines()
    return "\n".join(line.rstrip() for line in lines) + "\n"


def _card(svg: str) -> str:
    dark = "".join(
        f'[style*="{kind}: {light}"]{{{kind}:{shade} !important}}'
        for light, shade in DARK.items()
        for kind in ("fill", "stroke")
        if f"{kind}: {light}" in svg or light in (CARD, EDGE)
    )
    found = re.search(r'viewBox="0 0 ([\d.]+) ([\d.]+)"', svg)
    assert found is not None, "matplotlib gives every picture a view box"
    width, height = (float(side) - 1 for side in found.groups())
    return (
        f"<style>@media (prefers-color-scheme:dark){{{dark}}}</style>"
        f'<rect x=".5" y=".5" width="{width:g}" height="{height:g}" rx="8" style="fill: {CARD}; stroke: {EDGE}"/>'
    )
