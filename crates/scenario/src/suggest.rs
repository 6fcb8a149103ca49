//! "Did you mean": the nearest of the accepted names.

/// The candidate that the name was probably meant to be.
pub(crate) fn nearest<'a>(
    name: &str,
    candidates: impl IntoIterator<Item = &'a str>,
) -> Option<&'a str> {
    // Long names are no slips of the finger, and comparing costs their product.
    if name.len() > 64 {
        return None;
    }
    let plain = |text: &str| text.to_lowercase().replace(['_', '-', ' '], "");
    let wanted = plain(name);
    let near = |distance: usize, candidate: &str| match candidate.len() {
        0..=1 => distance == 0,
        2..=4 => distance <= 1,
        5..=8 => distance <= 2,
        _ => distance <= 3,
    };
    candidates
        .into_iter()
        .map(|candidate| {
            (
                strsim::damerau_levenshtein(&wanted, &plain(candidate)),
                candidate,
            )
        })
        .filter(|&(distance, candidate)| near(distance, candidate))
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// What would be accepted in place of a name, the probable one first.
pub(crate) fn accepted(name: &str, candidates: &[&str]) -> String {
    let list = list(candidates);
    match nearest(name, candidates.iter().copied()) {
        Some(meant) => format!("did you mean \"{meant}\"? Accepted: {list}"),
        None => format!("accepted: {list}"),
    }
}

/// Names one after another, the first few when there are many.
pub(crate) fn list(names: &[&str]) -> String {
    const SHOWN: usize = 40;
    let mut text = names
        .iter()
        .take(SHOWN)
        .copied()
        .collect::<Vec<_>>()
        .join(", ");
    if names.is_empty() {
        text.push_str("none");
    } else if names.len() > SHOWN {
        text.push_str(", ...");
    }
    text
}
