//! Documents that are made from tables, so that they cannot differ from what the program does.

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use crate::{json_page, json_schema};
use iosonde_options::{Built, FioSupport, OptionDef, render};
use iosonde_spec::{all, engine_options, rules};

/// Writes each document.
pub fn write() -> Result<(), String> {
    for (path, text) in documents() {
        let place = root().join(path);
        let folder = place.parent().expect("a document is in a folder");
        fs::create_dir_all(folder).map_err(|e| format!("create {}: {e}", folder.display()))?;
        fs::write(&place, text).map_err(|e| format!("write {}: {e}", place.display()))?;
        println!("wrote {path}");
    }
    Ok(())
}

/// Fails if a document is not as it would be written.
pub fn check() -> Result<(), String> {
    for (path, text) in documents() {
        let place = root().join(path);
        let found = fs::read_to_string(&place).map_err(|e| format!("read {path}: {e}"))?;
        if found != text {
            let line = found.lines().zip(text.lines()).take_while(|(a, b)| a == b).count() + 1;
            return Err(format!(
                "{path} is not as the tables have it, from line {line} on: \
                 run cargo run -p xtask -- docs"
            ));
        }
        println!("{path} is fresh");
    }
    Ok(())
}

fn documents() -> [(&'static str, String); 5] {
    [
        ("docs/json.md", json_page::page()),
        ("docs/schema/result-1.json", json_schema::text()),
        ("docs/options.md", options()),
        ("docs/verdict.md", iosonde_witness::page()),
        ("docs/normal.md", iosonde_report::normal::page()),
    ]
}

/// The root of the project.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("xtask is in the project").to_owned()
}

/// `docs/options.md`: every option, those of engines, and the rules between them.
fn options() -> String {
    let rows: Vec<&OptionDef> = all().collect();
    let mut page = String::from(
        "# Options\n\n\
         <!-- Made from the tables by `cargo run -p xtask -- docs`: change the tables. -->\n\n",
    );
    page += &summary(&rows);
    page += &render::markdown(&rows);
    for table in engine_options::tables() {
        let title = format!("Only for {}", table.engines.join(", "));
        let rows: Vec<&OptionDef> = table.options.iter().collect();
        page += &if table.make.is_some() {
            render::section(&title, &rows)
        } else {
            render::names(&title, &rows)
        };
    }
    page += &rule_list();
    page
}

fn summary(rows: &[&OptionDef]) -> String {
    let count = |want: fn(&OptionDef) -> bool| rows.iter().filter(|row| want(row)).count();
    let aliases: usize = rows.iter().map(|row| row.aliases.len()).sum();
    let private: usize = engine_options::tables().iter().map(|table| table.options.len()).sum();
    format!(
        "{} options with {aliases} aliases, and {private} that only some engines take. \
         Of the {} options, the work of {} is built, {} are accepted without effect, and {} \
         are not built yet: a job that sets one of these to something that matters is stopped. \
         {} differ from fio's option of the same name.\n\n\
         A number may be decimal or `0x` hex and may carry a suffix `k`, `m`, `g`, `t`, `p`; \
         what they mean is said under `kb_base`. `bs=4k,8k,16k` gives values for reads, writes \
         and trims. Times take `d`, `h`, `m`, `s`, `ms`, `us`.\n\n",
        rows.len(),
        rows.len(),
        count(|row| row.built == Built::Yes),
        count(|row| matches!(row.built, Built::Ignored(_))),
        count(|row| row.built == Built::No),
        count(|row| matches!(row.fio, FioSupport::Differs(_))),
    )
}

fn rule_list() -> String {
    let mut page = String::from(
        "## How options affect each other\n\nIn this order, once all options are known:\n\n",
    );
    for rule in rules::all() {
        // Writing to a String cannot fail.
        let _ = writeln!(page, "- **{}**: {}", rule.name, rule.doc);
    }
    page
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_names_every_option_and_every_rule() {
        let page = options();
        for row in all() {
            assert!(page.contains(&format!("### `{}`", row.name)), "{}", row.name);
        }
        for rule in rules::all() {
            assert!(page.contains(rule.doc), "{}", rule.name);
        }
    }

    #[test]
    fn the_documents_are_fresh() {
        check().expect("cargo run -p xtask -- docs was run");
    }
}
