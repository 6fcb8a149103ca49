//! Subflows take little ahead of what they can send, as long as they have such a controller.

use super::hosts::Hosts;
use super::inventory::Inventory;
use super::traffic::carry_blocks;
use crate::this_machine;
use pathweave_control::find;
use pathweave_linux::kernel::{self, Request, Users};
use rustix::net::sockopt::{set_socket_recv_buffer_size_force, set_socket_send_buffer_size_force};

/// TCP_NOTSENT_LOWAT of the controllers, and the last piece of MPTCP's.
const LITTLE: usize = 3 << 16;
/// Of sender and receiver, in bytes.
const BUFFER: usize = 8 << 20;
/// Blocks of 64 KB, half of them with the controller and half with reno.
const MOST_BLOCKS: usize = 600;

#[test]
fn subflows_take_little_ahead_until_they_are_given_reno() {
    let Some(_machine) = this_machine::with_controllers() else {
        return;
    };
    let before = Inventory::before();
    let hosts = Hosts::new();
    hosts.slow_down("50mbit");
    let entry = find("lia").expect("it is in the registry");
    let request = Request::new(entry, &entry.defaults(), 2).expect("it has a counterpart");
    kernel::load(&request).unwrap().pin().unwrap();

    let listener = hosts.listen("pw_lia");
    set_socket_recv_buffer_size_force(&listener, BUFFER).unwrap();
    let connection = hosts.connect("pw_lia");
    set_socket_send_buffer_size_force(&connection, BUFFER).unwrap();
    let (mut blocks, mut most_of_lia, mut most_of_reno) = (0, 0, 0);
    let (sent, received) = carry_blocks(&listener, connection, || {
        blocks += 1;
        if blocks == MOST_BLOCKS / 2 {
            kernel::unload("pw_lia", Users::Get(None)).unwrap();
        }
        // To look takes as long as to write several blocks.
        if blocks % 16 == 0 {
            let most = if blocks < MOST_BLOCKS / 2 {
                &mut most_of_lia
            } else {
                &mut most_of_reno
            };
            *most = hosts.most_unsent().max(*most);
        }
        if blocks > MOST_BLOCKS || most_of_reno > 2 * LITTLE {
            0
        } else {
            1 << 16
        }
    });
    assert_eq!(sent, received);
    assert!(most_of_lia > 1 << 16, "the subflows are not full");
    assert!(most_of_lia <= LITTLE, "{most_of_lia} bytes of a subflow");
    assert!(most_of_reno > 2 * LITTLE, "{most_of_reno} bytes with reno");
    drop((listener, hosts));
    before.assert_is_again();
}
