//! What a flow of two subflows takes of a link that it shares with one of one.
//!
//! Uncoupled it takes two shares. Ten seconds of one run scatter by a third; means over several runs are in
//! validation/testbed.

use crate::played::{Played, play};

/// The share of the flow of two subflows over that of the flow of one.
fn ratio(played: &Played, controller: &str) -> f64 {
    played.goodput(controller) / played.goodput(&format!("{controller} TCP"))
}

/// About one share, and far less than the uncoupled ones in the same run.
fn assert_takes_one_share(played: &Played, uncoupled: f64, controllers: &[&str]) {
    for controller in controllers {
        let ratio = ratio(played, controller);
        println!("{controller}: {ratio:.2} of one TCP");
        assert!(
            (0.5..=1.4).contains(&ratio),
            "{controller} takes {ratio:.2}"
        );
        assert!(
            ratio < 0.8 * uncoupled,
            "{controller} takes {ratio:.2}, Reno {uncoupled:.2}"
        );
    }
}

/// Where congestion meets each packet by itself, which is what LIA, OLIA, Balia and EWTCP were made for.
#[test]
fn two_subflows_take_one_share_where_marks_are_random() {
    let Some(played) = play("random-marks") else {
        return;
    };
    let reno = ratio(&played, "reno");
    assert!(reno > 1.4, "Reno takes {reno:.2}");
    assert_takes_one_share(&played, reno, &["lia", "olia", "balia", "ewtcp"]);
}

/// Where it meets all packets of a round, which is what the others were made for.
#[test]
fn two_subflows_take_one_share_where_marks_come_once_a_round() {
    let Some(played) = play("step-marks") else {
        return;
    };
    let (reno, dctcp) = (ratio(&played, "reno"), ratio(&played, "dctcp"));
    assert!(
        reno > 1.4 && dctcp > 1.2,
        "Reno takes {reno:.2}, DCTCP {dctcp:.2}"
    );
    assert_takes_one_share(&played, reno, &["xmp", "eutcp", "semicoupled"]);
    // One share, or the root of two as far as marks meet single packets.
    let wutcp = ratio(&played, "wutcp");
    assert!((0.6..=1.7).contains(&wutcp), "wutcp takes {wutcp:.2}");
    // These take less on real hosts, where their packets meet more marks than those of plain TCP.
    for (controller, least) in [("amp", 0.3), ("dcm", 0.1)] {
        let ratio = ratio(&played, controller);
        println!("{controller}: {ratio:.2} of one TCP");
        assert!(
            (least..=1.3).contains(&ratio),
            "{controller} takes {ratio:.2}"
        );
    }
}

#[test]
fn two_subflows_of_fcc_take_one_share() {
    let Some(played) = play("proportional-marks") else {
        return;
    };
    assert_takes_one_share(&played, 2.0, &["fcc"]);
}

/// Each subflow is a TCP of weight omega, 1/4 and 1/2, beside a TCP of weight 1.
#[test]
fn ewtcp_and_wutcp_split_by_omega() {
    let Some(played) = play("splits") else { return };
    for (controller, least, most) in [("ewtcp", 0.15, 0.48), ("wutcp", 0.4, 0.9)] {
        for (subflow, rate) in (1..).zip(played.subflows(controller)) {
            let share = rate / played.goodput(&format!("{controller} TCP {subflow}"));
            println!("{controller} {subflow}: {share:.2} of a TCP");
            assert!((least..most).contains(&share), "{controller}: {share:.2}");
        }
    }
}
