//! All orders in which threads may take their steps, as far as loom goes through them.
//!
//! `RUSTFLAGS="--cfg loom" cargo test --release --package pathweave-lockstep --test lockstep`
use loom::sync::Arc;
use loom::thread;
use pathweave_lockstep::Lockstep;

fn rounds_of(followers: usize, count: u32) {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = Some(3);
    model.check(move || {
        let lockstep = Arc::new(Lockstep::new(followers));
        let threads: Vec<_> = (0..followers)
            .map(|follower| {
                let lockstep = Arc::clone(&lockstep);
                thread::spawn(move || lockstep.follow(follower, |number: &mut u32| *number += 1))
            })
            .collect();
        let mut lead = lockstep.lead();
        let mut lent = vec![0; followers];
        for round in 1..=count {
            lead.round(&mut lent, || {});
            assert!(lent.iter().all(|&number| number == round));
        }
        drop(lead);
        for thread in threads {
            thread.join().expect("no follower panics");
        }
    });
}

#[test]
fn one_follower_misses_no_round_and_no_end() {
    rounds_of(1, 2);
}

#[test]
fn two_followers_miss_no_round_and_no_end() {
    rounds_of(2, 1);
}
