//! `docs/json.md`: every key of the `iosonde` object, from the schema.

use crate::json_schema::schema;
use serde_json::Value;
use std::fmt::Write;

/// The page.
pub fn page() -> String {
    let schema = schema();
    let mut page = String::from(
        "# The result as JSON\n\n\
         <!-- Made from the types of the result by `cargo run -p xtask -- docs`: change the types in crates/report. -->\n\n\
         `--output-format=json` writes fio's document with one key more at the top, `iosonde`. fio's own keys keep\n\
         fio's names, order, types and units and are described in fio's manual. The keys below are ours;\n\
         [schema/result-1.json](schema/result-1.json) is the same for programs.\n\n\
         A value that could not be measured is `{\"unknown\": \"why\"}`; in the tables its type has `or unknown`. A key\n\
         that is renamed or means another thing raises `schema`; a new key does not.\n",
    );
    let mut sections = Sections { schema: &schema, queue: Vec::new(), done: Vec::new() };
    sections.queue.push(("iosonde".to_owned(), schema["$defs"]["iosonde"].clone()));
    while !sections.queue.is_empty() {
        let (path, object) = sections.queue.remove(0);
        sections.write(&path, &object, &mut page);
    }
    page
}

/// Tables that wait to be written: an object of the schema, and where it is.
struct Sections<'a> {
    schema: &'a Value,
    queue: Vec<(String, Value)>,
    /// References that have a table, and its title.
    done: Vec<(String, String)>,
}

impl Sections<'_> {
    fn write(&mut self, path: &str, object: &Value, page: &mut String) {
        // Writing to a String cannot fail.
        let _ = writeln!(page, "\n## `{path}`\n");
        if let Some(words) = object["description"].as_str() {
            let _ = writeln!(page, "{words}\n");
        }
        page.push_str("| key | type | unit | meaning |\n|---|---|---|---|\n");
        let required = object["required"].as_array().cloned().unwrap_or_default();
        for (key, member) in object["properties"].as_object().into_iter().flatten() {
            let (kind, more) = self.kind(&format!("{path}.{key}"), member);
            let unit = member["unit"].as_str().unwrap_or_default();
            let mut words = self.words(member);
            if !required.contains(&Value::from(key.as_str())) && !words.contains("issing") {
                words.push_str(" Only where it applies.");
            }
            let words = words.replace('|', "\\|");
            let _ = writeln!(page, "| `{key}` | {kind} | {unit} | {}{more} |", words.trim());
        }
    }

    /// The meaning of a key: its own words, else those of what it refers to.
    fn words(&self, member: &Value) -> String {
        let own = member["description"].as_str().map(str::to_owned);
        own.or_else(|| self.target(member)?["description"].as_str().map(str::to_owned))
            .unwrap_or_default()
    }

    fn target(&self, member: &Value) -> Option<&Value> {
        self.schema.pointer(member["$ref"].as_str()?.strip_prefix('#')?)
    }

    /// The type of a key in words, and a link to its table, if it has one.
    fn kind(&mut self, path: &str, member: &Value) -> (String, String) {
        if let Some(choices) = member["anyOf"].as_array() {
            let mut kinds = Vec::new();
            let mut more = String::new();
            for choice in choices {
                let is_unknown = choice["$ref"].as_str() == Some("#/$defs/unknown");
                let (kind, link) = if is_unknown {
                    ("unknown".to_owned(), String::new())
                } else {
                    self.kind(path, choice)
                };
                kinds.push(kind);
                more.push_str(&link);
            }
            return (kinds.join(" or "), more);
        }
        if let Some(reference) = member["$ref"].as_str().map(str::to_owned) {
            return self.referred(path, &reference);
        }
        if member["type"] == "array" {
            let (kind, more) = self.kind(&format!("{path}[]"), &member["items"]);
            return (format!("list of {kind}"), more);
        }
        if member["properties"].is_object() {
            self.queue.push((path.to_owned(), member.clone()));
            return ("object".to_owned(), format!(" See [{path}](#{}).", anchor(path)));
        }
        if member["additionalProperties"].is_object() {
            let (kind, more) = self.kind(&format!("{path}.*"), &member["additionalProperties"]);
            return (format!("object of {kind}"), more);
        }
        let types = &member["type"];
        let names = types.as_array().cloned().unwrap_or_else(|| vec![types.clone()]);
        let names: Vec<&str> = names.iter().filter_map(Value::as_str).collect();
        let mut kind = names.join(" or ");
        if let Some(allowed) = member["enum"].as_array() {
            let words: Vec<String> = allowed.iter().map(ToString::to_string).collect();
            let _ = write!(kind, ": {}", words.join(", "));
        }
        (kind, String::new())
    }

    /// A definition has one table, wherever it is referred to.
    fn referred(&mut self, path: &str, reference: &str) -> (String, String) {
        let target = self.schema.pointer(&reference[1..]).expect("references are within").clone();
        if !target["properties"].is_object() {
            return self.kind(path, &target);
        }
        let known = self.done.iter().find(|(known, _)| known == reference);
        let title = match known {
            Some((_, title)) => title.clone(),
            None => {
                self.done.push((reference.to_owned(), path.to_owned()));
                self.queue.push((path.to_owned(), target));
                path.to_owned()
            }
        };
        ("object".to_owned(), format!(" See [{title}](#{}).", anchor(&title)))
    }
}

/// The anchor of a heading, as GitHub makes it.
fn anchor(title: &str) -> String {
    let kept = |one: &char| one.is_ascii_alphanumeric() || matches!(one, '_' | '-');
    title.to_ascii_lowercase().chars().filter(kept).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_key_of_the_schema_is_on_the_page_and_each_link_leads_somewhere() {
        let page = page();
        let schema = schema();
        for (name, definition) in schema["$defs"].as_object().unwrap() {
            for key in definition["properties"].as_object().into_iter().flatten() {
                let is_shown = name == "unknown" || page.contains(&format!("| `{}` |", key.0));
                assert!(is_shown, "{name}.{}", key.0);
            }
        }
        let anchors: Vec<String> = page
            .lines()
            .filter_map(|line| line.strip_prefix("## `")?.strip_suffix('`'))
            .map(anchor)
            .collect();
        for link in page.split("](#").skip(1).filter_map(|rest| rest.split(')').next()) {
            assert!(anchors.iter().any(|anchor| anchor == link), "{link}");
        }
    }
}
