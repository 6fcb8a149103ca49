"""What an allocation maximises, by flow: the utilities of the published controllers.

y is the sum of a flow's rates x_r over its m subflows, tau_r a subflow's base RTT (s). Rates inside
a utility are in packets/s, so that the sum over flows with different utilities means something.

`Tcp` and `Eutcp` have one tau for a flow, the mean of its tau_r. EUTCP's rule has each subflow's
own, so it maximises `Eutcp` only where the subflows of each flow have equal RTTs. The other classes
hold for any RTTs.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from pathweave.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True)
class ProportionalFairness:
    """log y."""


@dataclass(frozen=True)
class AlphaFairness:
    """y^(1 - alpha) / (1 - alpha), log y when alpha is 1 (Mo and Walrand 2000); alpha above 0.

    With alpha near 0 the sum of the rates counts, with a large one the smallest rate.
    """

    alpha: float

    def __post_init__(self) -> None:
        _positive(self.alpha, "alpha")


@dataclass(frozen=True)
class DelayWeighted:
    """A weight times alpha-fairness of the sum over r of x_r T / tau_r, T = min over r of tau_r.

    FMPTCP paper, eq. 1, with the base RTT for the delay of a path. FCC has alpha = 1, and its
    alpha_total (1/s) as the weight: by default that is "1/T", each flow's own.
    """

    alpha: float = 1.0
    weight: float | Literal["1/T"] = 1.0

    def __post_init__(self) -> None:
        _positive(self.alpha, "alpha")
        if isinstance(self.weight, str):
            if self.weight != "1/T":
                raise InputError(f'weight is "{self.weight}"; it must be a number or 1/T')
        else:
            _positive(self.weight, "weight")


@dataclass(frozen=True)
class Xmp:
    """(beta / T) log(1 + y T / beta), T = min over r of tau_r (XMP paper, eq. 6)."""

    beta: float = 4.0

    def __post_init__(self) -> None:
        _positive(self.beta, "beta")


@dataclass(frozen=True)
class Tcp:
    """U_tcp(y) = (mu/b + y)(log(mu + b y) - 1) - y (log(b y) - 1)  (EUTCP paper, eq. 7).

    mu is in packets/s^2, b per second. Left out they are Reno's: mu = 1/tau^2 and
    b = 1/(2 tau), tau the mean of the tau_r.
    """

    mu: float | None = None
    b: float | None = None

    def __post_init__(self) -> None:
        for value, name in ((self.mu, "mu"), (self.b, "b")):
            if value is not None:
                _positive(value, name)


@dataclass(frozen=True)
class Eutcp:
    """(1/gamma) U_tcp(gamma y), which EUTCP's rule as printed (eq. 21) maximises for equal RTTs.

    U_tcp has Reno's mu and b. Only one gamma for all subflows: with several, or with several RTTs,
    the rule's equilibrium prices log(1 + 2/(gamma_r tau_r y)) are not the gradient of anything.
    """

    gamma: float = 1.05

    def __post_init__(self) -> None:
        if not isinstance(self.gamma, int | float):
            raise InputError(
                "EUTCP has a utility only when gamma is one number for all subflows: with several,"
                " what its rule settles at maximises nothing"
            )
        _positive(self.gamma, "gamma")


OmegaRule = Literal["1/m", "1/m^2", "1/sqrt(m)"]
_OMEGA_RULES = {"1/m": 1.0, "1/m^2": 2.0, "1/sqrt(m)": 0.5}


@dataclass(frozen=True)
class Wutcp:
    """Sum over r of omega_r U_tcp(x_r), each with its own tau_r in mu and b (EUTCP paper, eq. 22).

    omega is one number, one for each subflow, or a rule; 1/m^2 is EWTCP.
    """

    omega: float | Sequence[float] | OmegaRule = "1/m"

    def __post_init__(self) -> None:
        if isinstance(self.omega, str):
            if self.omega not in _OMEGA_RULES:
                raise InputError(f'omega is "{self.omega}"; known are {", ".join(_OMEGA_RULES)}')
        elif isinstance(self.omega, int | float):
            _positive(self.omega, "omega")
        else:
            object.__setattr__(self, "omega", tuple(float(value) for value in self.omega))
            for value in self.omega:
                _positive(value, "omega")

    def weights(self, subflows: int) -> tuple[float, ...]:
        """omega_r of a flow with that many subflows."""
        if isinstance(self.omega, str):
            return (subflows ** -_OMEGA_RULES[self.omega],) * subflows
        if isinstance(self.omega, int | float):
            return (float(self.omega),) * subflows
        if len(self.omega) != subflows:
            raise InputError(f"{len(self.omega)} values of omega for {subflows} subflows")
        return tuple(self.omega)


@dataclass(frozen=True)
class MaxMin:
    """Lexicographic max-min fairness of the flows' sums, or of the subflows' rates.

    The smallest rate is as large as can be, then the second smallest, and so on. It orders all
    flows at once, so that it cannot be mixed with other utilities.
    """

    over: Literal["flows", "subflows"] = "flows"

    def __post_init__(self) -> None:
        if self.over not in ("flows", "subflows"):
            raise InputError(f'max-min over "{self.over}"; known are flows, subflows')


Concave = ProportionalFairness | AlphaFairness | DelayWeighted | Xmp | Tcp | Eutcp | Wutcp
"""The utilities that are a function of a flow's rates."""

Utility = Concave | MaxMin


def _positive(value: float, name: str) -> None:
    if not (math.isfinite(value) and value > 0):
        raise InputError(f"{name} is {value}; it must be positive")
