"""All cases, with what is predicted.

One file of over 800 lines: it is the table of the page, read from top to bottom, and a case means little without those of the
same controller next to it.
"""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING, Any

import properties
import theory
from network import Group, Link, Measured, handshake_rtt_s, proportional, scenario, step
from rows import AT_LEAST, AT_MOST, REFUSED, Case, Row, absolute, relative

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

GBPS = 1e9 / 12000
"""Full packets a second at 1 Gbps."""
SHORT, LONG = 2e-3, 6e-3
"""The two base RTTs (s)."""
WINDOWS = {"windows": "500 us"}
COUNTS = (1, 2, 4, 8, 16)


def bos(flows: int, path: int, rtt: float, name: str = "single") -> Group:
    """Single-path flows under BOS."""
    return Group(name, {"name": "bos", "beta": 4}, ((path, rtt),), flows)


def cases() -> Iterator[Case]:
    """All of them, in the order of the table."""
    yield from reno_like()
    yield from dctcp()
    yield from xmp()
    yield from eutcp()
    yield from amp()
    yield from dcm()
    yield from fcc()
    yield from refusals()


# Reno, LIA, OLIA, Balia, EUTCP and WUTCP where each packet is lost by itself.


def _lossy(
    name: str,
    controller: str | dict[str, Any],
    losses: tuple[float, float],
    rtts: tuple[float, float],
    rows: tuple[Row, ...],
) -> Case:
    """A multipath flow on two lossy paths that nothing else uses, and Reno on the better one."""
    best = 0 if losses[0] * rtts[0] ** 2 <= losses[1] * rtts[1] ** 2 else 1
    links = [Link({"limit": 5000}, 1e10, loss) for loss in (*losses, losses[best])]
    groups = [
        Group("multipath", controller, ((0, rtts[0]), (1, rtts[1])), 2),
        Group("reno", "reno", ((2, rtts[best]),), 2),
    ]
    return Case(name, rows, partial(scenario, links, groups, 45, 5))


def _to_reno(m: Measured) -> float:
    return m.rate("multipath") / m.rate("reno")


def _split(m: Measured) -> float:
    return m.rate("multipath", 0) / m.rate("multipath", 1)


def _second(m: Measured) -> float:
    return m.rate("multipath", 1) / m.rate("multipath")


def reno_like() -> Iterator[Case]:
    """Random losses, which the balance of increase and cut is about."""
    for loss in (5e-4, 1e-3, 2e-3):
        for rtt in (SHORT, LONG):
            predicted = theory.STOCHASTIC_RENO / math.sqrt(loss) / rtt / GBPS
            links = [Link({"limit": 5000}, 1e10, loss)]
            groups = [Group("reno", "reno", ((0, rtt),), 2)]
            yield Case(
                f"reno-loss-{loss:g}-{rtt * 1e3:g}ms",
                (Row("rate, Gbps", predicted, relative(0.1), lambda m: m.rate("reno")),),
                partial(scenario, links, groups, 45, 5),
            )
    total = "rate to Reno's on the best path"
    split = "rate on path 1 to path 2"
    second = "share of path 2"
    shapes = {
        "equal": ((1e-3, 1e-3), (SHORT, SHORT)),
        "loss-1-2": ((1e-3, 2e-3), (SHORT, SHORT)),
        "loss-1-4": ((1e-3, 4e-3), (SHORT, SHORT)),
        "rtt-2-6": ((1e-3, 1e-3), (SHORT, LONG)),
    }
    for shape, (losses, rtts) in shapes.items():
        rho = losses[1] * rtts[1] ** 2 / (losses[0] * rtts[0] ** 2)
        case = partial(_lossy, losses=losses, rtts=rtts)
        as_reno = Row(total, 1.0, relative(0.15), _to_reno)
        rows = [as_reno, Row(split, theory.lia_ratio(losses, rtts), relative(0.2), _split)]
        yield case(f"lia-{shape}", "lia", rows=tuple(rows))
        rows = [as_reno]
        if rho > 1:
            rows.append(Row(second, 0.15, AT_MOST, _second))
        yield case(f"olia-{shape}", "olia", rows=tuple(rows))
        rows = [as_reno]
        if rho > 1:
            rows.append(Row(split, theory.balia_ratio(rho), relative(0.25), _split))
        yield case(f"balia-{shape}", "balia", rows=tuple(rows))
        reno = theory.reno_rate(losses[0], rtts[0])
        for gamma in (1.0, 1.1):
            predicted = theory.semicoupled_total(losses, rtts, gamma) / reno
            rows = [
                Row(total, predicted, relative(0.1), _to_reno),
                Row(split, rho, relative(0.2), _split),
            ]
            name = f"eutcp-{gamma:g}-{shape}"
            yield case(name, {"name": "eutcp", "gamma": gamma}, rows=tuple(rows))
        for omega in (0.5, 0.25):
            both = sum(theory.reno_rate(loss, rtt) for loss, rtt in zip(losses, rtts, strict=True))
            rows = [
                Row(total, math.sqrt(omega) * both / reno, relative(0.1), _to_reno),
                Row(split, math.sqrt(rho), relative(0.15), _split),
            ]
            name = f"wutcp-{omega:g}-{shape}"
            yield case(name, {"name": "wutcp", "omega": omega}, rows=tuple(rows))
    yield from _unequal("reno-rtts", "reno", 1, {"limit": 300}, solve=True)
    yield from _unequal(
        "reno-rtts-ack2",
        "reno",
        1,
        {"limit": 300},
        solve=False,
        transport={"ack_every": 2},
        added="Tests whether an ACK for every packet is why reno-rtts favours the longer RTT: the"
        " packet that finds the queue full is then the one that a window's growth adds.",
    )


