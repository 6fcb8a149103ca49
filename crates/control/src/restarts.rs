//! Controllers that go from one connection to another behave there as new ones do.

use crate::greedy_sender::GreedySender;
use crate::{Change, Loss, registry};
use alloc::vec::Vec;

/// Acknowledgements, marks, losses and changes in turn, and the windows after each of them.
fn live(connection: &mut GreedySender, subflows: usize) -> Vec<(f64, f64)> {
    let steps = (0..200).map(|step| {
        let r = step % subflows;
        match step % 11 {
            3 => connection.ack(r, 2, 2),
            7 if step % 3 == 0 => connection.loss(r, Loss::FastRetransmit),
            8 if step % 5 == 0 => connection.loss(r, Loss::Timeout),
            9 if step % 4 == 0 => connection.change(r, Change::Opened),
            _ => connection.ack(r, 1, 0),
        }
        (connection.window(r), connection.ssthresh(r))
    });
    steps.collect()
}

#[test]
fn restarted_controllers_are_as_new() {
    let mut restarted = 0;
    for entry in registry() {
        let new = |subflows: &[(f64, u64)]| GreedySender::new(entry.name, &[], subflows);
        if !new(&[(10.0, 100)]).into_controller().restart() {
            continue;
        }
        restarted += 1;
        let mut first = new(&[(10.0, 100), (30.0, 200), (4.0, 150)]);
        live(&mut first, 3);
        let mut used = first.into_controller();
        assert!(used.restart());
        let subflows = [(20.0, 300), (8.0, 50)];
        let (mut fresh, mut again) = (new(&subflows), new(&subflows).of(|_| used));
        assert_eq!(live(&mut fresh, 2), live(&mut again, 2), "{}", entry.name);
    }
    assert!(restarted >= 4, "single-path controllers can be restarted");
}
