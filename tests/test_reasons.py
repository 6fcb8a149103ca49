"""Explanations of differences, on made-up runs and ablations."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from pathweave.reproducing.paper import Because, Claim, Number, Order, Row, Shape
from pathweave.reproducing.reasons import Explained, chosen_variants
from pathweave.reproducing.record import Ablation, Record, Records, read_records
from pathweave.reproducing.reproduced import Reproduced, counted_text, reproduced
from pathweave.reproducing.sample import Sample
from pathweave.reproducing.verdict import Outcome
from pathweave.results.expected import Expected, Point
from pathweave.results.published_measure import PublishedMeasure

GOODPUT = PublishedMeasure("goodput", unit="Mbps")
ONE = Number("goodput", "", Expected(GOODPUT, 0.1, "", (), (Point({}, 100.0),)))
TWO = Number(
    "goodput",
    "",
    Expected(
        GOODPUT,
        0.1,
        "",
        ("scheme",),
        (Point({"scheme": "A"}, 100.0), Point({"scheme": "B"}, 200.0)),
    ),
)
WHY = Because("goodput", "why", ("x=1",), (), "r.toml", None, {}, "towards", None)
NOISE = (-0.5, 0.25, 0.5, -0.25, 0.0)


def sample(mean: float, spread: float = 1.0, turn: int = 0, **at: str) -> Sample:
    """Five seeds; `turn` says which of them are above the mean."""
    offsets = [NOISE[(place + turn) % 5] for place in range(5)]
    return Sample(at, {seed: mean + spread * each for seed, each in enumerate(offsets, start=1)})


def schemes(spread: float = 1.0, turn: int = 0, **means: float) -> tuple[Sample, ...]:
    return tuple(sample(mean, spread, turn, scheme=name) for name, mean in means.items())


def ablation(because: Because, *after: Sample) -> Ablation:
    return Ablation(
        claim=because.claim,
        sets=because.sets,
        scenario=because.scenario,
        size=because.size,
        only=because.only,
        at=because.at,
        command="pathweave run r.toml --set x=1",
        seeds=5,
        samples=after,
    )


def judged(
    claim: Claim,
    before: tuple[Sample, ...],
    *explained: tuple[Because, tuple[Sample, ...] | None],
) -> Reproduced:
    """A row of one claim; each explanation with what it gave, None where it was not run."""
    because = tuple(each for each, _ in explained)
    row = Row("p", "r", "t", "", Path("r.toml"), None, (), 5, "", (), (claim,), because)
    gave = tuple(ablation(each, *after) for each, after in explained if after is not None)
    return reproduced(row, Record("0", "quick", "", "", (1,), {}, {claim.name: before}, gave))


def test_arithmetic_needs_no_run() -> None:
    proof = replace(WHY, sets=(), proof=True, at={"scheme": "B"})
    before = schemes(A=100.0, B=50.0)
    found = judged(TWO, before, (proof, None))
    assert found.why is Explained.PROVEN
    assert found.to_explain() == []
    (reason,) = found.reasons
    assert (reason.outcome, reason.changes) == (Explained.PROVEN, [])
    # Of two numbers that differ it explains one.
    found = judged(TWO, schemes(A=300.0, B=100.0), (proof, None))
    assert found.why is Explained.IN_PART


def outcome_of(
    claim: Claim, before: tuple[Sample, ...], because: Because, after: tuple[Sample, ...] | None
) -> Explained:
    found = judged(claim, before, (because, after))
    (reason,) = found.reasons
    assert found.why is reason.outcome
    return reason.outcome


@pytest.mark.parametrize(
    ("after", "outcome"),
    [
        (101, Explained.EXPLAINED),
        (130, Explained.IN_PART),  # nearer, and not near enough
        (170, Explained.REFUTED),  # the other way
        (150, Explained.REFUTED),  # not at all
        (60, Explained.IN_PART),  # too far, and nearer
        (40, Explained.REFUTED),  # so far that it is farther off
    ],
)
def test_a_number_moves_towards_the_published_one(after: float, outcome: Explained) -> None:
    found = judged(ONE, (sample(150),), (WHY, (sample(after, turn=2),)))
    assert [reason.outcome for reason in found.reasons] == [outcome]
    assert found.why is outcome
    (reason,) = found.reasons
    assert (reason.before[0].mean, reason.after[0].mean) == (150, after)
    assert reason.command.startswith("pathweave run")


def test_numbers_are_explained_where_each_that_differs_is() -> None:
    """An explanation of one of two variants is half of an answer."""
    before = schemes(A=300, B=150)
    of_a = replace(WHY, at={"scheme": "A"})
    of_b = replace(WHY, at={"scheme": "B"}, sets=("y=1",))
    after_a = schemes(turn=2, A=101)
    after_b = schemes(turn=2, B=201)
    assert judged(TWO, before, (of_a, after_a)).why is Explained.IN_PART
    both = judged(TWO, before, (of_a, after_a), (of_b, after_b))
    assert both.why is Explained.EXPLAINED
    # What is about a variant that agrees explains nothing.
    agreeing = judged(TWO, schemes(A=100, B=50), (of_a, schemes(turn=2, A=101)))
    assert agreeing.why is Explained.REFUTED


def test_what_the_seeds_do_not_tell_has_not_moved() -> None:
    before = (sample(150, 40),)
    assert outcome_of(ONE, before, WHY, (sample(140, 40, 2),)) is Explained.REFUTED
    # What a seed does to both cancels.
    assert outcome_of(ONE, before, WHY, (sample(140, 40),)) is Explained.IN_PART
    single = (Sample({}, {1: 100.0}),)
    assert outcome_of(ONE, before, WHY, single) is Explained.REFUTED


@pytest.mark.parametrize(
    ("expects", "after", "outcome"),
    [
        ("up", 170, Explained.IN_PART),
        ("up", 120, Explained.REFUTED),
        ("up", 101, Explained.REFUTED),
        ("down", 120, Explained.IN_PART),
        ("down", 101, Explained.EXPLAINED),
        ("down", 170, Explained.REFUTED),
        ("holds", 101, Explained.EXPLAINED),
        ("holds", 120, Explained.REFUTED),
    ],
)
def test_an_explanation_says_what_it_expects(
    expects: str, after: float, outcome: Explained
) -> None:
    because = replace(WHY, expects=expects)
    assert outcome_of(ONE, (sample(150),), because, (sample(after, turn=2),)) is outcome


def test_an_explanation_that_was_not_run() -> None:
    assert outcome_of(ONE, (sample(150),), WHY, None) is Explained.NOT_RUN
    assert outcome_of(ONE, (sample(150),), WHY, (Sample({}, {}),)) is Explained.NOT_RUN
    assert judged(ONE, (sample(150),)).why is Explained.UNEXPLAINED


def test_a_claim_that_agrees_needs_no_explanation() -> None:
    found = judged(ONE, (sample(100),), (WHY, (sample(150),)))
    assert (found.reasons, found.why, found.to_explain()) == ((), None, [])
    assert judged(ONE, (sample(150),), (WHY, None)).to_explain() == [WHY]
    undecided = judged(ONE, (sample(100, 60),), (WHY, None))
    assert undecided.to_explain() == [WHY]
    assert undecided.why is None  # it does not differ


def test_an_ablation_belongs_to_the_explanation_that_asked_for_it() -> None:
    """Whatever sets them apart: the settings, the size, the variants, the scenario."""
    others = (
        replace(WHY, sets=("x=2",)),
        replace(WHY, size="small"),
        replace(WHY, scenario="other.toml"),
        replace(WHY, only=("load=1",)),
        replace(WHY, at={"scheme": "A"}),
    )
    for other in others:
        found = judged(ONE, (sample(150),), (WHY, (sample(170),)), (other, (sample(101),)))
        assert [reason.outcome for reason in found.reasons] == [
            Explained.REFUTED,
            Explained.EXPLAINED,
        ]
        assert found.why is Explained.EXPLAINED  # the best of them
        found = judged(ONE, (sample(150),), (WHY, (sample(170),)), (other, None))
        assert [reason.outcome for reason in found.reasons] == [
            Explained.REFUTED,
            Explained.NOT_RUN,
        ]


def test_of_several_variants_all_must_move() -> None:
    before = schemes(A=150, B=100)
    both = schemes(turn=2, A=101, B=201)
    assert outcome_of(TWO, before, WHY, both) is Explained.EXPLAINED
    assert outcome_of(TWO, before, WHY, schemes(turn=2, A=101, B=150)) is Explained.IN_PART
    assert outcome_of(TWO, before, WHY, schemes(turn=2, A=101, B=100)) is Explained.IN_PART
    # A little is no part.
    assert outcome_of(TWO, before, WHY, schemes(turn=2, A=148, B=104)) is Explained.REFUTED
    assert outcome_of(TWO, before, WHY, schemes(turn=2, A=101, B=90)) is Explained.REFUTED
    # What agreed before has nothing to explain, and may move.
    assert (
        outcome_of(TWO, schemes(A=300, B=200), WHY, schemes(turn=2, A=101, B=500))
        is Explained.EXPLAINED
    )


def test_an_explanation_may_be_about_some_variants() -> None:
    because = replace(WHY, at={"scheme": "A"})
    found = judged(TWO, schemes(A=300, B=100), (because, schemes(turn=2, A=101, B=90)))
    (reason,) = found.reasons
    assert reason.outcome is Explained.EXPLAINED
    assert [dict(each.at) for each in reason.before] == [{"scheme": "A"}]
    either = replace(WHY, at={"scheme": ["A", "B"]})
    after = schemes(turn=2, A=101, B=90)
    assert outcome_of(TWO, schemes(A=300, B=100), either, after) is Explained.REFUTED


def test_ablations_are_of_variants_whatever_their_place() -> None:
    """A claim that gains variants, or lists them in another order, keeps what was recorded."""
    after = schemes(turn=2, B=201, C=7, A=101)
    assert outcome_of(TWO, schemes(B=100, A=150), WHY, after) is Explained.EXPLAINED
    points = (*TWO.expected.points, Point({"scheme": "D"}, 50.0))
    more = replace(TWO, expected=replace(TWO.expected, points=points))
    found = judged(more, schemes(A=150, B=100, D=90), (WHY, after))
    (reason,) = found.reasons
    assert [dict(each.at)["scheme"] for each in reason.before] == ["A", "B"]
    assert [each.mean for each in reason.after] == [101, 201]


ORDER = Order("goodput", "says", GOODPUT, "scheme", (("A",), ("B",), ("C",)), {})


def test_an_order_is_explained_where_it_then_holds() -> None:
    before = schemes(A=300, B=200, C=400)
    assert outcome_of(ORDER, before, WHY, schemes(turn=2, A=1, B=2.5, C=6)) is Explained.EXPLAINED
    assert outcome_of(ORDER, before, WHY, schemes(turn=2, A=9, B=5, C=12)) is Explained.REFUTED
    # Nothing is said of C, which stays where it was.
    assert outcome_of(ORDER, before, WHY, schemes(turn=2, A=100, B=200)) is Explained.EXPLAINED
    assert outcome_of(ORDER, before, WHY, schemes(turn=2, A=500, B=600)) is Explained.REFUTED


def test_a_shape_is_explained_where_it_then_holds() -> None:
    at = ({"scheme": "A"}, {"scheme": "B"})
    shape = Shape("goodput", "says", GOODPUT, 100, None, at)
    before = schemes(A=50, B=60)
    assert outcome_of(shape, before, WHY, schemes(A=150, B=160)) is Explained.EXPLAINED
    assert outcome_of(shape, before, WHY, schemes(A=150, B=60)) is Explained.REFUTED
    # An explanation of one variant is not refuted by the other.
    because = replace(WHY, at={"scheme": "A"})
    assert outcome_of(shape, before, because, schemes(A=150)) is Explained.EXPLAINED
    assert outcome_of(shape, before, because, schemes(A=50)) is Explained.REFUTED


def test_variants_to_run_are_those_that_it_is_about() -> None:
    assert chosen_variants(WHY, TWO) == ("scheme=A", "scheme=B")
    assert chosen_variants(replace(WHY, at={"scheme": "B"}), TWO) == ("scheme=B",)
    assert chosen_variants(WHY, ONE) == ()
    assert chosen_variants(WHY, ORDER) == ("scheme=A", "scheme=B", "scheme=C")
    # A ratio needs what it is relative to.
    measured = replace(GOODPUT, relative_to={"scheme": "C"}, unit="%")
    ratio = replace(TWO, expected=replace(TWO.expected, measured=measured))
    about_b = replace(WHY, at={"scheme": "B"})
    assert chosen_variants(about_b, ratio) == ("scheme=B", "scheme=C")
    shape = Shape("goodput", "says", measured, 100, None, ({"scheme": "A"}, {"scheme": "B"}))
    assert chosen_variants(about_b, shape) == ("scheme=B", "scheme=C")
    assert chosen_variants(WHY, replace(shape, at=({},))) == ()


def test_a_row_is_as_well_explained_as_its_worst_claim() -> None:
    claims = (ONE, replace(ONE, name="other"))
    about_other = replace(WHY, claim="other")
    row = Row("p", "r", "t", "", Path("r.toml"), None, (), 5, "", (), claims, (WHY, about_other))
    gave = {claim.name: (sample(150),) for claim in claims}

    def why(*ablations: Ablation) -> Explained | None:
        return reproduced(row, Record("0", "quick", "", "", (1,), {}, gave, ablations)).why

    good, bad = (sample(101),), (sample(170),)
    assert why(ablation(WHY, *good), ablation(about_other, *good)) is Explained.EXPLAINED
    assert why(ablation(WHY, *good), ablation(about_other, *bad)) is Explained.REFUTED
    assert why(ablation(WHY, *good)) is Explained.NOT_RUN


def test_rows_are_counted_in_words() -> None:
    rows = [
        judged(ONE, (sample(100),)),
        judged(ONE, (sample(150),), (WHY, (sample(101),))),
        judged(ONE, (sample(150),), (WHY, None)),
        judged(ONE, (sample(150),)),
        reproduced(judged(ONE, ()).row, None),
    ]
    assert [row.outcome for row in rows].count(Outcome.DIFFERS) == 3
    assert counted_text(rows) == (
        "Of 5 rows, 1 agrees, 3 differ and 1 has not been run. Of those that differ,"
        " 1 is explained, 1 is unexplained and 1 has an untested explanation."
    )


def test_records_come_back_from_their_file(tmp_path: Path) -> None:
    because = replace(WHY, size="small", at={"scheme": ["A", "B"]}, only=("load=1",))
    gave: Mapping[str, tuple[Sample, ...]] = {
        "goodput": (sample(0.1, scheme="A"), Sample({}, {2: 1e-9}, at_least=True)),
    }
    record = Record(
        "0", "quick", "h", "run", (1, 2), {"1": "w"}, gave, (ablation(because, *gave["goodput"]),)
    )
    path = tmp_path / "reproduced.json"
    assert read_records(path).rows == {}
    Records({"b": record, "a": replace(record, size="paper")}).write(path)
    found = read_records(path)
    assert found.rows["b"] == record
    text = path.read_bytes()
    found.write(path)
    assert path.read_bytes() == text


def test_a_bound_that_comes_nearer_is_explained_in_part() -> None:
    shape = Shape("goodput", "says", GOODPUT, 100, None, ({"scheme": "A"},))
    before = schemes(A=50)
    assert outcome_of(shape, before, WHY, schemes(turn=2, A=80)) is Explained.IN_PART
    assert outcome_of(shape, before, WHY, schemes(turn=2, A=50)) is Explained.REFUTED
    assert outcome_of(shape, before, WHY, schemes(turn=2, A=30)) is Explained.REFUTED
    held = replace(WHY, expects="holds")
    assert outcome_of(shape, before, held, schemes(turn=2, A=80)) is Explained.REFUTED


@pytest.mark.parametrize(
    ("spread", "outcome"),
    [
        (10, Explained.REFUTED),  # 150 +- 11
        (60, Explained.EXPLAINED),  # 150 +- 65
    ],
)
def test_a_published_number_may_be_that_of_a_run(spread: float, outcome: Explained) -> None:
    """NOISE has a standard deviation of 0.395; t(0.975, 4) = 2.776, times the root of 1 + 1/5."""
    because = replace(WHY, expects="scatters")
    assert outcome_of(ONE, (sample(150),), because, (sample(150, spread),)) is outcome
    both = schemes(A=150, B=130)
    after = (sample(150, 60, scheme="A"), sample(130, 10, scheme="B"))
    assert outcome_of(TWO, both, because, after) is Explained.IN_PART


def test_an_agreement_rests_on_what_breaks_it() -> None:
    because = replace(WHY, expects="fails")
    found = judged(ONE, (sample(100),), (because, (sample(150),)))
    assert [reason.outcome for reason in found.reasons] == [Explained.EXPLAINED]
    assert (found.outcome, found.why) == (Outcome.AGREES, None)
    assert found.to_explain() == [because]
    found = judged(ONE, (sample(100),), (because, (sample(101),)))
    assert [reason.outcome for reason in found.reasons] == [Explained.REFUTED]
    # It is no explanation of what differs elsewhere.
    found = judged(TWO, schemes(A=100, B=50), (because, schemes(A=150, B=50)))
    assert [reason.outcome for reason in found.reasons] == [Explained.EXPLAINED]
    assert found.why is Explained.UNEXPLAINED
    order = judged(ORDER, schemes(A=1, B=2, C=3), (because, schemes(turn=2, A=9, B=5, C=3)))
    assert [reason.outcome for reason in order.reasons] == [Explained.EXPLAINED]


def test_numbers_that_agree_in_order_alone_may_be_explained() -> None:
    """B is 20 % too high, and above A as published."""
    found = judged(TWO, schemes(A=100, B=240), (WHY, schemes(turn=2, A=100, B=201)))
    assert found.outcome is Outcome.IN_ORDER
    assert [reason.outcome for reason in found.reasons] == [Explained.EXPLAINED]
    assert found.why is None
