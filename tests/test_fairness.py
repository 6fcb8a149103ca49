"""Jain's fairness index (DEC-TR-301, 1984)."""

from __future__ import annotations

import pytest

from pathweave.results.fairness import jain


def test_the_index_is_one_where_all_are_equal_and_one_over_n_where_one_has_all() -> None:
    for flows in (2, 3, 10):
        assert jain([7.5] * flows) == pytest.approx(1)
        assert jain([7.5, *[0.0] * (flows - 1)]) == pytest.approx(1 / flows)


def test_the_index_of_one_and_two_is_nine_tenths() -> None:
    # (1 + 2)^2 / (2 (1 + 4)).
    assert jain([1, 2]) == pytest.approx(0.9)
    assert jain([10, 20]) == pytest.approx(0.9)


def test_fewer_than_two_flows_and_flows_without_goodput_have_no_index() -> None:
    assert jain([]) is None
    assert jain([3]) is None
    assert jain([0, 0]) is None
