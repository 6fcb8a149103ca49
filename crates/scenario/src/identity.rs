//! What identifies results: hashes of what they depend on.

use crate::controller_file::without_folders;
use crate::results_version::RESULTS_VERSION;
use crate::sha256::sha256;

/// [`Scenario::settings_hash`](crate::Scenario::settings_hash) of these settings.
pub fn hash_of_settings(settings: &serde_json::Value) -> String {
    sha256(&[&*canonical(settings), RESULTS_VERSION])
}

/// [`Variant::hash`](crate::Variant::hash) of the variant that was resolved to this, whether or not the files that it names are there.
pub fn hash_of_resolved(resolved: &serde_json::Value, seed: u64) -> String {
    let settings = canonical(&without_names(resolved));
    sha256(&[&*settings, RESULTS_VERSION, &seed.to_string()])
}

/// A scenario as JSON without what no result depends on: its title, its seeds, what its report answers, the folders of
/// controllers' files, whose hashes stay, and the names of its phases, of which the times stay, in order.
pub(crate) fn without_names(scenario: &serde_json::Value) -> serde_json::Value {
    use serde_json::Value as Json;
    let mut scenario = scenario.clone();
    let Json::Object(keys) = &mut scenario else {
        return scenario;
    };
    for name in ["title", "report", "seed", "seeds"] {
        keys.remove(name);
    }
    if let Some(Json::Object(measure)) = keys.get_mut("measure")
        && let Some(Json::Object(phases)) = measure.get_mut("phases")
    {
        let mut times: Vec<Json> = phases.values().cloned().collect();
        times.sort_by_key(ToString::to_string);
        measure.insert("phases".to_owned(), Json::Array(times));
    }
    without_folders(keys);
    scenario
}

/// JSON with sorted keys and no spaces.
fn canonical(value: &serde_json::Value) -> String {
    use serde_json::Value as Json;
    match value {
        Json::Object(entries) => {
            let mut keys: Vec<&String> = entries.keys().collect();
            keys.sort();
            let entry = |key: &String| {
                let name = Json::String(key.clone());
                format!("{name}:{}", canonical(&entries[key]))
            };
            let entries: Vec<String> = keys.into_iter().map(entry).collect();
            format!("{{{}}}", entries.join(","))
        }
        Json::Array(list) => {
            let list: Vec<String> = list.iter().map(canonical).collect();
            format!("[{}]", list.join(","))
        }
        other => other.to_string(),
    }
}
