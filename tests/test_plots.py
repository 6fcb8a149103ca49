"""Charts: what they show, and that nothing in them overlaps or is lost."""

from __future__ import annotations

import io
import itertools
import re
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import pathweave
from conftest import write_scenario
from pathweave.plots import palette, theme
from pathweave.plots.extent import with_extent
from pathweave.plots.figure import data
from pathweave.plots.figures import figures
from pathweave.plots.frames import Source, palette_of
from pathweave.plots.lines import every_panel, time_axis
from pathweave.plots.palette import Palette
from pathweave.plots.series import over_subflows
from pathweave.plots.slowdown import BUCKETS, slowdown
from pathweave.plots.thin import average, thin
from pathweave.results.units import count, duration, number, rate_unit, size_text, time_unit

# Simulated times are whole picoseconds.
TIMES = st.integers(0, 10**13).map(lambda picoseconds: picoseconds * 1e-12)
SAMPLES = st.lists(st.tuples(TIMES, st.floats(-1e6, 1e6)), min_size=1, max_size=300)


@given(SAMPLES, st.integers(1, 20))
def test_thinning_keeps_extremes(samples: list[tuple[float, float]], bins: int) -> None:
    frame = pl.DataFrame(samples, schema=["time_s", "value"], orient="row").with_columns(
        key=pl.lit("a")
    )
    thinned = thin(frame, ["key"], bins)
    moments = frame["time_s"].n_unique()
    assert thinned.height <= (min(frame.height, 4 * bins) if moments > 1 else frame.height)
    assert thinned["value"].min() == frame["value"].min()
    assert thinned["value"].max() == frame["value"].max()
    assert thinned["time_s"].min() == frame["time_s"].min()
    assert thinned["time_s"].max() == frame["time_s"].max()
    assert thinned["time_s"].is_sorted()


@given(SAMPLES, st.integers(1, 20))
def test_averages_stay_within_their_samples(samples: list[tuple[float, float]], bins: int) -> None:
    frame = pl.DataFrame(samples, schema=["time_s", "value"], orient="row").with_columns(
        key=pl.lit("a")
    )
    means = average(frame, ["key"], bins)
    assert means.height <= max(bins, frame.height if frame["time_s"].n_unique() == 1 else 0)
    slack = 1e-6
    assert means.filter(
        ~pl.col("value").is_between(
            pl.lit(frame["value"].min()) - slack, pl.lit(frame["value"].max()) + slack
        )
    ).is_empty()


