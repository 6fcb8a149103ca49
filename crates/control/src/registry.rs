//! The list of controllers: names, parameters, sources.

use crate::{ClonableController, Parameter, ParameterError, Parameters, Scheme, Value};
use alloc::boxed::Box;
use alloc::string::String;
use pathweave_units::Bytes;

/// What a controller does with congestion marks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ecn {
    /// Its packets are not ECN-capable.
    Off,
    /// Its packets are ECN-capable and the receiver echoes the exact number of marks, at most
    /// `limit` in one acknowledgement; what exceeds it waits for the next.
    Count {
        /// Marks that one acknowledgement can echo.
        limit: u8,
    },
}

/// A controller that scenarios can name.
pub struct Entry {
    /// Key in the scenario.
    pub name: &'static str,
    /// One sentence.
    pub summary: &'static str,
    /// Paper section or RFC.
    pub source: &'static str,
    /// The controller's own file: the documentation at its top is what [`Entry::explanation`] gives.
    pub file: &'static str,
    /// Whether it takes the subflows of a connection together: it is made for several, and what it does on one may
    /// depend on the others. Nearly all such controllers couple windows. EWTCP and WUTCP do not: they count the
    /// subflows, or have a weight for each. Without it each subflow runs by itself, as if it were the only one.
    pub coupled: bool,
    /// For a connection that begins by scattering the packets of its first subflow over all paths:
    /// after how many bytes, given its parameters, the other subflows open.
    pub scatter: Option<fn(&Parameters) -> Bytes>,
    /// The scheme that switches take part in for it, if any.
    pub scheme: Option<Scheme>,
    /// What it does with marks, given its parameters.
    pub ecn: fn(&Parameters) -> Ecn,
    /// What can be set.
    pub parameters: &'static [Parameter],
    /// Builds one for a new connection, from checked parameters.
    pub build: fn(&Parameters) -> Box<dyn ClonableController>,
}

impl Entry {
    /// Checks the given values and fills in the defaults.
    ///
    /// # Errors
    /// For a name that is not known or is given twice, and for a value that is out of range.
    pub fn parameters(&self, given: &[(String, Value)]) -> Result<Parameters, ParameterError> {
        Parameters::checked(self.name, self.parameters, given)
    }

    /// Formulas, rulings and deviations: the documentation at the top of the controller's file.
    pub fn explanation(&self) -> String {
        let lines = self.file.lines().map_while(|line| line.strip_prefix("//!"));
        let mut text = String::new();
        for line in lines {
            text.push_str(line.strip_prefix(' ').unwrap_or(line));
            text.push('\n');
        }
        text
    }

    /// The default of every parameter.
    pub fn defaults(&self) -> Parameters {
        Parameters::defaults(self.parameters)
    }
}

/// Every controller, in the order in which lists show them.
pub fn registry() -> &'static [Entry] {
    static REGISTRY: &[Entry] = &[
        crate::reno::ENTRY,
        crate::cubic::ENTRY,
        crate::dctcp::ENTRY,
        crate::bos::ENTRY,
        crate::uncoupled::ENTRY,
        crate::xmp::ENTRY,
        crate::lia::ENTRY,
        crate::olia::ENTRY,
        crate::balia::ENTRY,
        crate::wvegas::ENTRY,
        crate::ewtcp::ENTRY,
        crate::semicoupled::ENTRY,
        crate::eutcp::ENTRY,
        crate::wutcp::ENTRY,
        crate::dcm::ENTRY,
        crate::amp::ENTRY,
        crate::fcc::ENTRY,
        crate::mmptcp::ENTRY,
        crate::rcp::ENTRY,
        crate::xcp::ENTRY,
        crate::vcp::ENTRY,
        crate::mlcp::ENTRY,
        crate::decn::ENTRY,
    ];
    REGISTRY
}

/// The controller of this name.
pub fn find(name: &str) -> Option<&'static Entry> {
    registry().iter().find(|entry| entry.name == name)
}

#[cfg(test)]
mod tests {
    use super::{Entry, find, registry};
    use crate::greedy_sender::{number, text};
    use crate::{ParameterError, ParameterKind, Value};
    use alloc::string::{String, ToString};
    use alloc::vec::Vec;