# Flows of 2 and of 6 ms on one link.


def _unequal(
    name: str,
    controller: str | dict[str, Any],
    subflows: int,
    queue: dict[str, Any],
    *,
    solve: bool,
    counts: tuple[int, ...] = (1, 4),
    utility: bool = True,
    cut: float | None = None,
    transport: dict[str, Any] | None = None,
    added: str = "",
) -> Iterator[Case]:
    """Two bounds. Windows are equal if packets are marked alike, which the utilities say, too.

    If every congestion episode meets every flow, a flow of RTT T has p = T times their frequency,
    and its window goes as 1/T.
    """

    def windows(m: Measured) -> float:
        return m.window("long") / m.window("short")

    def base_windows(m: Measured) -> float:
        return m.rate("long") * LONG / (m.rate("short") * SHORT)

    def times_rtt(m: Measured) -> float:
        return windows(m) * m.rtt("long") / m.rtt("short")

    def rounds(m: Measured) -> float:
        return m.cuts_per_round("long", cut or 0) / m.cuts_per_round("short", cut or 0)

    later = "Added to find out why the two rows above do not both hold; predicted before its run."
    for count in counts:
        groups = [
            Group("short", controller, ((0, SHORT),) * subflows, count),
            Group("long", controller, ((0, LONG),) * subflows, count),
        ]
        text = "by utility" if utility else "if packets are marked alike"
        equal = Row(
            f"window of 6 ms to 2 ms, {text}",
            1.0,
            relative(0.2),
            windows,
            base_windows if solve and utility else None,
            added=""
            if utility
            else "Added when the row below had run, from which its value can be worked out: not a"
            " blind prediction.",
        )
        rows = [
            equal,
            Row(
                "window x RTT of 6 ms to 2 ms, if all are marked together",
                1.0,
                relative(0.25),
                times_rtt,
            ),
        ]
        if cut is not None:
            rows += [
                Row(
                    "cuts a second of 6 ms to 2 ms, if all are marked together",
                    1.0,
                    relative(0.15),
                    lambda m: rounds(m) * m.rtt("short") / m.rtt("long"),
                    added=later,
                ),
                Row(
                    "window x marked rounds of 6 ms to 2 ms",
                    1.0,
                    relative(0.15),
                    lambda m: windows(m) * rounds(m),
                    added=later,
                ),
            ]
        yield Case(
            f"{name}-{count}+{count}",
            tuple(rows),
            partial(
                scenario,
                [Link(queue)],
                groups,
                30,
                8,
                record=WINDOWS if cut is not None else {},
                transport=transport,
            ),
            solve=solve,
            added=added,
        )


