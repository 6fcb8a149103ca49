//! What a controller behind the C interface says of itself.

use crate::controller::ForeignController;
use crate::functions::Functions;
use pathweave_control::{Ecn, Loaded, LoadedParameter, ParameterKind, Parameters, Value};
use std::sync::Arc;

/// What a controller says of itself.
#[derive(Clone, Debug)]
pub struct Declaration {
    /// What results call it.
    pub name: String,
    /// One sentence.
    pub summary: String,
    /// Paper section or RFC.
    pub source: String,
    /// Formulas and rulings.
    pub explanation: String,
    /// Whether it takes the subflows of a connection together.
    pub coupled: bool,
    /// Marks that an acknowledgement can echo; `None` without ECN.
    pub marks: Option<u8>,
    /// What can be set.
    pub parameters: Vec<LoadedParameter>,
}

/// The algorithm that these functions are.
pub fn loaded(declaration: Declaration, functions: Functions) -> Loaded {
    let functions = Arc::new(functions);
    let marks = declaration.marks;
    let known = declaration.parameters.clone();
    Loaded {
        name: declaration.name,
        summary: declaration.summary,
        source: declaration.source,
        explanation: declaration.explanation,
        coupled: declaration.coupled,
        ecn: Box::new(move |_| marks.map_or(Ecn::Off, |limit| Ecn::Count { limit })),
        parameters: declaration.parameters,
        one_thread: false,
        build: Box::new(move |parameters, seat| {
            let numbers = numbers(&known, parameters);
            Box::new(ForeignController::new(
                Arc::clone(&functions),
                numbers,
                seat,
            ))
        }),
    }
}

/// The values as the C interface has them: a word is its place among the choices.
fn numbers(known: &[LoadedParameter], parameters: &Parameters) -> Arc<[f64]> {
    let number =
        |parameter: &LoadedParameter| match (parameters.value(&parameter.name), &parameter.kind) {
            (Some(Value::Number(number)), _) => *number,
            (Some(Value::Text(word)), ParameterKind::Choice(words)) => {
                let place = words.iter().position(|known| known == word);
                place.map_or(0.0, |place| place as f64)
            }
            _ => 0.0,
        };
    known.iter().map(number).collect()
}
