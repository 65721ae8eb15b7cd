//! The cost of a phase beside a plain loop of the same system calls.
//!
//! `cargo bench -p iosonde-meta -- [DIR] [FILES]`: one thread, one directory, empty
//! files; each turn runs both, one after the other, and the ratio of their times
//! is printed, with its median and range. The plain loop uses the same names from the
//! same directory and formats each before its call, as such programs do; it measures
//! no latencies.

#![allow(missing_docs)]

use rustix::fs::{AtFlags, CWD, Mode, OFlags};
use std::ffi::CStr;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

const TURNS: usize = 9;
const PHASES: [&str; 4] = ["create", "stat", "open", "unlink"];

fn main() {
    // cargo adds `--bench`.
    let words: Vec<String> = std::env::args().skip(1).filter(|word| word != "--bench").collect();
    let dir = PathBuf::from(words.first().map_or("/dev/shm", String::as_str));
    let files: usize = words.get(1).and_then(|word| word.parse().ok()).unwrap_or(100_000);
    let program =
        std::env::var_os("IOSONDE").map_or("target/release/iosonde".into(), PathBuf::from);
    let mut ratios = vec![Vec::new(); PHASES.len()];
    for turn in 0..TURNS {
        let (bare, ours) = match turn % 2 {
            0 => (plain(&dir, files), phases(&program, &dir, files)),
            _ => {
                let ours = phases(&program, &dir, files);
                (plain(&dir, files), ours)
            }
        };
        for (phase, ratios) in ratios.iter_mut().enumerate() {
            ratios.push(ours[phase] / bare[phase]);
        }
    }
    println!("seconds of `iosonde meta` over those of a plain loop, {TURNS} turns, {files} files");
    for (phase, mut ratios) in PHASES.into_iter().zip(ratios) {
        ratios.sort_by(f64::total_cmp);
        let (least, median, most) = (ratios[0], ratios[TURNS / 2], ratios[TURNS - 1]);
        println!("{phase:<8} {median:.3}  [{least:.3} .. {most:.3}]");
    }
    print_beside_mdtest(&program, &dir, files);
}

/// What mdtest calls the phases; its reads of empty files are our `open`.
const IN_MDTEST: [&str; 4] = ["File creation", "File stat", "File read", "File removal"];

/// Print operations a second of both, one after the other.
fn print_beside_mdtest(program: &Path, dir: &Path, files: usize) {
    let mdtest = std::env::var_os("MDTEST").unwrap_or_else(|| "mdtest".into());
    let words = [&format!("-n={files}"), "-F", "-C", "-T", "-E", "-r", "-w=0", "-e=0", "-u"];
    let run = Command::new(&mdtest).args(words).arg("-d").arg(dir).output();
    let theirs = match run {
        Ok(output) if output.status.success() => {
            String::from_utf8_lossy(&output.stdout).into_owned()
        }
        Ok(output) => return println!("mdtest: {}", output.status),
        Err(error) => {
            return println!("mdtest: not run ({error}); install IOR, or name it in MDTEST");
        }
    };
    let ours = phases(program, dir, files);
    for ((phase, name), seconds) in PHASES.iter().zip(IN_MDTEST).zip(ours) {
        // The largest of its rounds is the first number of a line.
        let rate = theirs
            .lines()
            .find_map(|line| line.trim().strip_prefix(name))
            .and_then(|rest| rest.split_whitespace().find_map(|word| word.parse::<f64>().ok()));
        let rate = rate.map_or("?".to_owned(), |rate| format!("{rate:.0}"));
        println!("{phase:<8} {:.0} a second, mdtest {rate}", files as f64 / seconds);
    }
}

/// Seconds of each phase in a loop that does nothing else.
fn plain(dir: &Path, files: usize) -> [f64; 4] {
    let root = dir.join(format!("iosonde-bench-{}", std::process::id()));
    std::fs::create_dir(&root).expect("the directory can be written to");
    let flags = OFlags::PATH | OFlags::DIRECTORY;
    let top = rustix::fs::openat(CWD, &root, flags, Mode::empty()).expect("it was just made");
    rustix::fs::mkdirat(&top, c"d1.0", Mode::RWXU).expect("it is new");
    let timed = |act: &dyn Fn(&CStr)| {
        let mut name = Vec::with_capacity(32);
        let begun = Instant::now();
        for file in 0..files {
            name.clear();
            write!(name, "d1.0/f{file}\0").expect("memory is written to");
            act(CStr::from_bytes_with_nul(&name).expect("one zero byte, at the end"));
        }
        begun.elapsed().as_secs_f64()
    };
    let create = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL;
    let took = [
        timed(&|name| drop(rustix::fs::openat(&top, name, create, Mode::RWXU).expect("create"))),
        timed(&|name| {
            rustix::fs::statat(&top, name, AtFlags::SYMLINK_NOFOLLOW).expect("stat");
        }),
        timed(&|name| {
            drop(rustix::fs::openat(&top, name, OFlags::RDONLY, Mode::empty()).expect("open"));
        }),
        timed(&|name| rustix::fs::unlinkat(&top, name, AtFlags::empty()).expect("unlink")),
    ];
    rustix::fs::unlinkat(&top, c"d1.0", AtFlags::REMOVEDIR).expect("it is empty");
    std::fs::remove_dir(&root).expect("it is empty");
    took
}

/// Seconds of each phase as the program measures them.
fn phases(program: &Path, dir: &Path, files: usize) -> [f64; 4] {
    let output = Command::new(program)
        .arg("meta")
        .arg(dir)
        .args([&format!("--files={files}"), "--dirs=1", "--threads=1", "--size=0"])
        .args(["--order=sequential", "--phases=stat,open", "--json"])
        .output()
        .expect("the program runs: build it first, or name it in IOSONDE");
    let document: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    PHASES.map(|name| {
        let phases = document["rounds"][0].as_array().expect("phases");
        let phase = phases.iter().find(|phase| phase["phase"] == name).expect("the phase ran");
        phase["last_done_ns"].as_f64().expect("a time") / 1e9
    })
}
