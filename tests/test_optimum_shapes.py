"""The utilities' formulas: values, derivatives, and the form that a solver is given."""

from __future__ import annotations

import math

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import rel_entr

from pathweave.errors import InputError
from pathweave.optimum import DelayWeighted, Eutcp, MaxMin, Wutcp, Xmp
from pathweave.optimum.shapes import Logarithm, Power, Shape, ShiftedLogarithm, TcpUtility

positive = st.floats(1e-2, 1e3)


def printed(y: float, mu: float, b: float) -> float:
    """EUTCP paper, eq. 7."""
    return (mu / b + y) * (math.log(mu + b * y) - 1) - y * (math.log(b * y) - 1)


def shape(mu: float, b: float, weight: float = 1.0) -> TcpUtility:
    return TcpUtility(np.array([weight]), np.array([mu / b]), np.array([math.log(mu)]))


@given(positive, positive, positive)
def test_the_disciplined_form_is_the_printed_one(y: float, mu: float, b: float) -> None:
    form = (mu * math.log(mu + b * y) - float(rel_entr(b * y, mu + b * y))) / b - mu / b
    size = (mu / b + y) * (abs(math.log(mu + b * y)) + 1)  # of the terms that cancel
    assert form == pytest.approx(printed(y, mu, b), abs=1e-12 * size)
    assert shape(mu, b).value(np.array([y]))[0] == pytest.approx(form, abs=1e-12 * size)


@given(positive, positive, positive)
def test_the_slope_is_that_of_the_printed_utility(y: float, mu: float, b: float) -> None:
    y = max(y, 1e-2 * mu / b)
    y = min(y, 1e2 * mu / b)
    step = 1e-4 * y
    difference = (printed(y + step, mu, b) - printed(y - step, mu, b)) / (2 * step)
    assert shape(mu, b).slope(np.array([y]))[0] == pytest.approx(difference, rel=1e-4)
    assert shape(mu, b).slope(np.array([y]))[0] == pytest.approx(math.log((mu + b * y) / (b * y)))


SHAPES: list[Shape] = [
    Logarithm(np.array([1.0, 500.0])),
    Power(0.5, np.array([1.0, 0.2])),
    Power(2.0, np.array([1.0, 3.0])),
    ShiftedLogarithm(np.array([0.5, 2.0])),
    TcpUtility(np.array([1.0, 0.3]), np.array([0.7, 2.0]), np.array([0.1, 0.2])),
]


@pytest.mark.parametrize("own", SHAPES, ids=lambda own: type(own).__name__)
@given(st.floats(0.05, 50))
def test_slope_curvature_and_demand_belong_to_the_value(own: Shape, at: float) -> None:
    z = np.array([at, at / 2])
    step = 1e-4 * z
    slope = (own.value(z + step) - own.value(z - step)) / (2 * step)
    assert own.slope(z) == pytest.approx(slope, rel=1e-6)
    curvature = (own.slope(z + step) - own.slope(z - step)) / (2 * step)
    assert own.curvature(z) == pytest.approx(curvature, rel=1e-6)
    assert own.demand(own.slope(z)) == pytest.approx(z, rel=1e-9)


@pytest.mark.parametrize("own", SHAPES, ids=lambda own: type(own).__name__)
def test_the_solver_is_given_the_same_function(own: Shape) -> None:
    unit, scale = np.array([2.0, 0.5]), 3.0
    z = cp.Variable(2)
    expression = own.expression(z, unit, scale)
    assert cp.Problem(cp.Maximize(expression)).is_dcp()

    def stated(at: list[float]) -> float:
        z.value = np.array(at)
        return float(expression.value)

    for one, other in (([1.0, 1.0], [2.0, 1.0]), ([0.1, 30.0], [7.0, 0.2])):
        given_difference = stated(one) - stated(other)
        own_values = own.value(unit * np.array(one)) - own.value(unit * np.array(other))
        assert given_difference == pytest.approx(float(own_values.sum()) / scale, rel=1e-9)


def test_long_windows_are_given_their_asymptote() -> None:
    """log(u + 1/2), whose slope agrees with that of the utility to 1/(12 u^2)."""
    own = shape(1.0, 1.0)
    z = cp.Variable(1)
    expression = own.expression(z, np.array([500.0]), 1.0)
    z.value = np.array([1.0])
    (gradient,) = expression.grad.values()
    slope = 500 * math.log(1 + 1 / 500)
    assert float(gradient) == pytest.approx(slope, rel=2 / (12 * 500**2))


def test_parameters_that_mean_nothing_are_refused() -> None:
    with pytest.raises(InputError, match="beta is 0"):
        Xmp(0)
    with pytest.raises(InputError, match="one number for all subflows"):
        Eutcp([1.0, 1.05])  # pyright: ignore[reportArgumentType]
    with pytest.raises(InputError, match="known are 1/m, 1/m\\^2, 1/sqrt\\(m\\)"):
        Wutcp("m")  # pyright: ignore[reportArgumentType]
    with pytest.raises(InputError, match='max-min over "links"; known are flows, subflows'):
        MaxMin("links")  # pyright: ignore[reportArgumentType]
    with pytest.raises(InputError, match='weight is "T"; it must be a number or 1/T'):
        DelayWeighted(1.0, "T")  # pyright: ignore[reportArgumentType]
    with pytest.raises(InputError, match="weight is 0; it must be positive"):
        DelayWeighted(1.0, 0)