def luminance(colour: str) -> float:
    """Relative luminance, WCAG 2."""
    channels = [int(colour[start : start + 2], 16) / 255 for start in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    high, low = sorted((luminance(one), luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize(
    ("colours", "page"),
    [
        (palette.SCHEMES_LIGHT, palette.PAPER_LIGHT),
        (palette.SCHEMES_DARK, palette.PAPER_DARK),
    ],
)
def test_colours_stand_out_from_the_page(colours: tuple[str, ...], page: str) -> None:
    assert min(contrast(colour, page) for colour in colours) >= 3.0


# Machado, Oliveira and Fernandes 2009, severity 1.0, on linear RGB.
DEFICIENCIES = {
    "none": ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
    "protan": (
        (0.152286, 1.052583, -0.204868),
        (0.114503, 0.786281, 0.099216),
        (-0.003882, -0.048116, 1.051998),
    ),
    "deutan": (
        (0.367322, 0.860646, -0.227968),
        (0.280085, 0.672501, 0.047413),
        (-0.011820, 0.042940, 0.968881),
    ),
}


def lab(colour: str, deficiency: str) -> tuple[float, float, float]:
    """CIE L*a*b* of a colour as someone with the deficiency sees it."""
    channels = [int(colour[start : start + 2], 16) / 255 for start in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    seen = [
        min(1.0, max(0.0, sum(m * c for m, c in zip(row, linear, strict=True))))
        for row in DEFICIENCIES[deficiency]
    ]
    r, g, b = seen
    x = (0.4124 * r + 0.3576 * g + 0.1805 * b) / 0.95047
    y = 0.2126 * r + 0.7152 * g + 0.0722 * b
    z = (0.0193 * r + 0.1192 * g + 0.9505 * b) / 1.08883
    fx, fy, fz = (v ** (1 / 3) if v > 0.008856 else 7.787 * v + 16 / 116 for v in (x, y, z))
    return 116 * fy - 16, 500 * (fx - fy), 200 * (fy - fz)


@pytest.mark.parametrize("deficiency", DEFICIENCIES)
@pytest.mark.parametrize("colours", [palette.SCHEMES_LIGHT, palette.SCHEMES_DARK])
def test_schemes_are_told_apart(colours: tuple[str, ...], deficiency: str) -> None:
    for one, other in itertools.combinations(colours, 2):
        first, second = lab(one, deficiency), lab(other, deficiency)
        distance = sum((a - b) ** 2 for a, b in zip(first, second, strict=True)) ** 0.5
        assert distance > 16, f"{one} and {other}"


def test_a_scheme_keeps_its_colour() -> None:
    colours = Palette(["DCTCP", "LIA-2", "XMP-4"])
    assert len({colours.colour(name) for name in colours.schemes}) == 3
    many = Palette([f"scheme {i}" for i in range(20)])
    looks = {(many.colour(name), tuple(many.dash(name))) for name in many.schemes}
    assert len(looks) == 20


def test_slowdown_by_bucket() -> None:
    flows = pl.DataFrame(
        {
            "scheme": ["a"] * 5,
            "panel": [""] * 5,
            "size_bytes": [2_000, 9_999, 10_000, 100_000_000, 5_000],
            "end": ["finished"] * 4 + ["stopped"],
            "fct_s": [2.0, 4.0, 3.0, 5.0, None],
            "fct_ideal_s": [1.0] * 5,
        }
    )
    rows = {row["bucket"]: row for row in slowdown(flows).iter_rows(named=True)}
    assert set(rows) == {BUCKETS[0], BUCKETS[1], BUCKETS[-1]}
    assert rows[BUCKETS[0]]["p50"] == 3.0
    assert rows[BUCKETS[0]]["count"] == 2


@pytest.mark.parametrize(
    ("axes", "fake_values", "expected"),
    [
        (
            'scheme = ["DCTCP", "LIA-2", "XMP-4"]\npattern = ["Permutation", "Incast"]',
            "flows = 150\nsmall = 300\njobs = 60",
            {
                "goodput-cdf-large", "fct-cdf-large", "fct-cdf-request", "fct-cdf-answer",
                "slowdown-by-size", "goodput-by-location-large", "rtt-by-location-large",
                "jct-cdf", "utilisation-by-layer", "queue-by-layer",
            },
        ),
        (
            'scheme = ["DCTCP", "Halving"]',
            "flows = 4\nseries = true\nphases = true",
            {
                "goodput-by-flow", "goodput-by-location", "rtt-by-location", "goodput-by-phase",
                "rates-over-time", "windows-over-time", "rtts-over-time", "queues-over-time",
                "windows-close-up", "rtts-close-up", "queues-close-up", "rtt-cdf",
                "utilisation-by-layer", "queue-by-layer",
            },
        ),
        (
            "",
            "flows = 30\nseries = true",
            {
                "goodput-cdf", "fct-cdf", "slowdown-by-size", "goodput-by-location",
                "rtt-by-location", "rates-over-time", "windows-over-time", "rtts-over-time",
                "windows-close-up", "rtts-close-up", "queues-over-time", "queues-close-up",
                "rtt-cdf",
                "utilisation-by-layer", "queue-by-layer",
            },
        ),
    ],
)  # fmt: skip
def test_figures_of_a_scenario(
    fake: None, tmp_path: Path, axes: str, fake_values: str, expected: set[str]
) -> None:
    import vl_convert

    path = write_scenario(tmp_path, axes=axes, fake=fake_values)
    results = pathweave.run(path, out=tmp_path / "out", progress=False)
    scenario = results.scenarios[0]
    found = figures(Source(scenario, palette_of(results.scenarios)))
    assert {figure.name for figure in found} == expected
    for figure in found:
        svg = vl_convert.vegalite_to_svg(figure.spec(), config=theme.config())
        size = re.search(r'<svg[^>]* width="([0-9.]+)" height="([0-9.]+)"', svg)
        assert size is not None
        assert float(size[1]) <= 1032, f"{figure.name} is wider than the page"
        assert len(svg) < 3_000_000
        # Words that Vega cuts end in an ellipsis.
        assert "…" not in svg, figure.name


def test_a_grid_of_panels_has_all_of_them() -> None:
    frame = pl.DataFrame(
        {
            "time_s": [0.0, 0.0, 0.0],
            "value": [1.0, 2.0, 3.0],
            "scheme": ["A", "B", "B"],
            "variant": ["A", "B", "B"],
            "owner": ["x->y", "x->y", "y->x"],
            "subflow": [0, 0, 0],
        }
    )
    grid = every_panel(frame)
    assert grid.head(3).equals(frame)
    assert grid.rows()[3:] == [(None, None, "A", "A", "y->x", 0)]


def test_rates_of_many_subflows_are_drawn_by_flow() -> None:
    rates = [(0.1, "one", 1.0), (0.1, "one", 2.0), (0.2, "one", 4.0), (0.1, "two", 8.0)]
    frame = pl.DataFrame(
        {
            "scheme": "A",
            "panel": "",
            "variant": "A",
            "seed": 1,
            "owner_id": [0, 0, 0, 1],
            "subflow": [0, 1, 1, 2],
            "time_s": [time for time, _, _ in rates],
            "owner": [owner for _, owner, _ in rates],
            "value": [value for _, _, value in rates],
        }
    )
    sums = over_subflows(frame).select("owner", "time_s", "value", "subflow").rows()
    assert sums == [("one", 0.1, 3.0, 0), ("one", 0.2, 4.0, 0), ("two", 0.1, 8.0, 0)]


def test_rates_fall_back_to_flows_then_to_bands(fake: None, tmp_path: Path) -> None:
    def caption(flows: int, schemes: str) -> str:
        out = tmp_path / f"{flows}-{len(schemes)}"
        out.mkdir()
        path = write_scenario(
            out, axes=f"scheme = [{schemes}]", fake=f"flows = {flows}\nseries = true"
        )
        results = pathweave.run(path, out=out / "results", progress=False)
        found = figures(Source(results.scenarios[0], palette_of(results.scenarios)))
        return next(figure.caption for figure in found if figure.name == "rates-over-time")

    five = ", ".join(f'"XMP-{subflows}"' for subflows in (2, 3, 4, 5, 6))
    assert "Sums over the subflows of each flow." in caption(6, five)
    assert "band" in caption(7, five)
    assert "Sums" not in caption(6, '"XMP-2", "XMP-4"'), "two variants have room for subflows"


def test_the_distribution_of_rtts_leaves_out_their_tail(fake: None, tmp_path: Path) -> None:
    path = write_scenario(tmp_path, fake="flows = 4\nseries = true")
    results = pathweave.run(path, out=tmp_path / "out", progress=False)
    source = Source(results.scenarios[0], palette_of(results.scenarios))
    figure = next(figure for figure in figures(source) if figure.name == "rtt-cdf")
    assert "99%" in figure.caption
    rtts = source.table("rtts", ["rtt_s"])
    assert rtts is not None
    tails = rtts.group_by("scheme", "panel").agg(pl.col("rtt_s").quantile(0.99) * 1e6)["rtt_s"]
    end = figure.spec()["spec"]["layer"][-1]["encoding"]["x"]["scale"]["domain"][1]
    assert end == pytest.approx(tails.max(), rel=0.01)
    assert end < 1e6 * float(rtts["rtt_s"].max())  # pyright: ignore[reportArgumentType]


def test_times_are_labelled_in_the_unit_of_the_latest() -> None:
    for latest, unit, label in ((2.0, "s", 1.0), (0.012, "ms", 1e-3), (8e-6, "us", 1e-6)):
        axis = time_axis(0.0, latest)
        assert axis["title"] == f"time ({unit})"
        assert f"datum.value / {label}," in axis["axis"]["labelExpr"]
        assert axis["axis"]["values"][0] == 0.0
        assert axis["axis"]["values"][-1] == pytest.approx(latest)


def test_times_in_a_chart_are_as_fine_as_their_samples() -> None:
    """A close-up shows microseconds in the middle of seconds."""
    times = [7.5 + place * 1e-5 for place in range(100)]
    rows = pl.DataFrame({"time_s": times, "value": [1.23456789] * 100})
    written = pl.read_csv(io.StringIO(data(rows)["values"]))
    assert written["time_s"].n_unique() == 100
    assert written["value"][0] == 1.2346


def test_slowdown_of_a_handful_of_flows_is_not_drawn(fake: None, tmp_path: Path) -> None:
    for flows, drawn in ((9, False), (12, True)):
        path = write_scenario(tmp_path, fake=f"flows = {flows}")
        out = tmp_path / f"{flows}"
        results = pathweave.run(path, out=out, progress=False)
        found = figures(Source(results.scenarios[0], palette_of(results.scenarios)))
        assert ("slowdown-by-size" in {figure.name for figure in found}) is drawn


def test_numbers_and_units() -> None:
    assert number(735.6234) == "735.6"
    assert number(12345.6) == "12,346"
    assert number(0.01234, 3) == "0.0123"
    assert number(None) == number(float("nan")) == "–"
    assert number(0.0) == "0"
    assert rate_unit(7.3e8) == "Mbps"
    assert rate_unit(9.4e10) == "Gbps"
    assert time_unit(2.5e-4) == "us"
    assert time_unit(0.02) == "ms"
    assert count(61_800_000) == "61.8 M"
    assert size_text(600e9) == "600 GB"
    assert duration(3727) == "1:02:07"


def test_bands_show_what_was_between_samples() -> None:
    """A sawtooth that each sample meets at the same place is a band, not a flat line."""
    rows = {
        "time_s": [0.02, 0.04, 0.06], "value": [15.0, 15.0, 15.0],
        "window_min_packets": [10.0, 9.0, None], "window_mean_packets": [20.0, 21.0, None],
        "window_max_packets": [30.0, 33.0, None],
    }  # fmt: skip
    columns = ("window_min_packets", "window_mean_packets", "window_max_packets")
    frame = with_extent(pl.DataFrame(rows), columns)
    assert frame["value"].to_list() == [20.0, 21.0, 15.0]
    assert frame["low"].to_list() == [10.0, 9.0, 15.0]
    assert frame["high"].to_list() == [30.0, 33.0, 15.0]
    wide = average(frame.with_columns(flow=pl.lit(1)), ["flow"], 1)
    assert (wide["low"].item(), wide["high"].item()) == (9.0, 33.0)
    # Rows at every change, and results without these columns, stay lines.
    constant = pl.DataFrame(rows).with_columns(pl.lit(15.0).alias(name) for name in columns)
    assert with_extent(constant, columns).columns == ["time_s", "value"]
    assert with_extent(frame.drop("low", "high"), columns).columns == ["time_s", "value"]