def dctcp() -> Iterator[Case]:
    """DCTCP: the queue of synchronous flows, and their share of marks."""
    bdp, k = SHORT * GBPS, 40
    for flows in COUNTS[:4]:
        groups = [Group("flows", "dctcp", ((0, SHORT),), flows)]
        yield Case(
            f"dctcp-{flows}",
            (
                Row(
                    "mean queue, packets",
                    theory.dctcp_queue(bdp, k, flows),
                    relative(0.15),
                    lambda m: m.link("queue_mean"),
                ),
                Row(
                    "share of marked packets",
                    theory.dctcp_alpha(bdp, k, flows),
                    relative(0.2),
                    lambda m: m.link("marks") / m.link("packets"),
                ),
            ),
            partial(scenario, [Link(step(k))], groups, 20, 5),
        )
    yield from _unequal("dctcp-rtts", "dctcp", 1, step(100), solve=True, utility=False)


def xmp() -> Iterator[Case]:
    """BOS and XMP."""
    bdp = SHORT * GBPS
    for k in (5, 20, 56, 80):
        for flows in (1, 4):
            predicted = theory.sawtooth_utilisation(bdp, k, 4)
            yield Case(
                f"bos-k{k}-{flows}",
                (
                    Row(
                        "utilisation",
                        predicted,
                        absolute(0.015),
                        lambda m: m.link("utilisation"),
                    ),
                ),
                partial(scenario, [Link(step(k))], [bos(flows, 0, SHORT)], 10, 3),
            )
    for flows in COUNTS:
        k = 60
        groups = [Group("flows", {"name": "xmp", "beta": 4}, ((0, SHORT),), flows)]
        window = (bdp + k) / flows + 1
        yield Case(
            f"xmp-marks-{flows}",
            (
                Row(
                    "share of marked rounds",
                    theory.xmp_marks(window, 4),
                    relative(0.15),
                    lambda m: m.cuts_per_round("flows", 0.25),
                ),
                Row(
                    "smallest rate to mean",
                    0.8,
                    AT_LEAST,
                    lambda m: float(m.rates("flows").min() / m.rates("flows").mean()),
                    lambda m: float(m.rates("flows").min() / m.rates("flows").mean()),
                ),
            ),
            partial(scenario, [Link(step(k))], groups, 12, 4, record=WINDOWS),
            solve=True,
        )
    yield from _unequal(
        "xmp-rtts",
        {"name": "xmp", "beta": 4},
        1,
        step(120),
        solve=True,
        counts=(1, 2, 4),
        cut=0.25,
    )
    for singles in ((1, 1), (1, 3)):
        yield _two_rtts(
            f"xmp-paths-{singles[0]}-{singles[1]}",
            {"name": "xmp", "beta": 4},
            {"name": "bos", "beta": 4},
            singles,
            theory.two_paths(theory.xmp_equals((SHORT, LONG)), singles),
            marked=True,
        )
    for flows in (1, 2, 8):
        yield _pool(f"xmp-pool-{flows}", {"name": "xmp", "beta": 4}, {"name": "bos"}, flows, 60)
    yield _shift()
    yield Case(
        "xmp-proposition-1",
        (Row("counterexamples of 10,000", 0, AT_MOST),),
        compute=properties.xmp_proposition_1,
    )


def _marks(m: Measured, subflow: int) -> float:
    return m.cuts_per_round("multipath", 0.25, subflow)


def _two_rtts(
    name: str,
    controller: str | dict[str, Any],
    single: str | dict[str, Any],
    singles: tuple[int, int],
    predicted: tuple[float, float, float, float],
    *,
    marked: bool = False,
    queues: tuple[dict[str, Any], dict[str, Any]] | None = None,
    tolerance: float = 0.06,
    transport: dict[str, Any] | None = None,
    solve: bool = True,
    added: str = "",
) -> Case:
    """A flow on a path of 2 and one of 6 ms, each with single-path flows of the same RTT.

    Thresholds are 36 % of the BDP, so that queues lengthen both RTTs by the same share.
    """
    links = [Link(queue) for queue in queues or (step(60), step(180))]
    groups = [
        Group("multipath", controller, ((0, SHORT), (1, LONG))),
        Group("single 1", single, ((0, SHORT),), singles[0]),
        Group("single 2", single, ((1, LONG),), singles[1]),
    ]
    parts: list[tuple[str, str, int | None]] = [
        ("multipath flow on path 1, Gbps", "multipath", 0),
        ("multipath flow on path 2, Gbps", "multipath", 1),
        ("a single-path flow on path 1, Gbps", "single 1", None),
        ("a single-path flow on path 2, Gbps", "single 2", None),
    ]

    def reader(group: str, subflow: int | None) -> Callable[[Measured], float]:
        return lambda m: m.rate(group, subflow)

    rows = [
        Row(text, value, absolute(tolerance), reader(group, subflow), reader(group, subflow))
        for (text, group, subflow), value in zip(parts, predicted, strict=True)
    ]
    if marked:

        def level(m: Measured, subflow: int) -> float:
            y = m.rate("multipath") * 1e9 / 12000
            rtt = min(m.rtt("multipath", 0), m.rtt("multipath", 1))
            return _marks(m, subflow) / theory.xmp_marks(y * rtt, 4)

        rows += [
            Row(
                "marked rounds on path 1 to path 2",
                1.0,
                relative(0.2),
                lambda m: _marks(m, 0) / _marks(m, 1),
            ),
            Row("marked rounds on path 1 to U'(y)", 1.0, relative(0.2), lambda m: level(m, 0)),
            Row("marked rounds on path 2 to U'(y)", 1.0, relative(0.2), lambda m: level(m, 1)),
        ]
    return Case(
        name,
        tuple(rows),
        partial(
            scenario, links, groups, 28, 9, record=WINDOWS if marked else {}, transport=transport
        ),
        solve=solve,
        added=added,
    )


