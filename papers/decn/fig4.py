"""Figure 4 of the DECN paper: feedback bits as a share of packets' sizes, as a table and a picture.

    python papers/decn/fig4.py FOLDER      # writes FOLDER/fig4.png and .svg
    python papers/decn/fig4.py --json      # only prints the shares, for `pathweave reproduce`

It is arithmetic: bits of feedback, unrounded, over a packet's size. The paper gives the sizes in a
picture only, which was not at hand. What its text says is in `SIZES`, the rest is assumed:

- Hadoop's first quartile follows from the published shares, 32 % for XCP and 23 % for RCP: 50 and
  52 B; 51 is nearest to both. More than half of its packets have 1500 B.
- The others' median is below 200 B, and most of their packets are below 400 B. Cache Follower has
  nearly half of its packets about 100 B; its sizes are those of fig10.toml.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import polars as pl

from pathweave.plots.figure import Figure, in_panels, name, quantity, top_legend
from pathweave.plots.render import write_pictures

BITS = {
    "XCP": 128,
    "RCP": 96,
    "BMCC": 18,
    "MLCP": 7,
    "VCP": 2,
    "UNO": 2,
    "VCP-BE": 2,
    "DCTCP": 1,
    "DECN": 0,
}
"""Table I, and DECN."""
PERCENTILES = (25, 50, 75, 99)
SIZES = {
    "Web Server": (80, 150, 300, 1500),
    "Cache Leader": (80, 150, 350, 1500),
    "Cache Follower": (99, 133, 538, 1500),
    "Hadoop": (51, 1500, 1500, 1500),
}
"""Bytes on the wire at the percentiles."""
PUBLISHED = {("XCP", "Hadoop", 25): 32.0, ("RCP", "Hadoop", 25): 23.0}
"""Percent."""


def shares() -> pl.DataFrame:
    """A row for each scheme, application and percentile; `share` in percent."""
    rows = [
        {
            "scheme": scheme,
            "application": application,
            "percentile": f"p{percentile}",
            "bytes": size,
            "share": 100 * bits / (8 * size),
            "published": PUBLISHED.get((scheme, application, percentile)),
        }
        for application, sizes in SIZES.items()
        for percentile, size in zip(PERCENTILES, sizes, strict=True)
        for scheme, bits in BITS.items()
    ]
    return pl.DataFrame(rows, infer_schema_length=None)


def picture(frame: pl.DataFrame) -> Figure:
    """Bars by percentile, a panel for each application."""
    bars = {
        "mark": "bar",
        "width": 400,
        "height": 220,
        "encoding": {
            "x": name("percentile", "packet size", sort=None),
            "xOffset": {"field": "scheme", "type": "nominal", "sort": list(BITS)},
            "y": quantity("share", "feedback, % of the packet"),
            "color": name(
                "scheme",
                sort=list(BITS),
                scale={"scheme": "tableau10"},
                legend=top_legend(list(BITS), symbol="square"),
            ),
        },
    }
    panels = frame.drop("published").rename({"application": "panel"})
    chart = in_panels(bars, panels, list(SIZES), 2)
    title = "DECN, Figure 4: feedback as a share of packets, whose sizes are partly assumed"
    return Figure("fig4", title, "Sizes are partly assumed: see the script.", chart)


def main(folder: Path) -> None:
    """Print the table and write the picture."""
    frame = shares()
    for (application,), own in frame.group_by("application", maintain_order=True):
        print(application)
        for (scheme,), line in own.group_by("scheme", maintain_order=True):
            cells = "  ".join(
                f"{row['share']:8.3f}" + (f" ({row['published']:.0f})" if row["published"] else "")
                for row in line.iter_rows(named=True)
            )
            print(f"  {scheme:<6}{cells}")
        sizes = own.unique("percentile", maintain_order=True)
        print("  bytes " + "  ".join(f"{size:8d}" for size in sizes["bytes"]))
    write_pictures(folder, [picture(frame)])


def as_json() -> str:
    """The shares in percent, each with where it is in the figure."""
    keys = ("application", "percentile", "scheme")
    return json.dumps(
        [
            {"at": {key: row[key] for key in keys}, "value": row["share"]}
            for row in shares().iter_rows(named=True)
        ]
    )


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    if sys.argv[1] == "--json":
        print(as_json())
    else:
        main(Path(sys.argv[1]))
