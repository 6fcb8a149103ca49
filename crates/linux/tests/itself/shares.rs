//! What a flow of two subflows takes of a link that it shares with one of one.
//!
//! Uncoupled it takes two shares. Twenty seconds of one run scatter by a fifth; means over several runs are for
//! validation/testbed.

use crate::played::{Played, check, holds};

/// The share of the flow of two subflows over that of the flow of one.
fn ratio(played: &Played, controller: &str) -> f64 {
    let ratio = played.goodput(controller) / played.goodput(&format!("{controller} TCP"));
    println!("{controller}: {ratio:.2} of one TCP");
    ratio
}

fn takes(played: &Played, controllers: &[&str], least: f64, most: f64) -> Result<(), String> {
    controllers.iter().try_for_each(|controller| {
        let ratio = ratio(played, controller);
        check((least..=most).contains(&ratio), || {
            format!("{controller} takes {ratio:.2} of one TCP")
        })
    })
}

/// Where congestion meets each packet by itself, which is what LIA, OLIA, Balia and EWTCP were made for.
#[test]
fn two_subflows_take_one_share_where_marks_are_random() {
    holds("random-marks", |played| {
        takes(played, &["reno"], 1.5, 2.6)?;
        takes(played, &["lia", "olia", "balia", "ewtcp"], 0.6, 1.35)
    });
}

/// Where it meets all packets of a round, which is what the others were made for.
#[test]
fn two_subflows_take_one_share_where_marks_come_once_a_round() {
    holds("step-marks", |played| {
        takes(played, &["reno"], 1.4, 2.6)?;
        takes(played, &["dctcp"], 1.25, 2.6)?;
        takes(played, &["xmp", "eutcp", "semicoupled"], 0.6, 1.35)?;
        // One share, or the root of two as far as marks meet single packets.
        takes(played, &["wutcp"], 0.6, 1.6)?;
        // These take less on real hosts, where their packets meet more marks than those of plain TCP.
        takes(played, &["amp"], 0.3, 1.35)?;
        takes(played, &["dcm"], 0.1, 1.35)
    });
}

#[test]
fn two_subflows_of_fcc_take_one_share() {
    holds("proportional-marks", |played| {
        takes(played, &["fcc"], 0.6, 1.35)
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
