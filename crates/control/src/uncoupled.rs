//! Uncoupled: a single-path controller on every subflow, each as if it were alone.
//!
//! Every single-path controller of this crate does this by itself when it is given several
//! subflows. This entry is the name under which comparisons list it; `of` chooses the controller,
//! which runs with its default parameters. To set those, name that controller instead.

use crate::{Ecn, Entry, Parameter, ParameterKind, Parameters, registry};

/// Uncoupled in the registry.
pub const ENTRY: Entry = Entry {
    name: "uncoupled",
    summary: "Runs a single-path controller on each subflow by itself.",
    source: "that of the controller named by `of`",
    file: include_str!("uncoupled.rs"),
    coupled: false,
    scatter: None,
    scheme: None,
    ecn,
    parameters: &[Parameter {
        name: "of",
        kind: ParameterKind::Choice(&["reno", "cubic", "dctcp", "bos"]),
        help: "The single-path controller, with its default parameters.",
    }],
    build: |parameters| {
        let entry = chosen(parameters);
        (entry.build)(&entry.defaults())
    },
};

fn chosen(parameters: &Parameters) -> &'static Entry {
    registry::find(parameters.choice("of")).expect("the choices are names in the registry")
}

fn ecn(parameters: &Parameters) -> Ecn {
    let entry = chosen(parameters);
    (entry.ecn)(&entry.defaults())
}

#[cfg(test)]
mod tests {
    use crate::greedy_sender::{GreedySender, text};
    use crate::{Ecn, ParameterKind, find};

    #[test]
    fn the_choices_are_single_path_controllers() {
        let ParameterKind::Choice(choices) = super::ENTRY.parameters[0].kind else {
            panic!("`of` is a choice");
        };
        assert!(choices.iter().all(|choice| !find(choice).unwrap().coupled));
        assert!(!choices.contains(&super::ENTRY.name));
    }

    #[test]
    fn it_is_reno_unless_told_otherwise() {
        let mut connection = GreedySender::new("uncoupled", &[], &[(10.0, 100), (10.0, 100)]);
        connection.ack(0, 1, 1);
        assert_eq!((connection.window(0), connection.window(1)), (10.1, 10.0));
    }

    #[test]
    fn it_is_what_it_is_told_to_be() {
        let entry = find("uncoupled").unwrap();
        let of = |name| entry.parameters(&[text("of", name)]).unwrap();
        assert_eq!((entry.ecn)(&of("reno")), Ecn::Off);
        assert_eq!((entry.ecn)(&of("dctcp")), Ecn::Count { limit: 255 });
        assert_eq!((entry.ecn)(&of("bos")), Ecn::Count { limit: 3 });

        let mut connection = GreedySender::new("uncoupled", &[text("of", "bos")], &[(20.0, 100)]);
        connection.ack(0, 1, 1);
        assert_eq!(connection.window(0), 15.0);
    }
}
