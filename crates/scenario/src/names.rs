//! What may be called how: titles and names go to terminals, charts and folders.

/// Most characters of a name of an axis, a variant or a phase.
pub(crate) const LONGEST_NAME: usize = 100;

/// Most characters of a title.
pub(crate) const LONGEST_TITLE: usize = 300;

/// Most characters of a variant's folder, which a file system bounds.
pub(crate) const LONGEST_FOLDER: usize = 200;

/// What is wrong with a name or title, which `what` says; the remedy follows a semicolon.
pub(crate) fn problem(what: &str, text: &str, longest: usize) -> Option<String> {
    if let Some(c) = text.chars().find(|c| c.is_control()) {
        return Some(format!(
            "{what} has a control character, {}; leave it out",
            c.escape_unicode()
        ));
    }
    let length = text.chars().count();
    (length > longest).then(|| format!("{what} has {length} characters; give at most {longest}"))
}

/// What is wrong with a name for a group or a flow.
pub(crate) fn name_problem(name: &str) -> Option<String> {
    let fits = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | ' ');
    if !name.is_empty() && name.len() <= 64 && name.chars().all(fits) && name.trim() == name {
        return None;
    }
    Some(format!(
        "\"{name}\" is not a name for a group or flow; expected 1 to 64 letters, digits, \"-\", \"_\" or spaces between"
    ))
}