def _pool(
    name: str,
    controller: str | dict[str, Any],
    single: str | dict[str, Any],
    flows: int,
    k: float,
    queue: dict[str, Any] | None = None,
) -> Case:
    """Two equal links: n flows on both, n on the second alone; all have the same total."""
    links = [Link(queue or step(k))] * 2
    groups = [
        Group("multipath", controller, ((0, SHORT), (1, SHORT)), flows),
        Group("single", single, ((1, SHORT),), flows),
    ]
    return Case(
        name,
        tuple(
            Row(
                f"a {text} flow to the fair share",
                1.0,
                relative(0.15),
                lambda m, group=group: m.rate(group) * flows,
                lambda m, group=group: m.rate(group) * flows,
            )
            for text, group in (("multipath", "multipath"), ("single-path", "single"))
        ),
        partial(scenario, links, groups, 18, 6),
        solve=True,
    )


def _shift() -> Case:
    """Traffic shifting: a third flow joins two on the second link, of 2 Gbps, at 20 s.

    Before and after, delta_2 = x_2 / y follows from equal congestion.
    """
    links = [Link(step(60)), Link(step(120, 4000), 2e9)]
    equals = theory.xmp_equals((SHORT, SHORT))
    groups = [
        Group("multipath", {"name": "xmp", "beta": 4}, ((0, SHORT), (1, SHORT))),
        bos(1, 0, SHORT, "single 1"),
        bos(2, 1, SHORT, "single 2"),
        Group("late", {"name": "bos", "beta": 4}, ((1, SHORT),), 1, start_s=20),
    ]
    rows: list[Row] = []
    for text, others, start in (("before", 2, 8.0), ("after", 3, 28.0)):
        first, second, _, _ = theory.two_paths(equals, (1, others), 1, (1.0, 2.0))
        rows.append(
            Row(
                f"delta of subflow 2 {text} a flow joins it",
                second / (first + second),
                absolute(0.1),
                lambda m, start=start: properties.share_of_second(m, start, start + 12),
            )
        )
    return Case("xmp-shift", tuple(rows), partial(scenario, links, groups, 40, 0, record=WINDOWS))


