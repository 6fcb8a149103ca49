//! What a group's pattern needs of the fabric: paths between its hosts.

use super::reach::Pairs;
use super::{Problems, Scene};
use pathweave_fabric::routing::RoutingKind;

/// Refuses pairs without a path, and more subflows than there are paths for any pair when they must
/// differ.
pub(super) fn check_paths(
    pairs: &Pairs,
    subflows: u32,
    steps: &[&str],
    scene: &Scene<'_>,
    problems: &mut Problems<'_>,
) {
    let name = |host: u32| &scene.fabric.host(host).name;
    if let Some((a, b)) = scene.reach.first_gap(pairs) {
        problems.wrong(
            steps,
            format!(
                "no path leads from \"{}\" to \"{}\"; the pattern sends between all of its hosts, so limit them to hosts that reach each other",
                name(a),
                name(b)
            ),
        );
        return;
    }
    match scene.routing {
        RoutingKind::Ecmp { distinct: true, .. } if subflows > 1 => {
            // Neighbours in a rack often have a single path; what no pair can have is a mistake.
            let paths = |(a, b): (u32, u32)| scene.reach.path_count(a, b);
            let mut each = pairs.each(scene.fabric);
            if each.any(|pair| paths(pair) >= u64::from(subflows)) {
                return;
            }
            let most = pairs
                .each(scene.fabric)
                .map(|(a, b)| scene.reach.path_count(a, b))
                .max();
            if let Some(most) = most
                && u64::from(subflows) > most
            {
                problems.wrong(
                    &[steps, &["subflows"]].concat(),
                    format!(
                        "{subflows} subflows cannot take different paths; no two hosts have more than {most} shortest paths between them: give fewer subflows, or routing.distinct = false"
                    ),
                );
            }
        }
        RoutingKind::Pinned => {
            let ambiguous = pairs
                .each(scene.fabric)
                .find(|&(a, b)| scene.reach.path_count(a, b) != 1);
            if let Some((a, b)) = ambiguous {
                problems.wrong(
                    &[steps, &["pattern"]].concat(),
                    format!(
                        "pinned routing does not know the path from \"{}\" to \"{}\": there are several; list the flows with their paths, or use another routing",
                        name(a),
                        name(b)
                    ),
                );
            }
        }
        _ => {}
    }
}
