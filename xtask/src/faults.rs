//! `faults`: random jobs on storage that fails, and what iosonde reports of it.
//! Each scene is a file of crates/faults/src/bench.

use iosonde_faults::bench::{Bench, Scene, Seeds, scene_named, scene_of};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

/// Seeds where nobody has said how many.
const SEEDS: u64 = 200;
/// At a time; most of them wait for storage that is slow on purpose.
const AT_ONCE: usize = 4;

/// What was asked on the command line.
#[derive(Debug, PartialEq, Eq)]
struct Arguments {
    first: u64,
    count: u64,
    minutes: Option<u64>,
    scene: Option<Scene>,
    program: Option<PathBuf>,
}

impl Arguments {
    fn parse(words: &[&str]) -> Result<Arguments, String> {
        let mut arguments =
            Arguments { first: 1, count: SEEDS, minutes: None, scene: None, program: None };
        let mut words = words.iter();
        while let Some(word) = words.next() {
            let value = words.next().ok_or_else(|| format!("faults: {word} needs a value"))?;
            let number = || {
                let parsed = value.parse::<u64>();
                parsed.map_err(|_| format!("faults: invalid {word} {value:?}: use a number"))
            };
            match *word {
                "--seeds" => arguments.count = number()?,
                "--first" => arguments.first = number()?,
                "--seed" => (arguments.first, arguments.count) = (number()?, 1),
                "--minutes" => {
                    arguments.minutes = Some(number()?);
                    arguments.count = u64::MAX;
                }
                "--scene" => arguments.scene = Some(scene_named(value)?),
                "--program" => arguments.program = Some(PathBuf::from(value)),
                _ => {
                    return Err(format!(
                        "faults: unknown option {word}: use --seeds N, --first SEED, --seed SEED, \
                         --minutes M, --scene NAME or --program PATH"
                    ));
                }
            }
        }
        Ok(arguments)
    }
}

/// Run the bench; `Err` with every finding.
pub fn run(words: &[&str]) -> Result<(), String> {
    let arguments = Arguments::parse(words)?;
    let root = crate::docs::root();
    let program = match &arguments.program {
        Some(program) => executable(program)?,
        None => build(&root)?,
    };
    let directory = own_directory(&root.join("target/faults"))?;
    let bench = Bench { program, directory: directory.clone() };
    let until = arguments.minutes.map(|minutes| Instant::now() + Duration::from_secs(60 * minutes));
    let Arguments { first, count, scene, .. } = arguments;
    let seeds = Seeds { first, count, scene, until, at_once: AT_ONCE };
    let began = Instant::now();
    let mut failures = Vec::new();
    let mut skipped = std::collections::BTreeSet::new();
    let totals = bench.run_all(&seeds, |seed, result| {
        skipped.extend(result.skipped.clone());
        for finding in &result.findings {
            let scene = scene_of(seed);
            println!("seed {seed} ({scene:?}): {finding}");
            println!("again: cargo xtask faults --seed {seed}\n");
        }
        if !result.findings.is_empty() {
            failures.push(seed);
        }
    })?;
    let _ = std::fs::remove_dir_all(&directory);
    println!("{:14} {:>7} {:>9} {:>7} {:>8}", "scene", "seeds", "injected", "failed", "skipped");
    for (scene, total) in &totals {
        let (seeds, injected) = (total.seeds, total.injected);
        let name = format!("{scene:?}");
        println!("{name:14} {seeds:7} {injected:9} {:7} {:8}", total.failed, total.skipped);
    }
    skipped.iter().for_each(|why| println!("cannot run here: {why}"));
    let seeds: u64 = totals.values().map(|total| total.seeds).sum();
    println!("{seeds} seeds in {:.0} s", began.elapsed().as_secs_f64());
    if failures.is_empty() { Ok(()) } else { Err(format!("seeds with findings: {failures:?}")) }
}

/// The program by its absolute path: it runs in directories of the bench.
fn executable(path: &Path) -> Result<PathBuf, String> {
    use std::os::unix::fs::PermissionsExt;
    let named = |why: &str| {
        format!("faults: --program {}: {why}: give the path of an iosonde", path.display())
    };
    let found = path.metadata().map_err(|error| named(&error.to_string()))?;
    if !found.is_file() || found.permissions().mode() & 0o111 == 0 {
        return Err(named("it is no program"));
    }
    path.canonicalize().map_err(|error| named(&error.to_string()))
}

/// A directory of this process; those of runs that were killed are removed.
fn own_directory(all: &Path) -> Result<PathBuf, String> {
    let failed = |error: std::io::Error| format!("{}: {error}", all.display());
    std::fs::create_dir_all(all).map_err(failed)?;
    for entry in std::fs::read_dir(all).map_err(failed)?.flatten() {
        if !Path::new("/proc").join(entry.file_name()).exists() {
            let _ = std::fs::remove_dir_all(entry.path());
        }
    }
    let own = all.join(std::process::id().to_string());
    std::fs::create_dir_all(&own).map_err(failed)?;
    Ok(own)
}

/// The program of this checkout.
pub(crate) fn build(root: &Path) -> Result<PathBuf, String> {
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned());
    let built = Command::new(cargo)
        .args(["build", "--quiet", "--locked", "-p", "iosonde"])
        .current_dir(root)
        .status()
        .map_err(|error| format!("cargo build: {error}"))?;
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or(root.join("target"), PathBuf::from);
    if built.success() {
        Ok(target.join("debug/iosonde"))
    } else {
        Err("cargo build failed".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_seed_is_run_again_alone() {
        let arguments = Arguments::parse(&["--seed", "77"]).unwrap();
        assert_eq!((arguments.first, arguments.count), (77, 1));
    }

    #[test]
    fn a_program_that_is_missing_is_a_mistake_and_no_finding() {
        let refused = run(&["--program", "/none/iosonde", "--seeds", "1"]).unwrap_err();
        assert!(refused.starts_with("faults: --program /none/iosonde: No such file"), "{refused}");
        let refused = run(&["--program", "/etc/passwd", "--seeds", "1"]).unwrap_err();
        assert!(refused.contains("it is no program"), "{refused}");
        assert!(executable(Path::new("/bin/sh")).is_ok_and(|path| path.is_absolute()));
    }

    #[test]
    fn a_mistake_names_what_is_accepted() {
        assert!(Arguments::parse(&["--sedes", "7"]).unwrap_err().contains("--seeds N"));
        assert!(Arguments::parse(&["--seeds", "x"]).unwrap_err().contains("use a number"));
        assert!(Arguments::parse(&["--seeds"]).unwrap_err().contains("needs a value"));
    }
}
