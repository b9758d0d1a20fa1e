"""Explanations as pages and plots: whole, escaped, and shown by a browser."""

from __future__ import annotations

import dataclasses
import os
import re
import shutil
import subprocess
from html.parser import HTMLParser

import pytest
from tests.unit.explanations.test_explaining import KERNEL, NEW, TREES, Y

import espalier as es


@pytest.fixture(scope="module")
def explanations():
    model = es.GPRegressor(1.0 * KERNEL, noise=0.3, learn=False).fit(TREES, Y)
    return es.explain(model, n=8), es.explain(model, NEW[1], n=8)


def test_pages_need_nothing_else(explanations, tmp_path):
    for k, explanation in enumerate(explanations):
        page = explanation.to_html(tmp_path / f"{k}.html")
        assert (tmp_path / f"{k}.html").read_text() == page == explanation._repr_html_()
        assert not re.search(r"(?:src|href)\s*=", page) and "<script" not in page and "@import" not in page
        assert page.count("<svg") >= 1


class Nested(HTMLParser):
    """The classes of the elements around each picture and each table that is in no other table."""

    def __init__(self, page):
        super().__init__()
        self.open, self.around = [], []
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        if tag == "svg" or (tag == "table" and not any(name == "table" for name, _ in self.open)):
            self.around.append({own for _, classes in self.open for own in classes})
        if tag not in ("meta", "br"):
            self.open.append((tag, (dict(attrs).get("class") or "").split()))

    def handle_endtag(self, tag):
        while self.open.pop()[0] != tag:
            pass


def test_wide_drawings_and_tables_scroll_in_boxes_of_their_own_and_long_words_break(explanations):
    long = es.DependencyTree([f"word{k}" * 9 for k in range(60)], ["T"] * 60, [0, *range(1, 60)], ["r"] * 60)
    other = dataclasses.replace(long, heads=[0, *[1] * 59])
    group = es.Group([long, other], gold=other)
    selector = es.KernelSpaceSelector(es.DependencySubtree(("words",)), C=1.0, max_order=1, max_passes=2)
    model = es.FeatureReranker(selector, score_weight=1.0).fit([group] * 5, development=[group])
    for page in (*(own.to_html() for own in explanations), es.explain(model, group).to_html()):
        around = Nested(page).around
        assert len(around) > 1 and all(own & {"drawing", "listed"} for own in around)
        assert ".drawing,.listed{overflow-x:auto}" in page and "h2{overflow-wrap:anywhere}" in page
        assert "code{font-size:.9em;overflow-wrap:anywhere}" in page


def test_labels_are_escaped():
    trees = ["(S (A <b>&) (B b))", "(S (A c) (B b))", "(S (A <b>&))", "(S (A c))"]
    model = es.KernelSVR(es.SubsetTree(0.5), C=10.0).fit(trees, [1.0, 0.0, 1.0, 0.0])
    for page in (es.explain(model).to_html(), es.explain(model, trees[0]).to_html()):
        assert "<b>" not in page and "&lt;b&gt;&amp;" in page


def test_plots_show_the_largest(explanations):
    for explanation, name in zip(explanations, ("weight in the model", "added to the score"), strict=True):
        axes = explanation.plot(n=3)
        assert len(axes.patches) == 3 and axes.get_xlabel() == name


def test_a_browser_shows_the_page(explanations, tmp_path):
    browser = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if browser is None:
        pytest.skip("there is no Chromium here: `make browser` installs it and runs this test")
    matplotlib_image = pytest.importorskip("matplotlib.image")
    for k, explanation in enumerate(explanations):
        explanation.to_html(tmp_path / f"{k}.html")
        picture = tmp_path / f"{k}.png"
        options = ["--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--window-size=1300,1000"]
        command = [browser, *options, f"--screenshot={picture}", (tmp_path / f"{k}.html").as_uri()]
        plain = {name: value for name, value in os.environ.items() if name != "LD_PRELOAD"}  # of a sanitizer
        done = subprocess.run(command, capture_output=True, timeout=120, check=False, env=plain)
        if not picture.exists():
            pytest.skip(f"this browser takes no screenshot: {done.stderr.decode(errors='replace')[-200:]}")
        image = matplotlib_image.imread(picture)[..., :3]
        green = (image[..., 1] > image[..., 0] + 0.2) & (image[..., 1] > image[..., 2] + 0.2)
        red = (image[..., 0] > image[..., 1] + 0.4) & (image[..., 0] > image[..., 2] + 0.4)
        # Something is written, something pushes up, and not all of the page is one colour.
        assert image.std() > 0.02 and green.sum() > 200 and (red | green).sum() < 0.5 * red.size


def test_a_text_is_a_paragraph_with_its_words_marked_and_escaped():
    texts = ["a <b> c", "a d", "e <b>", "e d"]
    model = es.KernelSVC(es.BagOfWords()).fit(texts, ["x", "x", "y", "y"])
    page = es.explain(model, "a <b> e").to_html()
    assert '<p class="text"><mark class="down">a</mark> &lt;b&gt; <mark class="up">e</mark></p>' in page
    assert "Marked are the words that raise the score most" in page and "<b>" not in page
