# %% [markdown]
# # Two controllers on one bottleneck
#
# Editors and Jupyter (with Jupytext) open this file as a notebook; `python examples/notebook.py`
# runs it from top to bottom. Results go to the folder `results`.

# %%
import polars as pl

import pathweave

# %% [markdown]
# A scenario is a file, TOML in a text, or a dictionary with the keys of the file
# (docs/scenario.md). This one has two variants: DCTCP and XMP.

# %%
scenario = {
    "title": "Two flows on one bottleneck",
    "seeds": 2,
    "fabric": {
        "kind": "dumbbell",
        "left": 2,
        "bottleneck_rate": "1 Gbps",
        "bottleneck_delay": "50 us",
        "host_rate": "10 Gbps",
        "host_delay": "25 us",
        "queue": {"limit": 100, "mark": {"kind": "step", "k": 10}},
    },
    "transport": {"preset": "xmp-2013"},
    "traffic": [
        {
            "name": "large",
            "pattern": "flows",
            "size": "2 MB",
            "controller": "dctcp",
            "flows": [
                {"name": "first", "from": "S1", "to": "D1", "start": "0 s"},
                {"name": "second", "from": "S2", "to": "D2", "start": "2 ms"},
            ],
        }
    ],
    "variants": {
        "scheme": {
            "DCTCP": {"traffic.large.controller": "dctcp"},
            "XMP": {"traffic.large.controller": "xmp"},
        }
    },
    "stop": {"at": "100 ms"},
}
results = pathweave.run(scenario, name="two-flows", progress=False)

# %% [markdown]
# Frames of polars have a row for each flow, subflow and link, with columns for variant and seed.

# %%
means = (
    results.flows.group_by("scheme", maintain_order=True)
    .agg(pl.col("fct_s").mean().alias("mean_fct_s"), pl.len().alias("flows"))
    .sort("scheme")
)
print(means)

# %% [markdown]
# The same numbers as `pathweave run` prints.

# %%
print(results.summary())

# %% [markdown]
# What a name stands for, and what is said of one that does not exist.

# %%
print(pathweave.explain("goodput"))
try:
    pathweave.explain("dtcp")
except pathweave.InputError as error:
    print(error)