def eutcp() -> Iterator[Case]:
    """EUTCP and WUTCP under marks that all flows see in the same round."""
    bdp, k = SHORT * GBPS, 170
    for flows in COUNTS:
        total = (bdp + k) / flows
        for gamma in (1.0, 1.1) if flows in (1, 8) else (1.0,):
            controller = {"name": "eutcp", "gamma": gamma, "ecn": "on"}
            groups = [Group("flows", controller, ((0, SHORT),) * 2, flows)]
            yield Case(
                f"eutcp-{gamma:g}-marks-{flows}",
                (
                    Row(
                        "share of congested rounds",
                        theory.eutcp_marks(total, gamma),
                        relative(0.15),
                        lambda m, gamma=gamma: m.cuts_per_round("flows", gamma / 2),
                    ),
                    Row(
                        "smallest rate to mean",
                        0.8,
                        AT_LEAST,
                        lambda m: float(m.rates("flows").min() / m.rates("flows").mean()),
                        lambda m: float(m.rates("flows").min() / m.rates("flows").mean()),
                    ),
                ),
                partial(scenario, [Link(step(k))], groups, 12, 4, record=WINDOWS),
                solve=True,
            )
        controller = {"name": "wutcp", "omega": 0.5, "ecn": "on"}
        groups = [Group("flows", controller, ((0, SHORT),) * 2, flows)]
        yield Case(
            f"wutcp-marks-{flows}",
            (
                Row(
                    "share of congested rounds",
                    theory.wutcp_marks(total / 2, 0.5),
                    relative(0.15),
                    lambda m: m.cuts_per_round("flows", 0.5),
                ),
            ),
            partial(scenario, [Link(step(k))], groups, 12, 4, record=WINDOWS),
        )
    whole = {"name": "eutcp", "gamma": 1, "ecn": "on"}
    half = {"name": "wutcp", "omega": 0.5, "ecn": "on"}
    tcp = {"name": "wutcp", "omega": 1, "ecn": "on"}
    yield from _unequal("eutcp-rtts", whole, 2, step(300), solve=True, cut=0.5)
    yield from _unequal("wutcp-rtts", half, 2, step(300), solve=True, cut=0.5)
    for flows in (1, 2, 8):
        yield _pool(f"eutcp-pool-{flows}", whole, whole, flows, 300)
    links = [Link(step(300))] * 2
    for flows in (1, 4):
        groups = [
            Group("multipath", half, ((0, SHORT), (1, SHORT)), flows),
            Group("single", tcp, ((1, SHORT),), flows),
        ]

        def on_second(m: Measured, flows: int = flows) -> float:
            return m.rate("multipath", 1) * flows

        yield Case(
            f"wutcp-weights-{flows}",
            (Row("multipath flows on link 2, Gbps", 1 / 3, absolute(0.04), on_second, on_second),),
            partial(scenario, links, groups, 18, 6),
            solve=True,
        )
    thresholds = (step(170), step(510))
    for singles in ((1, 1), (2, 2)):
        yield _two_rtts(
            f"eutcp-paths-{singles[0]}-{singles[1]}",
            whole,
            whole,
            singles,
            theory.two_paths(theory.eutcp_equals(), singles),
            queues=thresholds,
        )
        yield _two_rtts(
            f"wutcp-paths-{singles[0]}-{singles[1]}",
            half,
            tcp,
            singles,
            theory.two_paths(theory.wutcp_equals(0.5), singles),
            queues=thresholds,
        )


