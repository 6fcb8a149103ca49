//! Sizes of data packets from their tables.

use super::{Problems, size};
use crate::schema::{PacketCdfTable, PacketsTable};
use pathweave_traffic::Cdf;
use pathweave_transport::{Config, PacketMix};
use pathweave_units::Bytes;

/// Writes the sizes of data packets into the transport. A distribution from a file is written into the
/// table by its points.
pub(super) fn packets(
    table: &mut PacketsTable,
    config: &mut Config,
    steps: &[&str],
    problems: &mut Problems<'_>,
) {
    match table {
        PacketsTable::Fixed(fixed) => {
            let size = fixed.bytes.0.get() as f64;
            if let Err(text) = check(size, size, config) {
                problems.wrong(&[steps, &["bytes"]].concat(), text);
                return;
            }
            let overhead = config.overhead();
            config.data_packet = fixed.bytes.0.get() as u16;
            config.maximum_segment = config.data_packet - overhead;
        }
        PacketsTable::Cdf(table) => {
            let Some((cdf, key)) = cdf(table, steps, problems) else {
                return;
            };
            let points = cdf.points();
            let (smallest, largest) = (points[0].0, points[points.len() - 1].0);
            if let Err(text) = check(smallest.round(), largest.round(), config) {
                problems.wrong(&[steps, &[key]].concat(), text);
                return;
            }
            config.packets = Some(PacketMix::new(|probability| cdf.quantile(probability)));
        }
    }
}

/// A packet holds its headers and a byte, and is no longer than the longest one.
fn check(smallest: f64, largest: f64, config: &Config) -> Result<(), String> {
    let least = config.overhead() + 1;
    if smallest < f64::from(least) {
        return Err(format!(
            "data packets of {smallest} B cannot hold their headers, {} B, and data; give at least {least} B",
            config.overhead()
        ));
    }
    if largest > f64::from(config.data_packet) {
        return Err(format!(
            "data packets of {} are longer than the transport's data_packet, {}; give at most {} B",
            Bytes::new(largest as u64),
            Bytes::new(u64::from(config.data_packet)),
            config.data_packet
        ));
    }
    Ok(())
}

/// The distribution, and the key that it is under.
fn cdf(
    table: &mut PacketCdfTable,
    steps: &[&str],
    problems: &mut Problems<'_>,
) -> Option<(Cdf, &'static str)> {
    let at = |key| [steps, &[key]].concat();
    match (&table.file, &table.points) {
        (Some(file), None) => {
            let cdf = size::cdf_of_file(file, &at("file"), problems)?;
            *table = PacketCdfTable {
                file: None,
                points: Some(cdf.points().to_vec()),
            };
            Some((cdf, "points"))
        }
        (None, Some(points)) => {
            let cdf = size::cdf_of_points(points, &at("points"), problems)?;
            Some((cdf, "points"))
        }
        _ => {
            problems.wrong(
                steps,
                "a distribution comes from one place; give one of file and points",
            );
            None
        }
    }
}
