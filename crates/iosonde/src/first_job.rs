//! `iosonde` without arguments: a short, safe, mixed job on a temporary file.

use crate::run_jobs::{self, Help};
use iosonde_base::exit;
use iosonde_session::Personality;
use iosonde_sys::standard_error::print_error;
use iosonde_sys::standard_output::print;
use iosonde_sys::temporary;
use std::path::Path;

/// Read and write 4 KiB blocks at random over 64 MiB for three seconds, then
/// remove the file.
pub fn run(help: Help) -> u8 {
    let name = match temporary::create(Path::new("."), "iosonde-first-job") {
        Ok((path, _)) => path.display().to_string(),
        Err(error) => {
            print_error(&format!("iosonde: cannot create a temporary file here: {error}"));
            return exit::REFUSED;
        }
    };
    print(
        "A first job: 4 KiB random reads and writes (70/30) on a temporary file of 64 MiB here,\n\
         through the page cache, three seconds; the file is removed afterwards. As a command:\n\n",
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
    print(&format!("  iosonde {}\n\n", words.join(" ")));
    let mut arguments: Vec<String> = words.map(str::to_owned).into();
    arguments.extend(["--unlink=1".to_owned(), format!("--filename={name}")]);
    let code = run_jobs::run(Personality::Native, &arguments, help);
    // A run that did not start leaves the file; remove it.
    match std::fs::remove_file(&name) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            print_error(&format!("iosonde: could not remove {name}: {error}"));
        }
        _ => {}
    }
    code
}