def amp() -> Iterator[Case]:
    """The minimum window syndrome, and what AMP does about it."""
    rtt, k = 240e-6, 10
    bdp = rtt * GBPS
    needed = (bdp + k) / 2
    for flows in (8, 12, 14, 16, 18, 24):
        groups = [Group("flows", "dctcp", ((0, rtt),), flows)]
        marked = Row(
            f"share of marked packets, threshold {needed:g} flows",
            0.99 if flows > needed else 0.9,
            AT_LEAST if flows > needed else AT_MOST,
            lambda m: m.link("marks") / m.link("packets"),
        )
        queue = Row(
            "mean queue, packets",
            2 * flows - bdp if flows > needed else k + flows,
            relative(0.1) if flows > needed else AT_MOST,
            lambda m: m.link("queue_mean"),
            corrected=""
            if flows > needed
            else "K + 1 left out that the queue of n synchronous flows goes up to K + n.",
        )
        yield Case(
            f"minimum-window-{flows}",
            (marked, queue),
            partial(scenario, [Link(step(k))], groups, 3, 1),
        )
    on = {"name": "amp", "suppression": "on"}
    off = {"name": "amp", "suppression": "off"}
    for name, controller in (("xmp", {"name": "xmp"}), ("amp-off", off), ("amp-on", on)):
        for others in (4, 20):
            beyond = others + 4 > needed
            groups = [
                Group("multipath", controller, ((0, rtt),) * 4),
                Group("single", "dctcp", ((0, rtt),), others),
            ]

            def ratio(m: Measured) -> float:
                return m.rate("multipath") / m.rate("single")

            if not beyond:
                row = Row("multipath flow to DCTCP flow", 2.0, AT_MOST, ratio)
            else:
                predicted = 1.0 if name == "amp-on" else 4.0
                row = Row("multipath flow to DCTCP flow", predicted, relative(0.2), ratio)
            rows = [row]
            if name == "amp-on":
                rows.append(
                    Row(
                        "share of time that subflow 2 is suspended",
                        0.9 if beyond else 0.05,
                        AT_LEAST if beyond else AT_MOST,
                        properties.suspended,
                    )
                )
            yield Case(
                f"{name}-beside-{others}",
                tuple(rows),
                partial(scenario, [Link(step(k))], groups, 3, 1, record={"suspensions": True}),
            )
    hypothesis = (
        "amp-on-beside-4 suspends below the threshold of the paper. Tests whether a connection of"
        " m subflows does so beyond (BDP + K) / (m cwnd_min) connections, where its coupled windows"
        " would sum to less than m times the minimum."
    )
    second = (
        "amp-suspended-9 refutes that. Beside n DCTCP flows a round is marked with f = root of"
        " 2 n / (BDP + K), AMP's windows sum to beta (1/f - 1), and a suspended subflow returns"
        " after 8 rounds without a mark. Tests n = 1, where windows are above 3 and cycles longer"
        " than 8 rounds (f < 1/4 and f < 1/8)."
    )
    for others, stuck, added in (
        (8, False, hypothesis),
        (40, True, hypothesis),
        (1, False, second),
    ):
        threshold = "7.1 DCTCP flows" if others == 1 else "28.3 connections"
        groups = [
            Group("multipath", on, ((0, SHORT),) * 4),
            Group("single", "dctcp", ((0, SHORT),), others),
        ]
        row = Row(
            f"share of time that subflow 2 is suspended, threshold {threshold}",
            0.9 if stuck else 0.05,
            AT_LEAST if stuck else AT_MOST,
            properties.suspended,
        )
        yield Case(
            f"amp-suspended-{others + 1}",
            (row,),
            partial(scenario, [Link(step(60))], groups, 6, 1, record={"suspensions": True}),
            added=added,
        )
    for singles in ((1, 1), (1, 3)):
        yield _two_rtts(
            f"amp-paths-{singles[0]}-{singles[1]}",
            {"name": "amp", "suppression": "off"},
            {"name": "bos", "beta": 4},
            singles,
            theory.two_paths(theory.amp_equals((SHORT, LONG)), singles),
        )
    for flows in (1, 8):
        yield _pool(f"amp-pool-{flows}", {"name": "amp"}, {"name": "bos"}, flows, 60)


def dcm() -> Iterator[Case]:
    """DCM's increase beside AMP's and XMP's (AMP paper, section 4): at most as large."""
    for shape, rtts in (("equal", (SHORT, SHORT)), ("2-6", (SHORT, LONG))):
        names = ("amp", "xmp", "dcm", "lia")
        links = [Link({"limit": 5000}, 1e10)] * 8
        groups = [
            Group(name, name, ((2 * at, rtts[0]), (2 * at + 1, rtts[1])))
            for at, name in enumerate(names)
        ]
        grown = partial(theory.growth, rtts=rtts, start=0.1, end=1.0, initial=20.0)
        amp_grows = grown(theory.amp_increase)
        rows: list[Row] = []
        for name, increase in (
            ("xmp", theory.xmp_increase),
            ("dcm", theory.dcm_increase),
            ("lia", theory.dcm_increase),
        ):
            rows.append(
                Row(
                    f"growth of {name}'s windows to AMP's",
                    grown(increase) / amp_grows,
                    relative(0.03),
                    lambda m, name=name: (
                        properties.grown(m, name, 0.1) / properties.grown(m, "amp", 0.1)
                    ),
                )
            )
        yield Case(
            f"increases-{shape}",
            tuple(rows),
            partial(
                scenario,
                links,
                groups,
                1,
                0,
                record=WINDOWS,
                transport={"initial_ssthresh": 20},
            ),
        )
    yield Case(
        "dcm-inequality",
        (
            Row("counterexamples of 10,000, equal RTTs", 0, AT_MOST),
            Row("counterexamples of 10,000, unequal RTTs", 1, AT_LEAST),
        ),
        compute=properties.dcm_inequality,
    )


