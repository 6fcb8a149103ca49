//! Flow sizes from their tables.

use super::Problems;
use crate::regular;
use crate::schema::{BeyondName, CdfTable, SizeTable};
use crate::suggest;
use pathweave_traffic::{Beyond, CDFS, Cdf, Size};
use std::fmt::Write;

/// The size distribution. A distribution from a file is written into the table by its points.
pub(super) fn size(
    table: &mut SizeTable,
    steps: &[&str],
    problems: &mut Problems<'_>,
) -> Option<Size> {
    let size = match table {
        SizeTable::Fixed(fixed) => Size::Fixed(fixed.bytes.0),
        SizeTable::Uniform(uniform) => Size::Uniform {
            min: uniform.min.0,
            max: uniform.max.0,
        },
        SizeTable::Pareto(pareto) => Size::Pareto {
            shape: pareto.shape,
            mean: pareto.mean.0,
            maximum: pareto.maximum.map(|bytes| bytes.0),
            beyond: match pareto.beyond {
                BeyondName::Redraw => Beyond::Redraw,
                BeyondName::Clip => Beyond::Clip,
            },
        },
        SizeTable::Unlimited(_) => Size::Unlimited,
        SizeTable::Cdf(table) => Size::Empirical(cdf(table, steps, problems)?),
    };
    if let Err(error) = size.check() {
        problems.refused(steps, &error.to_string());
        return None;
    }
    Some(size)
}

fn cdf(table: &mut CdfTable, steps: &[&str], problems: &mut Problems<'_>) -> Option<Cdf> {
    let at = |key| [steps, &[key]].concat();
    match (&table.name, &table.file, &table.points) {
        (Some(name), None, None) => {
            let cdf = Cdf::named(name);
            if cdf.is_none() {
                let names: Vec<&str> = CDFS.iter().map(|(name, _, _)| *name).collect();
                let accepted = suggest::accepted(name, &names);
                problems.wrong(
                    &at("name"),
                    format!("no distribution is called \"{name}\"; {accepted}; or give a file"),
                );
            }
            cdf
        }
        (None, Some(file), None) => {
            let cdf = cdf_of_file(file, &at("file"), problems)?;
            *table = CdfTable {
                points: Some(cdf.points().to_vec()),
                ..CdfTable::default()
            };
            Some(cdf)
        }
        (None, None, Some(points)) => cdf_of_points(points, &at("points"), problems),
        _ => {
            problems.wrong(
                steps,
                "a distribution comes from one place; give one of name, file and points",
            );
            None
        }
    }
}

/// The distribution in a file of the scenario's folder.
pub(super) fn cdf_of_file(file: &str, steps: &[&str], problems: &mut Problems<'_>) -> Option<Cdf> {
    let Some(folder) = problems.folder else {
        problems.wrong(
            steps,
            "this scenario has no folder, so its files cannot be found; give points instead",
        );
        return None;
    };
    let read = regular::read_text(&folder.join(file), regular::DISTRIBUTION)
        .map_err(|problem| format!("\"{file}\" {}", regular::with_place(problem)));
    match read.and_then(|text| Cdf::parse(&text).map_err(|error| format!("{file}: {error}"))) {
        Ok(cdf) => Some(cdf.thinned()),
        Err(text) => {
            problems.wrong(steps, text);
            None
        }
    }
}

/// The distribution with these points: bytes and cumulative probability.
pub(super) fn cdf_of_points(
    points: &[(f64, f64)],
    steps: &[&str],
    problems: &mut Problems<'_>,
) -> Option<Cdf> {
    let mut text = String::new();
    for (bytes, probability) in points {
        let _ = writeln!(text, "{bytes},{probability}"); // a String takes everything
    }
    match Cdf::parse(&text) {
        Ok(cdf) => Some(cdf),
        Err(error) => {
            problems.wrong(steps, error.to_string());
            None
        }
    }
}
