//! A type for each controller of the registry. Ranges and defaults are those of its entry.

use super::Settings;
use super::values::{
    Arithmetic, BestPath, BosVariant, LiaVariant, Pace, Setting, SinglePath, SlowStart, Step,
    Timeouts, Weight, XcpVariant,
};
use crate::{Entry, Value};
use alloc::string::{String, ToString};
use alloc::vec::Vec;

macro_rules! controller {
    ($(#[$about:meta])* $name:ident = $module:ident {
        $($(#[$each:meta])* $field:ident: $kind:ty),* $(,)?
    }) => {
        $(#[$about])*
        #[derive(Clone, Debug, PartialEq)]
        pub struct $name { $($(#[$each])* pub $field: $kind),* }

        impl Default for $name {
            fn default() -> $name {
                #[allow(unused_variables)] // a controller may have no parameters
                let defaults = $name::entry().defaults();
                $name {
                    $($field: defaults
                        .value(stringify!($field))
                        .and_then(Setting::of)
                        .expect("a field is one of the entry's parameters")),*
                }
            }
        }

        impl Settings for $name {
            fn entry() -> &'static Entry {
                const ENTRY: &Entry = &crate::$module::ENTRY;
                ENTRY
            }

            fn given(&self) -> Vec<(String, Value)> {
                let values: &[(&str, Option<Value>)] =
                    &[$((stringify!($field), self.$field.value())),*];
                let named = values.iter().filter_map(|(name, value)| {
                    Some((name.to_string(), value.clone()?))
                });
                named.collect()
            }
        }
    };
}

controller! {
    /// Reno (RFC 5681), on each path by itself.
    Reno = reno {}
}

controller! {
    /// CUBIC (RFC 9438), on each path by itself.
    Cubic = cubic {
        /// C, how steep the cubic function is, in packets per second cubed.
        c: f64,
        /// Share of the window that a loss leaves.
        beta: f64,
        /// Whether a flow whose window is shrinking aims lower.
        fast_convergence: bool,
    }
}

controller! {
    /// DCTCP (RFC 8257), on each path by itself.
    Dctcp = dctcp {
        /// Weight of the latest round in alpha, the average share of marked packets.
        g: f64,
        /// Alpha when a path opens, as a share.
        alpha: f64,
    }
}

controller! {
    /// BOS (XMP paper, section 2.1), on each path by itself.
    Bos = bos {
        /// A marked round costs 1/beta of the window.
        beta: u32,
        /// Real numbers or integers.
        variant: BosVariant,
    }
}

controller! {
    /// A single-path controller on each path by itself.
    Uncoupled = uncoupled {
        /// Which.
        of: SinglePath,
    }
}

controller! {
    /// XMP (CoNEXT 2013).
    Xmp = xmp {
        /// A marked round costs 1/beta of the window.
        beta: u32,
        /// Real numbers or integers.
        variant: BosVariant,
    }
}

controller! {
    /// LIA, the linked increases of MPTCP (RFC 6356).
    Lia = lia {
        /// Share of the window that a marked round costs; 0 sends packets that are not ECN-capable.
        ecn_cut: f64,
        /// Real numbers, or Linux's whole packets.
        variant: LiaVariant,
    }
}

controller! {
    /// OLIA (CoNEXT 2012).
    Olia = olia {
        /// What is largest on the best paths.
        best: BestPath,
        /// Real numbers, or Linux's whole packets.
        variant: Arithmetic,
    }
}

controller! {
    /// Balia.
    Balia = balia {
        /// Real numbers, or Linux's whole packets.
        variant: Arithmetic,
    }
}

controller! {
    /// wVegas (ICNP 2012).
    Wvegas = wvegas {
        /// Packets that a connection keeps in queues.
        total_alpha: f64,
        /// Packets in queues that end slow start.
        gamma: f64,
        /// Packets in queues that a path aims at until it has reached them once.
        initial_alpha: f64,
        /// Real numbers, or Linux's whole packets and drains.
        variant: Arithmetic,
    }
}

controller! {
    /// EWTCP (PFLDNeT 2009).
    Ewtcp = ewtcp {
        /// How slow start grows and what congestion costs there.
        slow_start: SlowStart,
        /// Whether packets are ECN-capable, and a marked round costs what a loss costs.
        ecn: bool,
    }
}

controller! {
    /// Semicoupled, EUTCP(1).
    Semicoupled = semicoupled {
        /// Whether packets are ECN-capable, and a marked round costs what a loss costs.
        ecn: bool,
    }
}

controller! {
    /// EUTCP(gamma) (IEEE 2022).
    Eutcp = eutcp {
        /// Congestion costs gamma/2 of a path's window: one for all, or one each, of which the last is that of all others.
        gamma: Vec<f64>,
        /// What a timeout costs.
        timeout: Timeouts,
        /// Whether packets are ECN-capable, and a marked round costs what a loss costs.
        ecn: bool,
    }
}

controller! {
    /// WUTCP(omega) (IEEE 2022).
    Wutcp = wutcp {
        /// Weight of a path.
        omega: Weight,
        /// What a timeout costs.
        timeout: Timeouts,
        /// Whether packets are ECN-capable, and a marked round costs what a loss costs.
        ecn: bool,
    }
}

controller! {
    /// DCM, LIA's increase with DCTCP's cut.
    Dcm = dcm {
        /// Weight of the latest round in alpha, the average share of marked packets.
        g: f64,
        /// Alpha when a path opens, as a share.
        alpha: f64,
    }
}

controller! {
    /// AMP (IFIP Networking 2019).
    Amp = amp {
        /// A marked round costs 1/beta of the window.
        beta: f64,
        /// Whether all but the first path stop sending when all are at the minimum window.
        suppression: bool,
        /// Rounds with all windows at the minimum until paths are suppressed.
        gamma: u32,
        /// Rounds without a mark until suppressed paths are released.
        tau: u32,
    }
}

controller! {
    /// FCC (IEEE Trans. Communications, 2024).
    Fcc = fcc {
        /// Sum of what paths push with, in 1/s; none is 1 / base RTT.
        alpha_total: Option<f64>,
        /// Weight of the latest round in beta, the average share of marked packets.
        eta: f64,
        /// Fewest packets that the share of marked ones is taken from.
        w_min: u32,
        /// Step size of the gradient projection.
        step: Step,
    }
}

controller! {
    /// MMPTCP (INFOCOM 2016): needs a transport that scatters the first path's packets.
    Mmptcp = mmptcp {
        /// Bytes that are scattered before the other paths open.
        volume: u64,
    }
}

controller! {
    /// RCP: needs switches that take part.
    Rcp = rcp {}
}

controller! {
    /// XCP: needs switches that take part.
    Xcp = xcp {
        /// As published, or as the reference code.
        variant: XcpVariant,
    }
}

controller! {
    /// VCP: needs switches that take part.
    Vcp = vcp {
        /// Share that windows grow by per measuring interval at low load.
        xi: f64,
        /// Share of the window that an overload leaves.
        beta: f64,
        /// Shortest measuring interval, in milliseconds.
        t_p: f64,
        /// RTT at which a round adds one packet at high load, in milliseconds; none is the measuring interval.
        t_d: Option<f64>,
        /// Share of a link's rate that ports take for full load.
        target: f64,
        /// Share of the steady queue that counts as load.
        queue_weight: f64,
    }
}

controller! {
    /// MLCP: needs switches that take part.
    Mlcp = mlcp {
        /// Share of the way to full load that windows grow by per measuring interval below 80 %.
        kappa: f64,
        /// Shortest measuring interval, in milliseconds.
        t_p: f64,
        /// RTT at which a round adds one packet at high load, in milliseconds; none is the measuring interval.
        t_d: Option<f64>,
        /// Share of a link's rate that ports take for full load.
        target: f64,
        /// Share of the steady queue that counts as load.
        queue_weight: f64,
    }
}

controller! {
    /// DECN: needs switches that take part.
    Decn = decn {
        /// Time over which ports measure a flow's rate, in milliseconds.
        t_p: f64,
        /// Unit of differences of rates, in Mbps.
        unit: u32,
        /// When a unit leaves.
        pace: Pace,
        /// Flows that a port can keep.
        table: u32,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registry;
    use alloc::format;
    use std::collections::BTreeSet;

    /// Every parameter is a field: all at once other than their defaults would need values, so names are compared.
    fn covers<S: Settings + PartialEq + core::fmt::Debug>(seen: &mut BTreeSet<&'static str>) {
        let entry = S::entry();
        let defaults = S::default();
        assert_eq!(
            defaults.parameters(),
            Ok(entry.defaults()),
            "{}",
            entry.name
        );
        let shown = format!("{defaults:?}");
        for parameter in entry.parameters {
            let field = format!("{}: ", parameter.name);
            assert!(
                shown.contains(&field),
                "{} lacks {}",
                entry.name,
                parameter.name
            );
        }
        assert!(seen.insert(entry.name), "{} twice", entry.name);
        assert!(defaults.build().is_ok());
    }

    #[test]
    fn every_controller_of_the_registry_has_a_type_with_its_defaults() {
        let mut seen = BTreeSet::new();
        covers::<Reno>(&mut seen);
        covers::<Cubic>(&mut seen);
        covers::<Dctcp>(&mut seen);
        covers::<Bos>(&mut seen);
        covers::<Uncoupled>(&mut seen);
        covers::<Xmp>(&mut seen);
        covers::<Lia>(&mut seen);
        covers::<Olia>(&mut seen);
        covers::<Balia>(&mut seen);
        covers::<Wvegas>(&mut seen);
        covers::<Ewtcp>(&mut seen);
        covers::<Semicoupled>(&mut seen);
        covers::<Wutcp>(&mut seen);
        covers::<Dcm>(&mut seen);
        covers::<Amp>(&mut seen);
        covers::<Fcc>(&mut seen);
        covers::<Mmptcp>(&mut seen);
        covers::<Rcp>(&mut seen);
        covers::<Xcp>(&mut seen);
        covers::<Vcp>(&mut seen);
        covers::<Mlcp>(&mut seen);
        covers::<Decn>(&mut seen);
        // A list of one is the number to the controller, and another value to compare.
        assert_eq!(Eutcp::default().gamma, [1.05]);
        assert!(Eutcp::default().build().is_ok() && seen.insert(Eutcp::entry().name));
        let names = registry().iter().map(|entry| entry.name);
        let lacking: Vec<&str> = names.filter(|name| !seen.contains(name)).collect();
        assert!(lacking.is_empty(), "{lacking:?} have no type here");
    }

    #[test]
    fn fields_arrive_by_the_names_that_scenarios_have() {
        let given = Wutcp {
            omega: Weight::Fixed(0.25),
            timeout: Timeouts::AsLoss,
            ecn: true,
        };
        let parameters = given.parameters().unwrap();
        assert_eq!(parameters.value("omega"), Some(&Value::Number(0.25)));
        assert_eq!(parameters.choice("timeout"), "as-loss");
        assert_eq!(parameters.choice("ecn"), "on");
        let each = Wutcp {
            omega: Weight::Each([0.5, 0.25].into()),
            ..Wutcp::default()
        };
        let parameters = each.parameters().unwrap();
        let list = Value::Numbers([0.5, 0.25].into());
        assert_eq!(parameters.value("omega"), Some(&list));
        let fcc = Fcc {
            alpha_total: Some(2000.0),
            step: Step::Armijo,
            ..Fcc::default()
        };
        let parameters = fcc.parameters().unwrap();
        assert_eq!(parameters.number("alpha_total"), 2000.0);
        assert_eq!(parameters.choice("step"), "armijo");
    }

    #[test]
    fn values_are_checked_as_those_of_scenarios_are() {
        let refused = Bos {
            beta: 1,
            ..Bos::default()
        };
        assert_eq!(
            refused.build().unwrap_err().message,
            "bos cannot have beta = 1: beta takes an integer from 2 to 1024"
        );
        assert!(
            Cubic {
                c: f64::NAN,
                ..Cubic::default()
            }
            .build()
            .is_err()
        );
    }
}
