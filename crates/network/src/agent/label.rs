//! What ports may see of a packet besides its header.

use pathweave_control::Feedback;

/// What a kind of port carries with each packet.
pub trait PacketLabel: Copy + Default + std::fmt::Debug {
    /// The label of a packet that a host sends; `flow` is a number that no other flow ever has, and an echo is an
    /// acknowledgement.
    fn new(feedback: Feedback, flow: u32, is_echo: bool) -> Self;

    /// The congestion field of a packet that arrives.
    fn feedback(&self) -> Feedback;
}

/// Of ports without agents: nothing.
impl PacketLabel for () {
    #[inline(always)]
    fn new(_feedback: Feedback, _flow: u32, _is_echo: bool) {}
    #[inline(always)]
    fn feedback(&self) -> Feedback {
        Feedback::None
    }
}

/// Of ports with agents.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Label {
    /// The congestion field.
    pub feedback: Feedback,
    /// Whose packet it is.
    pub flow: u32,
    /// An acknowledgement: its field is on the way back, and nobody changes it.
    pub is_echo: bool,
}

impl PacketLabel for Label {
    fn new(feedback: Feedback, flow: u32, is_echo: bool) -> Label {
        Label {
            feedback,
            flow,
            is_echo,
        }
    }
    fn feedback(&self) -> Feedback {
        self.feedback
    }
}