    fn entry(name: &str) -> &'static Entry {
        find(name).expect("the controller is in the registry")
    }

    fn refused(controller: &str, given: &[(String, Value)]) -> ParameterError {
        entry(controller)
            .parameters(given)
            .expect_err("the parameters are refused")
    }

    #[test]
    fn names_are_unique_and_found() {
        for (i, entry) in registry().iter().enumerate() {
            assert_eq!(find(entry.name).unwrap().name, entry.name);
            assert!(registry()[..i].iter().all(|other| other.name != entry.name));
            assert!(!entry.summary.is_empty() && !entry.source.is_empty());
        }
        assert!(find("renoo").is_none());
    }

    #[test]
    fn every_default_is_accepted() {
        for entry in registry() {
            let defaults = entry.defaults();
            assert_eq!(defaults.iter().count(), entry.parameters.len());
            for (parameter, (name, value)) in entry.parameters.iter().zip(defaults.iter()) {
                assert_eq!(parameter.name, name);
                assert!(parameter.kind.accepts(value), "{} of {}", name, entry.name);
                assert!(!parameter.help.is_empty());
            }
            let given: Vec<_> = defaults
                .iter()
                .map(|(name, value)| (name.to_string(), value.clone()))
                .collect();
            assert_eq!(entry.parameters(&given).unwrap(), defaults);
            assert_eq!(entry.parameters(&[]).unwrap(), defaults);
        }
    }

    #[test]
    fn given_values_replace_defaults() {
        let parameters = entry("xmp")
            .parameters(&[text("variant", "kernel")])
            .unwrap();
        assert_eq!(parameters.choice("variant"), "kernel");
        assert_eq!(parameters.number("beta"), 4.0);
        let parameters = entry("xmp").parameters(&[number("beta", 6.0)]).unwrap();
        assert_eq!(parameters.choice("variant"), "paper");
        assert_eq!(parameters.number("beta"), 6.0);
    }

    #[test]
    fn unknown_names_are_refused_with_the_known_ones() {
        let error = refused("xmp", &[number("betta", 4.0)]);
        assert_eq!(error.name, "betta");
        let message = r#"xmp has no parameter "betta"; it has "beta", "variant""#;
        assert_eq!(error.to_string(), message);
        let error = refused("reno", &[number("beta", 4.0)]);
        assert_eq!(
            error.message,
            r#"reno has no parameter "beta"; it has none"#
        );
    }

    #[test]
    fn values_out_of_range_are_refused_with_the_range() {
        let error = refused("xmp", &[text("variant", "paper"), number("beta", 1.0)]);
        assert_eq!(error.name, "beta");
        let message = "xmp cannot have beta = 1: beta takes an integer from 2 to 1024";
        assert_eq!(error.message, message);
        for wrong in [1025.0, 2.5, -4.0, f64::INFINITY, f64::NAN] {
            refused("xmp", &[number("beta", wrong)]);
        }
        let message = "dctcp cannot have g = 1.5: g takes a number from 0 to 1";
        assert_eq!(refused("dctcp", &[number("g", 1.5)]).message, message);
        for right in [0.0, 0.3, 1.0] {
            assert!(entry("dctcp").parameters(&[number("g", right)]).is_ok());
        }
    }

    #[test]
    fn values_of_the_wrong_kind_are_refused_with_the_kind() {
        let message = r#"xmp cannot have beta = "4": beta takes an integer from 2 to 1024"#;
        assert_eq!(refused("xmp", &[text("beta", "4")]).message, message);
        let message = r#"xmp cannot have variant = 1: variant takes one of "paper", "kernel""#;
        assert_eq!(refused("xmp", &[number("variant", 1.0)]).message, message);
        let message = r#"xmp cannot have variant = "code": variant takes one of "paper", "kernel""#;
        assert_eq!(refused("xmp", &[text("variant", "code")]).message, message);
    }

    #[test]
    fn lists_are_refused_as_they_are_written() {
        let message = "eutcp cannot have gamma = [1, 0.5, 1.1]: \
                       gamma takes a number from 1 to 1.9, or a list with one for each subflow";
        let list = Value::Numbers([1.0, 0.5, 1.1].into());
        let given = [("gamma".to_string(), list)];
        assert_eq!(refused("eutcp", &given).message, message);
        let empty = [("gamma".to_string(), Value::Numbers(Vec::new()))];
        refused("eutcp", &empty);
        refused("xmp", &[("beta".to_string(), Value::Numbers([4.0].into()))]);
        let message = "wutcp cannot have omega = 2: \
                       omega takes \"1/m\", \"1/m^2\", \"1/sqrt(m)\", a number from 0.00001 to 1, \
                       or a list with one for each subflow";
        assert_eq!(refused("wutcp", &[number("omega", 2.0)]).message, message);
    }

    #[test]
    fn the_explanation_is_the_head_of_the_file() {
        let entry = Entry {
            file: "//! Title\n//!\n//! - a line\n\n//! not this\nfn code() {}\n",
            ..*entry("reno")
        };
        assert_eq!(entry.explanation(), "Title\n\n- a line\n");
    }

    #[test]
    fn explanations_are_clean_text() {
        for entry in registry() {
            let explanation = entry.explanation();
            assert!(explanation.lines().count() > 3, "{}", entry.name);
            let escaped = explanation.lines().find(|line| line.contains('\\'));
            assert_eq!(escaped, None, "{}", entry.name);
        }
    }

    #[test]
    fn a_parameter_is_given_once() {
        let error = refused("xmp", &[number("beta", 4.0), number("beta", 4.0)]);
        assert_eq!(error.message, r#""beta" is given twice"#);
    }

    #[test]
    #[should_panic(expected = "no numeric parameter named variant")]
    fn asking_a_choice_for_its_number_is_a_mistake() {
        entry("xmp").defaults().number("variant");
    }

    #[test]
    #[should_panic(expected = "no choice named beta")]
    fn asking_a_number_for_its_choice_is_a_mistake() {
        entry("xmp").defaults().choice("beta");
    }

    #[test]
    fn the_first_choice_is_the_default() {
        let kind: ParameterKind = ParameterKind::Choice(&["a", "b"]);
        assert_eq!(kind.default_value(), Value::Text("a".to_string()));
    }
}
