//! Flows whose packets are captured, by group and number or by a listed flow's name.

use super::Problems;
use crate::plan::{CapturedFlow, GroupPlan};
use crate::suggest;
use crate::text::Either;
use pathweave_traffic::Pattern;

/// The flows that `record.packets` names. `groups` is `None` when some group has mistakes.
pub(super) fn packets(
    chosen: Option<&Either<String, Vec<String>>>,
    groups: Option<&[GroupPlan]>,
    problems: &mut Problems<'_>,
) -> Vec<CapturedFlow> {
    let (Some(chosen), Some(groups)) = (chosen, groups) else {
        return Vec::new();
    };
    let single = matches!(chosen, Either::One(_));
    let mut captured: Vec<(&str, CapturedFlow)> = Vec::new();
    for (index, text) in chosen.as_slice().iter().enumerate() {
        let index = index.to_string();
        let steps = ["record", "packets", &index];
        let steps = if single { &steps[..2] } else { &steps };
        let found = match text.split_once('/') {
            Some((group, number)) => by_number(text, group, number, groups),
            None => by_name(text, groups),
        };
        let flow = match found {
            Ok(flow) => flow,
            Err(problem) => {
                problems.wrong(steps, problem);
                continue;
            }
        };
        let same = |other: &CapturedFlow| (other.group, other.number) == (flow.group, flow.number);
        let clash = |(_, other): &&(&str, CapturedFlow)| same(other) || other.name == flow.name;
        match captured.iter().find(clash) {
            None => captured.push((text, flow)),
            Some((earlier, other)) if same(other) => problems.wrong(
                steps,
                format!("\"{text}\" is the same flow as \"{earlier}\"; remove one of the two"),
            ),
            Some((earlier, _)) => problems.wrong(
                steps,
                format!(
                    "\"{text}\" and \"{earlier}\" would both be written to packets-{}.pcapng; rename the listed flow",
                    flow.name
                ),
            ),
        }
    }
    captured.into_iter().map(|(_, flow)| flow).collect()
}

/// "group/number".
fn by_number(
    text: &str,
    group: &str,
    number: &str,
    groups: &[GroupPlan],
) -> Result<CapturedFlow, String> {
    let Some(index) = groups.iter().position(|other| other.name == group) else {
        let names: Vec<&str> = groups.iter().map(|group| group.name.as_str()).collect();
        let accepted = suggest::accepted(group, &names);
        return Err(format!(
            "no traffic group is called \"{group}\"; {accepted}"
        ));
    };
    let is_number = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    let Some(number) = number.parse().ok().filter(|_| is_number) else {
        return Err(format!(
            "\"{text}\" has no number after the group; write that of the flow in its group, from 0, for example \"{group}/0\""
        ));
    };
    if let Pattern::Listed(list) = &groups[index].pattern {
        let flows = list.flows.len() as u64;
        if number >= flows {
            return Err(format!(
                "group \"{group}\" lists {flows} flows; give a number from 0 to {}",
                flows - 1
            ));
        }
    }
    Ok(CapturedFlow {
        name: format!("{group}-{number}"),
        group: index,
        number,
    })
}

/// The name of a listed flow. Its number in the group is that in the list.
fn by_name(text: &str, groups: &[GroupPlan]) -> Result<CapturedFlow, String> {
    let listed = || {
        groups.iter().enumerate().flat_map(|(index, group)| {
            (0u64..)
                .zip(&group.listed)
                .map(move |(number, flow)| (index, number, flow.name.as_str()))
        })
    };
    let mut same = listed().filter(|(.., name)| *name == text);
    match (same.next(), same.next()) {
        (Some((group, number, name)), None) => Ok(CapturedFlow {
            name: name.to_owned(),
            group,
            number,
        }),
        (Some((group, number, _)), Some((other, other_number, _))) => Err(format!(
            "two groups list a flow called \"{text}\"; write \"{}/{number}\" or \"{}/{other_number}\"",
            groups[group].name, groups[other].name
        )),
        (None, _) => {
            let names: Vec<&str> = listed().map(|(.., name)| name).collect();
            let group = groups.first().map_or("group", |group| &group.name);
            Err(format!(
                "no listed flow is called \"{text}\"; {}; or a group and the number of a flow in it, from 0: \"{group}/0\"",
                suggest::accepted(text, &names)
            ))
        }
    }
}
