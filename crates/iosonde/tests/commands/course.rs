//! The course: every command in it runs, every output and picture in it is one of a run.
//!
//! `make course` writes outputs and pictures anew (`UPDATE=1`, with the program that COURSE_PROGRAM names, a release
//! build); their digests are in `outputs.txt`, so that an edit by hand is noticed. Figures differ from machine to
//! machine, and are not compared.

use crate::support::course::{self, Expected, Part, Step};
use iosonde_testing::Folder;
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

fn place() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/course")
}

fn names() -> Vec<String> {
    let entries = fs::read_dir(place()).unwrap();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

fn update() -> bool {
    std::env::var_os("UPDATE").is_some()
}

/// The program under its name, in a directory for PATH.
fn programs(folder: &Folder) -> PathBuf {
    let chosen = std::env::var("COURSE_PROGRAM").ok().filter(|_| update());
    let program = chosen.as_deref().unwrap_or(env!("CARGO_BIN_EXE_iosonde"));
    let programs = folder.join("programs");
    fs::create_dir(&programs).unwrap();
    symlink(fs::canonicalize(program).unwrap(), programs.join("iosonde")).unwrap();
    programs
}

/// Digests of outputs and pictures: the page and the number of the block, or the picture.
type Digests = BTreeMap<String, String>;

fn digest(text: &str) -> String {
    Sha256::digest(text).iter().take(8).map(|byte| format!("{byte:02x}")).collect()
}

fn recorded() -> Digests {
    let text = fs::read_to_string(place().join("outputs.txt")).unwrap_or_default();
    let pairs = text.lines().filter_map(|line| line.rsplit_once(' '));
    pairs.map(|(name, digest)| (name.to_owned(), digest.to_owned())).collect()
}

/// The recorded digests with those of one page renewed.
fn record(page: &str, digests: Digests) {
    static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
    let _turn = ONE_AT_A_TIME.lock().unwrap();
    let mut all = recorded();
    let own = format!("{page} ");
    all.retain(|name, _| !name.starts_with(&own));
    all.extend(digests);
    let lines: Vec<String> =
        all.iter().map(|(name, digest)| format!("{name} {digest}\n")).collect();
    fs::write(place().join("outputs.txt"), lines.concat()).unwrap();
}

/// Runs all commands of a page in a directory of their own.
fn page(name: &str) {
    let text = fs::read_to_string(place().join(name)).unwrap();
    let mut parts = course::parse(&text);
    assert_eq!(course::write(&parts), text, "{name}: a block has no end");
    let folder = Folder::new("course");
    let programs = programs(&folder);
    let work = folder.join("work");
    fs::create_dir(&work).unwrap();
    let mut digests = Digests::new();
    let mut blocks = 0;
    for part in &mut parts {
        match part {
            Part::Text(_) => {}
            Part::File { name, lines } => {
                fs::write(work.join(name), lines.join("\n") + "\n").unwrap();
            }
            Part::Console { steps, expected } => {
                blocks += 1;
                console(name, steps, expected, &work, &programs);
                let shown: Vec<String> = steps.iter().map(|step| step.output.join("\n")).collect();
                digests.insert(format!("{name} {blocks:02}"), digest(&shown.join("\n")));
            }
            Part::Chart { page, title, path, .. } => {
                let html = fs::read_to_string(work.join(&*page)).unwrap();
                let picture = picture(&html, title, &place().join(&*path));
                digests.insert(format!("{name} {path}"), digest(&picture));
            }
        }
    }
    assert!(blocks > 0, "{name} has no command");
    finish(name, &parts, digests);
}

/// Runs the commands of a block; on the page is what they print.
fn console(name: &str, steps: &mut [Step], expected: &Expected, work: &Path, programs: &Path) {
    let mut printed = String::new();
    for step in steps.iter_mut() {
        let (code, output) = step.run(work, programs);
        let all =
            format!("{name}: {}\nexit {code:?}\n{}", step.command.join("\n"), output.join("\n"));
        assert!(expected.allows(code), "{all}");
        printed += &(output.join("\n") + "\n");
        if update() {
            step.output = output
        } else {
            assert_eq!(step.output.is_empty(), output.is_empty(), "{all}")
        }
    }
    let page: Vec<String> = steps.iter().map(|step| step.output.join("\n")).collect();
    for words in &expected.shows {
        assert!(printed.contains(words), "{name}: no {words:?} in\n{printed}");
        assert!(page.join("\n").contains(words), "{name}: no {words:?} on the page: make course");
    }
}

/// The picture of the page: in the run there is such a chart.
fn picture(html: &str, title: &str, path: &Path) -> String {
    let chart = course::chart(html, title).unwrap_or_else(|| panic!("no chart {title:?}"));
    if update() {
        fs::write(path, chart).unwrap();
    }
    let picture = fs::read_to_string(path).unwrap();
    assert!(picture.len() < 100_000, "{path:?}: {} bytes", picture.len());
    picture
}

fn finish(name: &str, parts: &[Part], digests: Digests) {
    if update() {
        fs::write(place().join(name), course::write(parts)).unwrap();
        return record(name, digests);
    }
    let own = format!("{name} ");
    let recorded: Digests =
        recorded().into_iter().filter(|(block, _)| block.starts_with(&own)).collect();
    assert_eq!(recorded, digests, "{name}: outputs are not as the program wrote them: make course");
}

macro_rules! pages {
    ($($test:ident $name:literal)*) => {
        $(#[test]
        fn $test() {
            page($name);
        })*

        #[test]
        fn each_page_is_tested_and_is_in_the_contents() {
            let tested = [$($name),*];
            let contents = fs::read_to_string(place().join("README.md")).unwrap();
            let mut pages = names();
            pages.retain(|name| name.ends_with(".md") && name != "README.md");
            assert_eq!(pages, tested);
            for name in tested {
                assert!(contents.contains(&format!("]({name})")), "{name} is not in the contents");
            }
        }
    };
}

pages! {
    commands_of_install_run "01-install.md"
    commands_of_first_run_run "02-first-run.md"
    commands_of_variables_and_keywords_run "03-variables-and-keywords.md"
    commands_of_block_sizes_run "04-block-sizes.md"
    commands_of_direct_page_cache_raw_run "05-direct-page-cache-raw.md"
    commands_of_sequential_reads_run "06-sequential-reads.md"
    commands_of_steady_state_run "07-steady-state.md"
    commands_of_reading_the_result_run "08-reading-the-result.md"
    commands_of_pictures_run "09-pictures.md"
    commands_of_durability_run "10-durability.md"
    commands_of_comparing_two_disks_run "11-comparing-two-disks.md"
    commands_of_many_hosts_run "12-many-hosts.md"
}
