//! Parameters as the command line gives them.

use crate::Failure;
use pathweave_control::Value;

/// `beta=4`, `gamma=1.05,1.1` or `suppression=off`.
pub(super) fn parse(set: &str) -> Result<(String, Value), Failure> {
    let (name, text) = set.split_once('=').ok_or_else(|| {
        Failure::refused(format!("\"{set}\" does not set a parameter")).hint("for example beta=4")
    })?;
    let number = |text: &str| text.trim().parse::<f64>().ok();
    let value = if let Some(number) = number(text) {
        Value::Number(number)
    } else if let Some(numbers) = text.split(',').map(number).collect::<Option<Vec<f64>>>() {
        Value::Numbers(numbers)
    } else {
        Value::Text(text.to_owned())
    };
    Ok((name.to_owned(), value))
}
