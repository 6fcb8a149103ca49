//! What a flow of two subflows takes of a link that it shares with flows of one.
//!
//! Uncoupled it takes two shares. `validation/testbed/measure.sh shares` takes means over several runs of these scenarios.

use super::played::{Played, check, holds, holds_with};

/// The mean of the flows of two subflows over that of the flows of one.
fn ratio(played: &Played, controller: &str, single: &str) -> f64 {
    let ratio = played.mean_goodput(controller) / played.mean_goodput(single);
    println!("{controller}: {ratio:.2} of one TCP");
    ratio
}

/// Where the flows of one have the name of the controller and "TCP", or are the same for all.
fn takes(
    played: &Played,
    controllers: &[&str],
    single: impl Fn(&str) -> String,
    (least, most): (f64, f64),
) -> Result<(), String> {
    controllers.iter().try_for_each(|controller| {
        for subflows in played.subflows_of(controller) {
            let total: f64 = subflows.iter().sum();
            let all = subflows.len() == 2 && subflows.iter().all(|rate| *rate > total / 20.0);
            check(all, || {
                format!("{controller} has subflows of {subflows:?} Mbps")
            })?;
        }
        let ratio = ratio(played, controller, &single(controller));
        check((least..=most).contains(&ratio), || {
            format!("{controller} takes {ratio:.2} of one TCP")
        })
    })
}

const ONE_SHARE: (f64, f64) = (0.8, 1.2);
const TWO_SHARES: (f64, f64) = (1.6, 2.4);

/// Where congestion meets each packet by itself, which is what LIA, OLIA, Balia and EWTCP were made for. The others
/// take the root of two there.
#[test]
fn two_subflows_take_one_share_where_losses_are_random() {
    holds("random-losses", |played| {
        let tcp = |_: &str| "TCP".to_owned();
        takes(played, &["reno"], tcp, TWO_SHARES)?;
        takes(played, &["ewtcp", "lia", "olia", "balia"], tcp, ONE_SHARE)?;
        takes(played, &["eutcp", "semicoupled", "wutcp"], tcp, (1.13, 1.7))
    });
}

fn own_tcp(controller: &str) -> String {
    format!("{controller} TCP")
}

/// Where it meets all packets of a round, which is what the others were made for. DCM grows as LIA does and takes
/// less: half a share if all of a round is marked, 0.77 if marks are random.
#[test]
fn two_subflows_take_one_share_where_marks_come_once_a_round() {
    holds("step-marks", |played| {
        check(played.marked("xmp 1") > 0.0, || {
            "nothing was marked".to_owned()
        })?;
        takes(played, &["dctcp"], own_tcp, (1.25, 2.4))?;
        takes(played, &["xmp", "amp"], own_tcp, ONE_SHARE)?;
        takes(played, &["dcm"], own_tcp, (0.4, 1.0))
    });
}

/// Packet by packet: where marks hit bundles, MPTCP's own Reno takes 1.5 to 1.75 shares.
#[test]
fn two_subflows_take_one_share_where_marks_halve_windows() {
    holds_with("halving", &["--no-gso"], |played| {
        check(played.marked("eutcp 1") > 0.0, || {
            "nothing was marked".to_owned()
        })?;
        takes(played, &["reno"], own_tcp, TWO_SHARES)?;
        takes(
            played,
            &["eutcp", "semicoupled", "wutcp"],
            own_tcp,
            ONE_SHARE,
        )
    });
}

#[test]
fn two_subflows_of_fcc_take_one_share() {
    holds("proportional-marks", |played| {
        takes(played, &["fcc"], own_tcp, ONE_SHARE)
    });
}

/// Each subflow is a TCP of weight omega, 1/4 and 1/2, beside a TCP of weight 1.
#[test]
fn ewtcp_and_wutcp_split_by_omega() {
    holds("splits", |played| {
        for (controller, least, most) in [("ewtcp", 0.15, 0.48), ("wutcp", 0.4, 0.9)] {
            for (subflow, rate) in (1..).zip(played.subflows(controller)) {
                let share = rate / played.goodput(&format!("{controller} TCP {subflow}"));
                println!("{controller} {subflow}: {share:.2} of a TCP");
                check((least..most).contains(&share), || {
                    format!("a subflow of {controller} takes {share:.2} of a TCP")
                })?;
            }
        }
        Ok(())
    });
}
