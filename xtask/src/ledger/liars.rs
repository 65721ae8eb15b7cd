//! `ledger --liars`: the table held against programs that lie.

use iosonde_truth::{Bench, Case, Liar, Record, ShownOutput, is_noticed};
use std::fs;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

/// Each liar must be noticed in so many of the scenarios.
const LEAST_SHARE: f64 = 0.9;
/// So many scenarios are run once more with a liar as the program, the liars in turn.
const WRAPPED: usize = 10;

/// Judge what every liar makes of these runs; `Err` if the table lets one pass.
pub(super) fn try_all(tried: &[(Case, Record)]) -> Result<(), String> {
    let mut unnoticed = vec![true; tried.len()];
    let mut passed = Vec::new();
    println!("{:16} {:>10} {:>9}", "liar", "noticed in", "scenarios");
    for liar in Liar::ALL {
        let noticed = liar.noticed_by(tried)?;
        let count = noticed.iter().filter(|noticed| **noticed).count();
        let share = count as f64 / tried.len().max(1) as f64;
        println!("{:16} {count:10} {:9} ({:.1} %)", liar.name(), tried.len(), share * 100.0);
        for (at, (case, _)) in tried.iter().enumerate() {
            if noticed[at] {
                unnoticed[at] = false;
            } else {
                println!("  not in {} ({})", case.title, case.place);
            }
        }
        if share < LEAST_SHARE {
            passed.push(format!("{} is noticed in less than 90 %", liar.name()));
        }
    }
    let of_none = tried.iter().zip(unnoticed).filter(|(_, unnoticed)| *unnoticed);
    passed.extend(of_none.map(|((case, _), _)| format!("{:?} notices no liar", case.title)));
    if passed.is_empty() { Ok(()) } else { Err(passed.join("; ")) }
}

/// Run some of the scenarios again with a liar in the program's place.
pub(super) fn try_wrapped(bench: &Bench, tried: &[(Case, Record)]) -> Result<(), String> {
    let fits = |(case, _): &&(Case, Record)| case.may_be_wrapped();
    let all: Vec<&(Case, Record)> = tried.iter().filter(fits).collect();
    let chosen = all.iter().step_by((all.len() / WRAPPED).max(1)).take(WRAPPED);
    let mut passed = Vec::new();
    let mut count = 0;
    for ((case, record), liar) in chosen.zip(Liar::ALL.into_iter().cycle()) {
        let other = &all[(count + 1) % all.len()].1.printed;
        let aside = bench.directory.with_extension("liars");
        let program = wrapper(liar, &bench.program, other, &aside)?;
        let lying = Bench { program, directory: bench.directory.clone() };
        let mut noticed = false;
        lying.run_all(std::slice::from_ref(case), |case, lie| {
            noticed = lie.is_ok_and(|lie| is_noticed(&record.judge(case), &lie.judge(case)));
        })?;
        let _ = fs::remove_dir_all(aside);
        count += 1;
        if !noticed {
            println!("  as a program, {} is not noticed in {}", liar.name(), case.title);
            passed.push(format!("{:?} does not notice the program {}", case.title, liar.name()));
        }
    }
    println!("run as programs: {} of {count} noticed", count - passed.len());
    if passed.is_empty() { Ok(()) } else { Err(passed.join("; ")) }
}

/// A program that runs `program` and lies about it.
fn wrapper(
    liar: Liar,
    program: &Path,
    other: &ShownOutput,
    aside: &Path,
) -> Result<std::path::PathBuf, String> {
    let this = std::env::current_exe().map_err(|error| error.to_string())?;
    let path = aside.join(liar.name());
    let script = format!(
        "#!/bin/sh\nexec '{}' lie {} '{}' '{}' \"$@\"\n",
        this.display(),
        liar.name(),
        aside.join("yesterday.json").display(),
        program.display()
    );
    let made = fs::create_dir_all(aside)
        .and_then(|()| fs::write(aside.join("yesterday.json"), &other.stdout))
        .and_then(|()| fs::write(&path, script))
        .and_then(|()| fs::set_permissions(&path, fs::Permissions::from_mode(0o755)));
    made.map_err(|error| format!("{}: {error}", aside.display()))?;
    Ok(path)
}

/// `lie LIAR FILE PROGRAM WORDS...`: run the program and print something else. FILE is what it
/// printed in another run.
pub(crate) fn lie(words: &[&str]) -> Result<(), String> {
    let [name, other, program, words @ ..] = words else {
        return Err("lie: use LIAR FILE PROGRAM WORDS...".to_owned());
    };
    let liar = Liar::named(name).ok_or_else(|| format!("lie: no liar is named {name:?}"))?;
    let other = fs::read_to_string(other).map_err(|error| format!("{other}: {error}"))?;
    let output = Command::new(program).args(words).output();
    let output = output.map_err(|error| format!("{program}: {error}"))?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let printed = ShownOutput {
        stdout: text(&output.stdout),
        stderr: text(&output.stderr),
        code: output.status.code(),
    };
    let other = ShownOutput { stdout: other, ..printed.clone() };
    let shown = liar.falsify(&printed, &other)?;
    let written = std::io::stdout().write_all(shown.stdout.as_bytes());
    written.map_err(|error| error.to_string())?;
    eprint!("{}", shown.stderr);
    std::process::exit(shown.code.unwrap_or(1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use iosonde_truth::{CASES, cases};

    #[test]
    fn runs_without_results_let_every_liar_pass() {
        let cases = cases(CASES).unwrap().into_iter().take(3);
        let tried: Vec<(Case, Record)> = cases.map(|case| (case, Record::default())).collect();
        let why = try_all(&tried).unwrap_err();
        for liar in Liar::ALL {
            assert!(why.contains(liar.name()), "{why}");
        }
        assert!(why.contains(&format!("{:?} notices no liar", tried[0].0.title)), "{why}");
    }

    #[test]
    fn a_liar_has_a_name_and_a_program() {
        assert!(lie(&["nobody", "/dev/null", "true"]).unwrap_err().contains("nobody"));
        assert!(lie(&[]).unwrap_err().contains("use LIAR"));
    }
}
