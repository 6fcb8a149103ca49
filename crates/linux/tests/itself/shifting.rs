//! Who leaves a path that others congest, and who stops sending on it.

use crate::played::play;

/// Each has its first link for itself and shares the second one with four TCPs.
#[test]
fn olia_and_balia_leave_a_congested_path_and_ewtcp_does_not() {
    let Some(played) = play("congested") else {
        return;
    };
    let share = |controller: &str| {
        let tcps = (1..=4).map(|tcp| played.goodput(&format!("{controller} TCP {tcp}")));
        let share = played.subflows(controller)[1] / (tcps.sum::<f64>() / 4.0);
        println!("{controller}: {share:.2} of a TCP on the congested path");
        share
    };
    let (ewtcp, olia, balia) = (share("ewtcp"), share("olia"), share("balia"));
    assert!(ewtcp > 0.3, "{ewtcp}");
    assert!(olia < 0.7 * ewtcp, "{olia} against {ewtcp}");
    assert!(balia < 0.9 * ewtcp, "{balia} against {ewtcp}");
}

/// Eight DCTCPs bring all windows to the minimum: AMP goes on with its first subflow, the others are left one packet. At
/// 4 s they stop, and AMP's are released.
#[test]
fn amp_suppresses_and_releases() {
    let Some(played) = play("suppression") else {
        return;
    };
    let mut suppressed = 0;
    for subflow in [1.0, 2.0, 3.0] {
        let windows = played.windows("amp", subflow, 0.0);
        let among = |from: f64, to: f64| {
            let within = windows.iter().filter(|(time, _)| (from..to).contains(time));
            within.map(|(_, window)| *window).collect::<Vec<_>>()
        };
        suppressed += among(1.0, 4.0)
            .iter()
            .filter(|window| **window == 1.0)
            .count();
        let last = among(7.0, 8.0);
        assert!(
            last.iter().all(|window| *window > 1.0),
            "subflow {subflow} is not released: {last:?}"
        );
    }
    println!("suppressed in {suppressed} samples of subflows 1 to 3");
    assert!(suppressed > 100, "{suppressed} samples");
    let first = played.windows("amp", 0.0, 1.0);
    assert!(
        first.iter().all(|(_, window)| *window > 1.0),
        "the first one is never suppressed"
    );
}
