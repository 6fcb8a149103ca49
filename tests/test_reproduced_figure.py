"""The figure that shows published numbers and ours."""

from __future__ import annotations

import vl_convert

from pathweave.plots.reproduced import Shown, reproduced_figure

EXACT = Shown("", "A", 1.0, half=0.1, at_least=False, published=1.2)
BOUND = Shown("", "B", 2.0, half=None, at_least=True, published=None)


def drawn(*rows: Shown) -> str:
    figure = reproduced_figure("name", "title", "goodput", "Mbps", rows)
    assert figure is not None
    return vl_convert.vegalite_to_svg(figure.spec(), vl_version="6.4")


def points(svg: str) -> int:
    """How many marks it has that are points."""
    return svg.count('aria-roledescription="point"')


def test_a_value_is_a_dot_and_what_was_published_a_diamond() -> None:
    assert points(drawn(EXACT)) == 2
    assert points(drawn(BOUND)) == 1
    assert points(drawn(EXACT, BOUND)) == 3


def test_the_caption_says_what_there_is_to_see() -> None:
    figures = [reproduced_figure("n", "t", "x", "", rows) for rows in ((EXACT,), (BOUND,))]
    exact, bound = (figure.caption for figure in figures if figure is not None)
    assert "Diamond" in exact
    assert "Triangle" not in exact
    assert "Triangle: ours is at least this." in bound
    assert "Diamond" not in bound
    assert reproduced_figure("n", "t", "x", "", ()) is None