def fcc() -> Iterator[Case]:
    """FCC: beta = alpha."""
    minimum = {"minimum_window": 1}
    for flows in COUNTS:
        rtt = 420e-6
        link = Link(proportional(100))
        share = theory.fcc_occupancy(flows, 1 / handshake_rtt_s(link, rtt), GBPS)
        groups = [Group("flows", "fcc", ((0, rtt),), flows)]
        yield Case(
            f"fcc-{flows}",
            (
                Row(
                    "occupied share of the queue",
                    share,
                    relative(0.25 if flows < 4 else 0.1),
                    lambda m: m.link("queue_mean") / 100,
                ),
                Row("lost packets", 0, AT_MOST, lambda m: m.link("drops")),
                Row(
                    "smallest rate to mean",
                    0.85,
                    AT_LEAST,
                    lambda m: float(m.rates("flows").min() / m.rates("flows").mean()),
                    lambda m: float(m.rates("flows").min() / m.rates("flows").mean()),
                ),
            ),
            partial(scenario, [link], groups, 6, 2, transport=minimum),
            solve=True,
        )
    rtt = 240e-6
    link = Link(proportional(100))
    base = handshake_rtt_s(link, rtt)
    sizes = ((8, 1), (12, 1), (16, 1), (20, 1), (24, 1), (4, 2), (4, 3), (4, 6), (4, 5))
    for flows, times in sizes:
        controller = {"name": "fcc", "alpha_total": round(times / base)}
        share = theory.fcc_occupancy(flows, times / base, GBPS)
        groups = [Group("flows", controller, ((0, rtt),), flows)]
        below, rests = share < 0.7, 0.7 <= share < 1
        rows = (
            Row(
                "occupied share of the queue",
                share if below else 0.75,
                relative(0.1) if below else AT_LEAST,
                lambda m: m.link("queue_mean") / 100,
            ),
            Row(
                f"lost packets of a million, n alpha_total / C = {share:.2f}",
                0 if below or rests else 10,
                AT_MOST if below or rests else AT_LEAST,
                lambda m: 1e6 * m.link("drops") / m.link("packets"),
                corrected="Losses were predicted from 0.8 on. Between 0.8 and 1 the queue can rest"
                " at 0.8: below it packets are marked with up to 0.8, above it always."
                if rests
                else "",
            ),
        )
        yield Case(
            f"fcc-high-{flows}x{times}",
            rows,
            partial(scenario, [link], groups, 6, 2, transport=minimum),
            added="The same n alpha_total / C as fcc-high-20x1, with windows of 30 packets in place"
            " of 6: tests whether whole packets are why that one loses nothing."
            if (flows, times) == (4, 5)
            else "",
        )
    yield _fcc_long_queue("fcc-1-of-1000", 1, 1, 420e-6, minimum)
    yield _fcc_long_queue("fcc-minimum-2x8-of-400", 2, 8, 120e-6, minimum)
    yield from _fcc_minimum(minimum)
    yield from _fcc_delays(minimum)
    yield Case(
        "fmptcp-proposition-1",
        (Row("counterexamples of 60 networks", 0, AT_MOST),),
        compute=properties.fmptcp_proposition_1,
    )
    yield Case(
        "fmptcp-proposition-2",
        (Row("counterexamples of 12 networks", 0, AT_MOST),),
        compute=properties.fmptcp_proposition_2,
    )


def _fcc_long_queue(
    name: str, flows: int, subflows: int, rtt: float, minimum: dict[str, Any]
) -> Case:
    """A queue of ten times the packets: a packet more or less is a tenth of what it was."""
    limit = 1000 if subflows == 1 else 400
    link = Link(proportional(limit))
    share = theory.fcc_occupancy(flows, 1 / handshake_rtt_s(link, rtt), GBPS)
    groups = [Group("flows", "fcc", ((0, rtt),) * subflows, flows)]
    return Case(
        name,
        (
            Row(
                "occupied share of the queue",
                share,
                relative(0.06),
                lambda m: m.link("queue_mean") / limit,
            ),
        ),
        partial(scenario, [link], groups, 15, 4, transport=minimum),
        added="Tests whether the difference of the shorter queue is one packet: a packet that"
        " arrives finds one less than the mean over time.",
    )


