//! `iosonde` without arguments: a short, safe, mixed job on a temporary file.

use crate::exit;
use crate::output::print_error;
use crate::personality::Personality;
use crate::run_jobs::{self, Help};
use std::path::Path;

/// Read and write 4 KiB blocks at random over 64 MiB for three seconds, then
/// remove the file.
pub fn run(help: Help) -> u8 {
    let name = format!("iosonde-first-job.{}.tmp", std::process::id());
    if Path::new(&name).exists() {
        eprintln!("iosonde: {name} exists here already; remove or rename it");
        return exit::REFUSED;
    }
    println!(
        "A first job: 4 KiB random reads and writes (70/30) on a temporary file of 64 MiB here,"
    );
    println!(
        "through the page cache, three seconds; the file is removed afterwards. As a command:\n"
    );
    let words = [
        "--name=first-job",
        "--rw=randrw",
        "--rwmixread=70",
        "--bs=4k",
        "--size=64m",
        "--runtime=3",
        "--time_based",
    ];
    // Without a file name the file is called after the job, and nothing of
    // somebody else's is overwritten or removed.
    println!("  iosonde {}\n", words.join(" "));
    let mut arguments: Vec<String> = words.map(str::to_owned).into();
    arguments.extend(["--unlink=1".to_owned(), format!("--filename={name}")]);
    let code = run_jobs::run(Personality::Native, &arguments, help);
    // A run that failed leaves the file; remove it.
    match std::fs::remove_file(&name) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            print_error(&format!("iosonde: could not remove {name}: {error}"));
        }
        _ => {}
    }
    code
}
