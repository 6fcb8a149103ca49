"""Concave functions of one rate, for many rates at once.

Every utility is a sum of terms f(z), z a weighted sum of rates in packets/s, and f of one of four
shapes. Arrays have one entry a term. `expression` states the same function to cvxpy.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import cvxpy as cp
import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Vector = NDArray[np.float64]
    Indices = NDArray[np.intp]
    Flags = NDArray[np.bool_]

# Windows from which on the solver is given the asymptote of U_tcp.
_LONG_WINDOW = 200.0


class Shape(Protocol):
    """A concave, increasing function of each z > 0 (packets/s)."""

    def value(self, z: Vector) -> Vector:
        """f(z)."""
        ...

    def slope(self, z: Vector) -> Vector:
        """f'(z), in s/packet; infinite at zero where it is."""
        ...

    def curvature(self, z: Vector) -> Vector:
        """f''(z), below zero."""
        ...

    def demand(self, price: Vector) -> Vector:
        """The z that maximises f(z) - price z."""
        ...

    def expression(self, z: Any, unit: Vector, scale: float) -> Any:
        """The sum of f(unit z) / scale up to a constant, for a cvxpy expression z."""
        ...

    def kept(self, at: Indices) -> Shape:
        """The shape of some of the terms."""
        ...


@dataclass(frozen=True)
class Logarithm:
    """weight log z."""

    weight: Vector

    def value(self, z: Vector) -> Vector:
        with np.errstate(divide="ignore"):
            return self.weight * np.log(z)

    def slope(self, z: Vector) -> Vector:
        with np.errstate(divide="ignore"):
            return self.weight / z

    def curvature(self, z: Vector) -> Vector:
        return -self.weight / z**2

    def demand(self, price: Vector) -> Vector:
        with np.errstate(divide="ignore"):
            return self.weight / price

    def expression(self, z: Any, unit: Vector, scale: float) -> Any:  # noqa: ARG002
        return (self.weight / scale) @ cp.log(z)

    def kept(self, at: Indices) -> Shape:
        return Logarithm(self.weight[at])


@dataclass(frozen=True)
class Power:
    """weight z^(1 - alpha) / (1 - alpha)."""

    alpha: float
    weight: Vector

    def value(self, z: Vector) -> Vector:
        with np.errstate(divide="ignore"):
            return self.weight * z ** (1 - self.alpha) / (1 - self.alpha)

    def slope(self, z: Vector) -> Vector:
        with np.errstate(divide="ignore"):
            return self.weight * z**-self.alpha

    def curvature(self, z: Vector) -> Vector:
        return -self.alpha * self.weight * z ** (-self.alpha - 1)

    def demand(self, price: Vector) -> Vector:
        with np.errstate(divide="ignore"):
            return (price / self.weight) ** (-1 / self.alpha)

    def expression(self, z: Any, unit: Vector, scale: float) -> Any:
        exponent = 1 - self.alpha
        weight = self.weight * unit**exponent / (abs(exponent) * scale)
        power = cp.power(z, exponent, approx=False)
        return weight @ power if exponent > 0 else -(weight @ power)

    def kept(self, at: Indices) -> Shape:
        return Power(self.alpha, self.weight[at])


@dataclass(frozen=True)
class ShiftedLogarithm:
    """k log(1 + z/k): XMP's, with k = beta / T."""

    k: Vector

    def value(self, z: Vector) -> Vector:
        return self.k * np.log1p(z / self.k)

    def slope(self, z: Vector) -> Vector:
        return self.k / (self.k + z)

    def curvature(self, z: Vector) -> Vector:
        return -self.k / (self.k + z) ** 2

    def demand(self, price: Vector) -> Vector:
        with np.errstate(divide="ignore"):
            return np.maximum(self.k / price - self.k, 0.0)

    def expression(self, z: Any, unit: Vector, scale: float) -> Any:
        return (self.k / scale) @ cp.log(z + self.k / unit)

    def kept(self, at: Indices) -> Shape:
        return ShiftedLogarithm(self.k[at])


@dataclass(frozen=True)
class TcpUtility:
    """weight U_tcp(z), with k = mu / b (packets/s) and log_mu = log mu.

    U_tcp(z) = k (log mu - 1 + h(z/k)), h(u) = log(1 + u) + u log(1 + 1/u) and h'(u) = log(1 + 1/u).
    For Reno u is half the window in packets.
    """

    weight: Vector
    k: Vector
    log_mu: Vector

    def value(self, z: Vector) -> Vector:
        u = z / self.k
        with np.errstate(divide="ignore", invalid="ignore"):
            rest = np.where(u > 0, u * np.log1p(1 / u), 0.0)
        return self.weight * self.k * (self.log_mu - 1 + np.log1p(u) + rest)

    def slope(self, z: Vector) -> Vector:
        with np.errstate(divide="ignore"):
            return self.weight * np.log1p(self.k / z)

    def curvature(self, z: Vector) -> Vector:
        return -self.weight * self.k / (z * (self.k + z))

    def demand(self, price: Vector) -> Vector:
        with np.errstate(divide="ignore", over="ignore"):
            return self.k / np.expm1(price / self.weight)

    def expression(self, z: Any, unit: Vector, scale: float) -> Any:
        """The disciplined form log(1 + u) - rel_entr(u, 1 + u) for short windows.

        The second part is a small difference of large numbers when u is large. Above 100,
        log(u + 1/2) has the same slope within 1/(12 u^2) of it; refinement and residuals have the
        utility itself.
        """
        weight = self.weight * self.k / scale
        epsilon = self.k / unit
        long = 2 / epsilon > _LONG_WINDOW
        parts: list[Any] = []
        if long.any():
            parts.append(weight[long] @ cp.log(z[np.flatnonzero(long)] + epsilon[long] / 2))
        if not long.all():
            short = np.flatnonzero(~long)
            base = z[short] + epsilon[short]
            parts.append(weight[short] @ cp.log(base))
            parts.append(-(weight[short] / epsilon[short]) @ cp.rel_entr(z[short], base))
        return sum(parts)

    def kept(self, at: Indices) -> Shape:
        return TcpUtility(self.weight[at], self.k[at], self.log_mu[at])