def _fcc_minimum(minimum: dict[str, Any]) -> Iterator[Case]:
    """Sixteen subflows on a BDP of ten: alpha is at most 1 while R <= m base RTTs."""
    rtt, limit = 120e-6, 40
    link = Link(proportional(limit))
    base = handshake_rtt_s(link, rtt)
    for flows, subflows in ((16, 1), (4, 4), (2, 8)):
        share = theory.fcc_occupancy(flows, 1 / base, GBPS)
        lossless = share < 0.8
        groups = [Group("flows", "fcc", ((0, rtt),) * subflows, flows)]
        at_minimum = theory.fcc_alpha_at_minimum(16 / GBPS, base, subflows)
        rows = [
            Row(
                f"lost packets of a million, alpha at the minimum {at_minimum:.2f}",
                0 if lossless else 1000,
                AT_MOST if lossless else AT_LEAST,
                lambda m: 1e6 * m.link("drops") / m.link("packets"),
            ),
            Row(
                "occupied share of the queue",
                share if lossless else 0.8,
                relative(0.1) if lossless else AT_LEAST,
                lambda m: m.link("queue_mean") / limit,
            ),
        ]
        yield Case(
            f"fcc-minimum-{flows}x{subflows}",
            tuple(rows),
            partial(scenario, [link], groups, 6, 2, transport=minimum),
        )


def _fcc_delays(minimum: dict[str, Any]) -> Iterator[Case]:
    """Unequal RTTs: what alpha_total weighs, and FMPTCP's equation 1."""
    same = {"name": "fcc", "alpha_total": 500}
    for name, controller, predicted in (("default", "fcc", 3.0), ("alpha-500", same, 1.0)):
        for count in (1, 4):
            groups = [
                Group("short", controller, ((0, SHORT),), count),
                Group("long", controller, ((0, LONG),), count),
            ]

            def ratio(m: Measured) -> float:
                return m.rate("short") / m.rate("long")

            yield Case(
                f"fcc-rtts-{name}-{count}+{count}",
                (Row("rate of 2 ms to 6 ms", predicted, relative(0.15), ratio, ratio),),
                partial(scenario, [Link(proportional(2000))], groups, 20, 6, transport=minimum),
                solve=True,
            )
    queues = (proportional(300), proportional(300))
    rtts = (SHORT, LONG)
    why = (
        "Tests whether link 2 idles in fcc-paths because its queue holds three packets: here it"
        " holds five times as many. RTTs in the prediction include queues."
    )
    for name, controller, weights, singles in (
        ("alpha-500-4-1", same, (500, 500, 500), (4, 1)),
        ("default-2-1", "fcc", (500, 500, 500 / 3), (2, 1)),
    ):
        yield _two_rtts(
            f"fcc-paths-long-{name}",
            controller,
            controller,
            singles,
            theory.fcc_two_paths(rtts, weights, singles, 1500, GBPS),
            queues=(proportional(1500), proportional(1500)),
            transport=minimum,
            solve=False,
            added=why,
        )
    for singles in ((1, 1), (4, 1), (2, 1)):
        yield _two_rtts(
            f"fcc-paths-alpha-500-{singles[0]}-{singles[1]}",
            same,
            same,
            singles,
            theory.two_paths(theory.fcc_equals(rtts, 1, (1, 1)), singles),
            queues=queues,
            transport=minimum,
        )
    for singles in ((1, 1), (2, 1)):
        yield _two_rtts(
            f"fcc-paths-default-{singles[0]}-{singles[1]}",
            "fcc",
            "fcc",
            singles,
            theory.two_paths(theory.fcc_equals(rtts, 1, (1, 1 / 3)), singles),
            queues=queues,
            transport=minimum,
        )


def refusals() -> Iterator[Case]:
    """Controllers that follow no gradient: `solve --utility controller` should refuse them."""
    for name in ("lia", "olia", "balia", "dcm", "dctcp", "cubic", "wvegas"):
        yield _refusal(name, name, (SHORT, SHORT))
    yield _refusal("eutcp-list", {"name": "eutcp", "gamma": [1, 1.1]}, (SHORT, SHORT))
    yield _refusal("amp", "amp", (SHORT, LONG))
    yield _refusal("eutcp", {"name": "eutcp", "gamma": 1}, (SHORT, LONG))


def _refusal(name: str, controller: str | dict[str, Any], rtts: tuple[float, float]) -> Case:
    single = name in ("dctcp", "cubic")
    paths = ((0, rtts[0]),) if single else ((0, rtts[0]), (1, rtts[1]))
    groups = [Group("flows", controller, paths)]
    text = "2 and 6 ms" if rtts[0] != rtts[1] else "2 ms"
    return Case(
        f"solve-{name}-{rtts[0] * 1e3:g}-{rtts[1] * 1e3:g}",
        (Row(f"refused for RTTs of {text}", math.nan, REFUSED, None, lambda m: m.rate("flows")),),
        partial(scenario, [Link(step(60)), Link(step(60))], groups, 1, 0),
        solve=True,
    )
