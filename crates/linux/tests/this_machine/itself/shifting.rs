//! Who leaves a path that others congest, and who stops sending on it.

use super::played::{check, holds};

/// Each has its first link for itself and shares the second one with four TCPs.
#[test]
fn olia_and_balia_leave_a_congested_path_and_ewtcp_does_not() {
    holds("congested", |played| {
        let share = |controller: &str| {
            let tcps = (1..=4).map(|tcp| played.goodput(&format!("{controller} TCP {tcp}")));
            let share = played.subflows(controller)[1] / (tcps.sum::<f64>() / 4.0);
            println!("{controller}: {share:.2} of a TCP on the congested path");
            share
        };
        let (ewtcp, olia, balia) = (share("ewtcp"), share("olia"), share("balia"));
        check(ewtcp > 0.3, || format!("EWTCP keeps {ewtcp:.2}"))?;
        check(olia < 0.7 * ewtcp, || {
            format!("OLIA keeps {olia:.2}, EWTCP {ewtcp:.2}")
        })?;
        check(balia < 0.85 * ewtcp, || {
            format!("Balia keeps {balia:.2}, EWTCP {ewtcp:.2}")
        })
    });
}

/// A failed path couples no longer. Coupled to one, with its last rate in the sum or counted as a subflow, each would take
/// less than a share.
#[test]
fn the_survivor_of_two_paths_shares_as_a_flow_of_one() {
    holds("failing", |played| {
        for controller in ["xmp", "ewtcp", "wutcp"] {
            let alone = played.goodput(&format!("{controller} on one path"));
            let ratio = played.goodput(controller) / alone;
            println!("{controller}: {ratio:.2} of the other flow");
            check((0.75..1.33).contains(&ratio), || {
                format!("{controller} takes {ratio:.2} of the other flow")
            })?;
        }
        Ok(())
    });
}

/// Eight DCTCPs bring all windows to the minimum: AMP goes on with its first subflow, and the others send what MPTCP had
/// dealt them and then nothing. At 11 s the DCTCPs stop, and AMP's subflows are released.
#[test]
fn amp_suppresses_and_releases() {
    holds("suppression", |played| {
        let mut suppressed = 0;
        for subflow in [1.0, 2.0, 3.0] {
            let windows = played.windows("amp", subflow, 0.0);
            let among = |from: f64, to: f64| {
                let within = windows.iter().filter(|(time, _)| (from..to).contains(time));
                within.map(|(_, window)| *window).collect::<Vec<_>>()
            };
            let alone = among(1.0, 11.0);
            suppressed += alone.iter().filter(|window| **window == 1.0).count();
            let sent = played.rates("amp", subflow, 10.0);
            let sum = |from: f64, to: f64| -> f64 {
                let within = sent.iter().filter(|(time, _)| (from..to).contains(time));
                within.map(|(_, rate)| rate).sum()
            };
            check(sum(10.0, 11.0) == 0.0, || {
                format!("subflow {subflow} is suppressed, and sends")
            })?;
            check(sum(15.0, 16.0) > 0.0, || {
                format!("subflow {subflow} is released, and sends nothing")
            })?;
            let last = among(15.0, 16.0);
            check(last.iter().all(|window| *window > 1.0), || {
                format!("subflow {subflow} is not released")
            })?;
        }
        println!("suppressed in {suppressed} samples of subflows 1 to 3");
        check(suppressed > 100, || {
            format!("{suppressed} samples are suppressed")
        })?;
        let first = played.windows("amp", 0.0, 1.0);
        check(first.iter().all(|(_, window)| *window > 1.0), || {
            "the first subflow is suppressed".to_owned()
        })
    });
}
