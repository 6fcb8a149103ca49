//! Makes the generated JSON Schema one whose messages name a key.
//!
//! A validator says of `oneOf` and `anyOf` only that nothing fits. Where one key or the JSON type decides
//! which alternative is meant, `if` and `then` say so, and the message is about what is wrong in it.

use serde_json::{Map, Value, json};

type Object = Map<String, Value>;

/// Rewrites all alternatives below `root`, which holds the definitions.
pub(super) fn plain(root: &mut Value) {
    let definitions = root["$defs"].clone();
    each(root, &mut |schema| alternatives(schema, &definitions));
}

/// Calls `change` with every object, the inner ones first.
fn each(value: &mut Value, change: &mut impl FnMut(&mut Object)) {
    match value {
        Value::Object(entries) => {
            entries.values_mut().for_each(|value| each(value, change));
            change(entries);
        }
        Value::Array(list) => list.iter_mut().for_each(|value| each(value, change)),
        _ => {}
    }
}

fn alternatives(schema: &mut Object, definitions: &Value) {
    if let Some(Value::Array(types)) = schema.get("type")
        && types.len() == 2
        && types[1] == "null"
    {
        // TOML has no null: what may be left out is left out.
        let kept = types[0].clone();
        schema.insert("type".to_owned(), kept);
    }
    for key in ["oneOf", "anyOf"] {
        let Some(Value::Array(branches)) = schema.get(key) else {
            continue;
        };
        let branches = branches.clone();
        let added = words(&branches)
            .or_else(|| tagged(&branches, schema))
            .or_else(|| by_type(&branches, definitions));
        if let Some(added) = added {
            schema.remove(key);
            if added.contains_key("properties") {
                // The cases say which keys there are.
                schema.remove("unevaluatedProperties");
                schema.remove("additionalProperties");
            }
            for (key, value) in added {
                // What is said of the whole stands.
                if key != "description" || !schema.contains_key("description") {
                    schema.insert(key, value);
                }
            }
        }
    }
}

/// Words that each have a description, as one list.
fn words(branches: &[Value]) -> Option<Object> {
    let words: Option<Vec<&Value>> = branches.iter().map(|branch| branch.get("const")).collect();
    let words = words?;
    let describe = |branch: &Value| branch["description"].as_str().unwrap_or("").to_owned();
    let descriptions: Vec<String> = branches.iter().map(describe).collect();
    object(json!({ "type": "string", "enum": words, "enumDescriptions": descriptions }))
}

/// Tables that a key tells apart.
fn tagged(branches: &[Value], schema: &Object) -> Option<Object> {
    let tag = branches[0]["properties"]
        .as_object()?
        .iter()
        .find(|(_, property)| property.get("const").is_some())
        .map(|(name, _)| name.clone())?;
    let mut kinds = Vec::new();
    let mut cases = Vec::new();
    let mut always = true;
    for branch in branches {
        let mut branch = branch.as_object()?.clone();
        let kind = branch
            .get_mut("properties")?
            .as_object_mut()?
            .remove(&tag)?;
        let kind = kind.get("const")?.clone();
        branch.remove("additionalProperties");
        branch.remove("type");
        let own = branch["properties"].as_object()?.keys();
        let common = schema.get("properties").and_then(Value::as_object);
        let common = common.into_iter().flat_map(Map::keys);
        // Unlike `unevaluatedProperties`, this says what would be accepted, and nothing more when a
        // value is wrong.
        let mut names: Vec<&String> = own.chain(common).chain([&tag]).collect();
        names.sort();
        let names = json!({ "enum": names });
        branch.insert("propertyNames".to_owned(), names);
        let required = branch.get_mut("required").and_then(Value::as_array_mut);
        let named = required.is_some_and(|required| {
            let before = required.len();
            required.retain(|name| *name != tag);
            required.len() < before
        });
        always &= named;
        cases.push(json!({
            "if": { "properties": { &tag: { "const": kind } }, "required": [&tag] },
            "then": branch,
        }));
        kinds.push(kind);
    }
    let mut properties = schema.get("properties").cloned().unwrap_or(json!({}));
    let describe = |branch: &Value| branch["description"].as_str().unwrap_or("").to_owned();
    let descriptions: Vec<String> = branches.iter().map(describe).collect();
    properties[&tag] = json!({ "type": "string", "enum": kinds, "enumDescriptions": descriptions });
    let mut required = schema.get("required").cloned().unwrap_or(json!([]));
    if always {
        required.as_array_mut()?.push(json!(tag));
    }
    object(json!({
        "type": "object",
        "properties": properties,
        "required": required,
        "allOf": cases,
    }))
}

