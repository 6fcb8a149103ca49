//! Rounds with real threads.

use pathweave_lockstep::Lockstep;
use std::panic::{AssertUnwindSafe, catch_unwind};

#[test]
fn everybody_works_on_his_own_in_every_round() {
    for followers in [0, 1, 3, 7] {
        let lockstep = Lockstep::new(followers);
        std::thread::scope(|scope| {
            for follower in 0..followers {
                let lockstep = &lockstep;
                scope.spawn(move || {
                    lockstep.follow(follower, |seen: &mut Vec<usize>| seen.push(follower));
                });
            }
            let mut lead = lockstep.lead();
            let mut lent = vec![Vec::new(); followers];
            let mut own = 0;
            for round in 1..=2_000 {
                lead.round(&mut lent, || own += 1);
                assert_eq!(own, round);
                assert!(lent.iter().all(|seen| seen.len() == round));
            }
            for (follower, seen) in lent.iter().enumerate() {
                assert!(seen.iter().all(|&by| by == follower));
            }
        });
    }
}

#[test]
fn a_follower_that_panics_takes_the_leader_along() {
    let lockstep = Lockstep::new(2);
    let panicked = catch_unwind(AssertUnwindSafe(|| {
        std::thread::scope(|scope| {
            for follower in 0..2 {
                let lockstep = &lockstep;
                scope.spawn(move || {
                    lockstep.follow(follower, |number: &mut u32| {
                        *number += 1;
                        assert!(*number < 3 || follower == 0, "the third round");
                    });
                });
            }
            let mut lead = lockstep.lead();
            let mut lent = vec![0, 0];
            loop {
                lead.round(&mut lent, || {});
            }
        });
    }));
    assert!(panicked.is_err());
}
