//! Congestion fields as bytes of headers. docs/results.md has the table ("Congestion fields").

use etherparse::IpEcn;
use pathweave_control::{Feedback, Load, Scheme};

/// The kind of TCP options for experiments (RFC 4727). Two bytes that tell experiments apart follow kind and length
/// (RFC 6994). Those below are not registered.
const EXPERIMENT: u8 = 254;
const XCP: [u8; 2] = *b"PX";
const RCP: [u8; 2] = *b"PR";
const MLCP: [u8; 2] = *b"PM";

/// Most marks that two bits count.
const MOST_IN_TWO_BITS: u8 = 3;

/// What a flow's headers carry besides what TCP over IP has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Carries {
    Nothing,
    /// The field of a scheme.
    Field(Scheme),
    /// The number of marks that an acknowledgement echoes, in the bits ECE and CWR.
    Marks,
}

impl Carries {
    /// `ecn_echo` is the most marks that an acknowledgement echoes; `None` without ECN.
    pub fn new(scheme: Option<Scheme>, ecn_echo: Option<u8>) -> Carries {
        match (scheme, ecn_echo) {
            (Some(scheme), _) => Carries::Field(scheme),
            (None, Some(..=MOST_IN_TWO_BITS)) => Carries::Marks,
            (None, _) => Carries::Nothing,
        }
    }

    /// What the interface's description says, so that a dissector knows how to read the bits.
    pub fn description(self) -> Option<&'static str> {
        match self {
            Carries::Nothing => None,
            Carries::Marks => Some("congestion fields: marks"),
            Carries::Field(Scheme::Xcp) => Some("congestion fields: xcp"),
            Carries::Field(Scheme::Rcp) => Some("congestion fields: rcp"),
            Carries::Field(Scheme::Vcp) => Some("congestion fields: vcp"),
            Carries::Field(Scheme::Mlcp) => Some("congestion fields: mlcp"),
            Carries::Field(Scheme::Decn) => Some("congestion fields: decn"),
        }
    }
}

/// A packet's field.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Field {
    /// The ECN bits of IPv4, if they are the field's.
    pub ecn: Option<IpEcn>,
    /// The four reserved bits of TCP.
    pub reserved: u8,
    /// A TCP option, padded to a multiple of four bytes.
    pub option: Vec<u8>,
}

impl Field {
    /// The field of a data packet, or of an acknowledgement. The option of an acknowledgement has only what the sender
    /// reads: three SACK blocks leave it 12 bytes.
    pub fn new(feedback: Feedback, is_echo: bool) -> Field {
        let mut field = Field::default();
        match feedback {
            Feedback::None => {}
            Feedback::Xcp {
                window,
                rtt,
                change,
            } => {
                let all = [window, rtt, change];
                field.option = numbers(XCP, if is_echo { &all[2..] } else { &all });
            }
            Feedback::Rcp { rate, rtt } => {
                let all = [rate, rtt];
                field.option = numbers(RCP, if is_echo { &all[..1] } else { &all });
            }
            Feedback::Mlcp { load, rtt } => field.option = option(MLCP, &[load << 3 | rtt]),
            Feedback::Vcp(load) => {
                field.ecn = Some(match load {
                    Load::Low => IpEcn::Ect1,
                    Load::High => IpEcn::Ect0,
                    Load::Overload => IpEcn::CongestionExperienced,
                });
            }
            Feedback::Decn {
                nibble,
                first,
                in_unit: true,
            } => {
                field.ecn = first.then_some(IpEcn::Ect1);
                field.reserved = nibble;
            }
            Feedback::Decn { in_unit: false, .. } => {}
        }
        field
    }
}

/// Numbers of single precision (IEEE 754) in network byte order.
fn numbers(experiment: [u8; 2], numbers: &[f32]) -> Vec<u8> {
    let bytes: Vec<u8> = numbers.iter().flat_map(|n| n.to_be_bytes()).collect();
    option(experiment, &bytes)
}

fn option(experiment: [u8; 2], content: &[u8]) -> Vec<u8> {
    let length = 4 + content.len();
    let mut option = vec![EXPERIMENT, length as u8];
    option.extend(experiment);
    option.extend(content);
    option.resize(length.next_multiple_of(4), super::frame::NO_OPERATION);
    option
}

#[cfg(test)]
mod tests {
    use super::*;
    use pathweave_transport::SACK_BLOCKS;

    #[test]
    fn options_are_as_long_as_the_schemes_count_for_them() {
        let (window, rtt, change, rate) = (15_000.0, 1e-4, -2.5, 1e9);
        let xcp = Feedback::Xcp {
            window,
            rtt,
            change,
        };
        let rcp = Feedback::Rcp { rate, rtt };
        for (scheme, feedback) in [(Scheme::Xcp, xcp), (Scheme::Rcp, rcp)] {
            let option = Field::new(feedback, false).option;
            assert_eq!(option.len(), usize::from(scheme.header_bytes()));
        }
        let change = [254, 8, b'P', b'X', 0xc0, 0x20, 0, 0];
        assert_eq!(Field::new(xcp, true).option, change);
        let rate = [254, 8, b'P', b'R', 0x4e, 0x6e, 0x6b, 0x28];
        assert_eq!(Field::new(rcp, true).option, rate);
        let mlcp = Field::new(Feedback::Mlcp { load: 15, rtt: 7 }, false);
        assert_eq!(mlcp.option, [254, 5, b'P', b'M', 0x7f, 1, 1, 1]);
        // Beside as many SACK blocks as there can be.
        assert!(change.len() + 4 + 8 * SACK_BLOCKS <= 40);
    }

    #[test]
    fn two_bits_count_up_to_three_marks() {
        assert_eq!(Carries::new(None, None), Carries::Nothing);
        assert_eq!(Carries::new(None, Some(3)), Carries::Marks);
        assert_eq!(Carries::new(None, Some(4)), Carries::Nothing);
        let with_scheme = Carries::new(Some(Scheme::Decn), None);
        assert_eq!(with_scheme, Carries::Field(Scheme::Decn));
    }
}
