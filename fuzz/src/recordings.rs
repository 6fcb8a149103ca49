//! Lists of flows, GOAL schedules and size distributions.

use pathweave_traffic::Cdf;
use pathweave_traffic::recordings::{flow_list, goal};

/// Reads bytes as a list of flows, as a schedule and as a distribution: they are one, or the messages say what is wrong.
///
/// # Panics
/// When a refusal has no message, a list that is written again is not the same, or a distribution is none.
pub fn recordings(input: &[u8]) {
    let Ok(text) = std::str::from_utf8(input) else {
        return;
    };
    if let Err(error) = goal::parse(text) {
        assert!(!error.problem.is_empty());
    }
    match Cdf::parse(text) {
        Ok(cdf) => {
            let points = cdf.points();
            assert!(points.is_sorted_by(|a, b| a.0 <= b.0 && a.1 <= b.1));
            assert_eq!(points.last().map(|point| point.1), Some(1.0));
            assert!(points.iter().all(|point| point.0 >= 0.0 && point.1 >= 0.0));
        }
        Err(error) => assert!(!error.to_string().is_empty()),
    }
    let host = |text: &str| text.parse().map_err(|_| "no host".to_owned());
    let names: Vec<String> = (0..100).map(|host: u32| host.to_string()).collect();
    match flow_list::parse(text, host) {
        Ok(rows) if rows.iter().all(|row| row.source.max(row.destination) < 100) => {
            if let Err(error) = flow_list::graph(&rows) {
                assert!(!error.problem.is_empty());
            }
            let name = |host: u32| names[host as usize].as_str();
            let written = flow_list::written(&rows, name);
            let again = flow_list::parse(&written, host).expect("what was written can be read");
            assert_eq!(flow_list::written(&again, name), written);
        }
        Ok(_) => {}
        Err(error) => assert!(!error.problem.is_empty()),
    }
}
