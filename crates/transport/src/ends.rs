//! The names of the ends of connections and subflows.

/// The place of a connection's sending half among all; used again when it has been released.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SendingId(pub u32);

/// The place of a connection's receiving half among all; used again when it has been released.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ReceivingId(pub u32);

/// The place of a subflow's sending half among all; used again when its connection has been released.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SendingSubflow(pub u32);

/// The place of a subflow's receiving half among all; used again when its connection has been released.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ReceivingSubflow(pub u32);

/// One end of a subflow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// Data and SYNs leave here, acknowledgements and SYN-ACKs arrive.
    Sending(SendingSubflow),
    /// Data and SYNs arrive here, acknowledgements and SYN-ACKs leave.
    Receiving(ReceivingSubflow),
}