/// Alternatives of different JSON types.
fn by_type(branches: &[Value], definitions: &Value) -> Option<Object> {
    let present: Vec<&Value> = branches.iter().filter(|b| b["type"] != "null").collect();
    if let [only] = present.as_slice() {
        return object((*only).clone());
    }
    let mut flat = Vec::new();
    branches
        .iter()
        .for_each(|branch| flatten(branch, definitions, &mut flat));
    flat.retain(|branch| branch["type"] != "null");
    let mut types: Vec<(String, Vec<Value>)> = Vec::new();
    for branch in flat {
        let kind = kind(&branch, definitions)?;
        match types.iter_mut().find(|(other, _)| *other == kind) {
            Some((_, same)) => same.push(branch),
            None => types.push((kind, vec![branch])),
        }
    }
    let mut cases = Vec::new();
    for (kind, same) in &types {
        cases.push((kind, merged(same, definitions)?));
    }
    if let [(_, only)] = cases.as_slice() {
        return object(only.clone());
    }
    let kinds: Vec<&&String> = cases.iter().map(|(kind, _)| kind).collect();
    let cases: Vec<Value> = cases
        .iter()
        .map(|(kind, schema)| json!({ "if": { "type": kind }, "then": schema }))
        .collect();
    object(json!({ "type": kinds, "allOf": cases }))
}

/// The branches of a branch, where it has nothing else.
fn flatten(branch: &Value, definitions: &Value, flat: &mut Vec<Value>) {
    match resolved(branch, definitions)["anyOf"].as_array() {
        Some(inner) => inner
            .iter()
            .for_each(|branch| flatten(branch, definitions, flat)),
        None => flat.push(branch.clone()),
    }
}

fn resolved<'a>(schema: &'a Value, definitions: &'a Value) -> &'a Value {
    match schema["$ref"].as_str() {
        Some(name) => &definitions[name.trim_start_matches("#/$defs/")],
        None => schema,
    }
}

/// The JSON type of all that a schema accepts, if there is one.
fn kind(schema: &Value, definitions: &Value) -> Option<String> {
    let schema = resolved(schema, definitions);
    if let Some(kind) = schema["type"].as_str() {
        // A whole number is a number to a validator.
        return Some(kind.to_owned());
    }
    let is_table = |branch: &Value| branch["type"] == "object";
    match schema["oneOf"].as_array() {
        Some(branches) if branches.iter().all(is_table) => Some("object".to_owned()),
        Some(_) => Some("string".to_owned()),
        None => schema["const"].is_string().then(|| "string".to_owned()),
    }
}

/// One schema for alternatives of one type: words beside a pattern become part of it.
fn merged(same: &[Value], definitions: &Value) -> Option<Value> {
    if let [only] = same {
        return Some(only.clone());
    }
    let mut patterns = Vec::new();
    for schema in same {
        let schema = resolved(schema, definitions);
        match (schema["const"].as_str(), schema["pattern"].as_str()) {
            (Some(word), _) => patterns.push(format!("^{word}$")),
            (None, Some(pattern)) => patterns.push(pattern.to_owned()),
            (None, None) => return None,
        }
    }
    Some(json!({ "type": "string", "pattern": patterns.join("|") }))
}

fn object(value: Value) -> Option<Object> {
    match value {
        Value::Object(entries) => Some(entries),
        _ => None,
    }
}
