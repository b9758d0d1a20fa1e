"""The colours of drawings and plots: each light colour with its counterpart on a dark page.

Every picture and every page takes its dark colours from here, so that all of them suit one dark page.
"""

from __future__ import annotations

CARD, EDGE = "#ffffff", "#d0d7de"  # what a picture stands on
TEXT, MUTED, LINE = "#1f2328", "#57606a", "#8c959f"
FOR, AGAINST = "#1a7f37", "#cf222e"  # pushes a score up, and down
BLUE, ORANGE = "#0969da", "#c2410c"
WORD = "#116329"

DARK = {
    CARD: "#1c2128", EDGE: "#444c56", "#eaeef2": "#2d333b", LINE: "#8b949e", "#b0b0b0": "#8b949e",
    TEXT: "#e6edf3", MUTED: "#b1bac4", BLUE: "#6cb6ff", "#b6d4f7": "#2f4d6e", ORANGE: "#f0a070",
    "#d55e00": "#f0883e", "#0072b2": "#58a6ff", "#009e73": "#3fb950", "#cc79a7": "#e39bc4", "#9a6700": "#d4a72c",
    FOR: "#3fb950", AGAINST: "#f85149", WORD: "#7ee2a8", "#8a2c06": "#ffc9a3", "#f6f8fa": "#0d1117",
}  # fmt: skip
