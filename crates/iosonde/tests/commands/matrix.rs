//! `iosonde matrix`: each cell does what its name promises, a promise that is
//! not kept has no figure, and every form reads back.

use crate::support::running::{PATIENCE, Running, wait_until};
use crate::support::trace::calls;
use crate::support::{Ran, Who, at_once, words};
use iosonde_testing::{
    Folder, LoopDevice, Mounted, freeze, has_strace, is_root, or_skip, run, skip,
};
use rustix::process::Signal;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

const MIB: u64 = 1 << 20;
/// As little as can be: one slice a cell is enough for these tests.
const SHORT: &str = "--time-per-cell=1ms";

fn matrix(folder: &Folder, line: &str) -> Ran {
    Who::Native.run(folder, &words(&format!("matrix {SHORT} {line}")))
}

/// The cells of a JSON report by mode and block size.
fn cells(report: &Value) -> BTreeMap<(String, u64), Value> {
    let all = report["cells"].as_array().unwrap().iter();
    all.map(|cell| {
        let key = (cell["mode"].as_str().unwrap().into(), cell["block_bytes"].as_u64().unwrap());
        (key, cell.clone())
    })
    .collect()
}

fn is_measured(cell: &Value) -> bool {
    if cell["measured"].as_bool().unwrap() {
        cell["bytes_per_s"].as_f64().unwrap() > 0.0
    } else {
        assert!(cell.get("bytes_per_s").is_none(), "no figure: {cell}");
        assert!(!cell["reason"].as_str().unwrap().is_empty(), "{cell}");
        false
    }
}

/// A cell of warm reads that lost pages to the kernel meanwhile: one that reclaims
/// idle memory does so at any time, and the cell then has a reason.
fn lost_its_pages(cell: &Value) -> bool {
    cell["mode"] == "READ_WARM" && cell["reason"] == "the data did not stay in the page cache"
}

/// Names of the modes of which every cell is measured.
fn measured(report: &Value) -> Vec<String> {
    let cells = cells(report);
    let all = report["modes"].as_array().unwrap().iter().map(|mode| mode.as_str().unwrap());
    let whole = |mode: &&str| {
        let mut row = cells.iter().filter(|((name, _), _)| name == mode);
        row.all(|(_, cell)| is_measured(cell) || lost_its_pages(cell))
    };
    all.filter(whole).map(str::to_owned).collect()
}

/// A file system on a loop device, or in memory.
fn mounted(folder: &Folder, kind: &str, bytes: u64) -> Option<(Mounted, Option<LoopDevice>)> {
    if kind == "tmpfs" {
        return Some((Mounted::in_memory(folder, kind, &format!("size={bytes}"))?, None));
    }
    let (mounted, device) = LoopDevice::mounted(folder, kind, bytes)?;
    Some((mounted, Some(device)))
}

fn report_on(folder: &Folder, mounted: &Mounted, more: &str) -> Value {
    let line = format!("{} --json {more}", mounted.0.display());
    let ran = matrix(folder, &line).well();
    assert!(std::fs::read_dir(&mounted.0).unwrap().flatten().all(|entry| {
        // The file is gone; what mkfs made may stay.
        !entry.file_name().to_string_lossy().starts_with("iosonde")
    }));
    ran.json()
}

// ---- the system calls of a cell ----

/// The system calls of a mode: flags of open(2), the sync after each write, the sync
/// after each group of writes.
fn promise(mode: &str) -> (&'static str, Option<&'static str>, Option<&'static str>) {
    match mode.split(" + ").next().unwrap() {
        "FDATASYNC" => ("", Some("fdatasync f"), None),
        "FSYNC" => ("", Some("fsync f"), None),
        "AMORTIZED_FDATASYNC" => ("", None, Some("fdatasync f")),
        "AMORTIZED_FSYNC" => ("", None, Some("fsync f")),
        "O_DSYNC" => ("|DSYNC", None, None),
        "O_SYNC" => ("|SYNC", None, None),
        // Outside the time, so that what follows does not pay.
        "BUFFERED" | "O_DIRECT" => ("", None, Some("fsync f")),
        _ => panic!("{mode}"),
    }
}

/// The calls of each slice of the one mode that is measured: from one open to
/// the next, those of preparation left out.
fn slices(folder: &Folder, mode: &str) -> Vec<(String, Vec<String>)> {
    let modes = format!("--modes={mode}");
    let arguments = ["matrix", "f", "--bs=4k", "--size=64k", SHORT, &modes, "--format=lines"];
    let program = Path::new(env!("CARGO_BIN_EXE_iosonde"));
    let (calls, code) = calls(program, folder.path(), &arguments);
    assert_eq!(code, Some(0), "{mode}: {calls:#?}");
    let mut slices: Vec<(String, Vec<String>)> = Vec::new();
    for call in calls {
        match call.strip_prefix("open f ") {
            Some(flags) => slices.push((flags.to_owned(), Vec::new())),
            None => {
                let within = slices.last_mut().map(|(_, calls)| calls);
                within.into_iter().for_each(|calls| calls.push(call.clone()));
            }
        }
    }
    // The first slice begins with the first open that a job of 4 KiB blocks does.
    let is_slice =
        |(_, calls): &(String, Vec<String>)| calls.iter().any(|call| call.ends_with("+4096"));
    slices.retain(is_slice);
    slices
}

#[test]
fn every_way_to_write_shows_the_flags_and_syncs_that_its_name_promises() {
    if !has_strace() {
        return;
    }
    let modes: Vec<String> = ["BUFFERED", "AMORTIZED_FDATASYNC", "AMORTIZED_FSYNC", "FDATASYNC"]
        .into_iter()
        .chain(["FSYNC", "O_DSYNC", "O_SYNC"])
        .flat_map(|mode| ["ALIGNED", "O_DIRECT"].map(|way| format!("{mode} + {way}")))
        .map(|mode| if mode == "BUFFERED + O_DIRECT" { "O_DIRECT".into() } else { mode })
        .collect();
    assert_eq!(modes.len(), 14);
    at_once(&modes, |mode| {
        let folder = Folder::new("matrix-calls");
        let (flag, after_each, after_all) = promise(mode);
        let direct = if mode.ends_with("O_DIRECT") { "|DIRECT" } else { "" };
        let slices = slices(&folder, mode);
        assert!(!slices.is_empty(), "{mode}");
        for (flags, calls) in &slices {
            let mut asked: Vec<&str> = flags.split('|').collect();
            let mut expected: Vec<&str> =
                "RDWR".split('|').chain(direct.split('|')).chain(flag.split('|')).collect();
            expected.retain(|flag| !flag.is_empty());
            asked.sort_unstable();
            expected.sort_unstable();
            assert_eq!(asked, expected, "{mode}");
            let mut due: Vec<String> = Vec::new();
            for write in calls.iter().filter(|call| call.starts_with("write ")) {
                assert!(write.ends_with("+4096"), "{mode}: {write}");
                due.push(write.clone());
                due.extend(after_each.map(str::to_owned));
            }
            due.extend(after_all.map(str::to_owned));
            let mut calls = calls.clone();
            calls.retain(|call| !call.starts_with("unlink"));
            assert_eq!(calls, due, "{mode}");
        }
    });
}

#[test]
fn cold_reads_are_preceded_by_a_drop_of_the_cache_and_warm_ones_by_a_reading() {
    if !has_strace() {
        return;
    }
    let folder = Folder::new("matrix-reads");
    for (flags, calls) in slices(&folder, "READ_COLD") {
        assert_eq!(flags, "RDONLY");
        assert!(calls[0].starts_with("fadvise f DONTNEED"), "{calls:?}");
    }
    for (flags, _) in slices(&folder, "READ + O_DIRECT") {
        assert!(flags == "RDONLY|DIRECT" || flags == "RDONLY", "{flags}");
    }
    let warm = slices(&folder, "READ_WARM");
    assert!(warm.iter().all(|(_, calls)| !calls.iter().any(|call| call.contains("DONTNEED"))));
}

#[test]
fn plain_buffers_miss_the_page_by_one_byte_and_the_others_do_not() {
    if !has_strace() {
        return;
    }
    let folder = Folder::new("matrix-buffers");
    for (mode, past_page) in [("FSYNC", 1), ("FSYNC + ALIGNED", 0), ("FSYNC + O_DIRECT", 0)] {
        let log = folder.join("log");
        // A group's name means all its lines: the plain one is then the first.
        let line = ["f", "--bs=4k", "--size=16k", SHORT, "--format=lines"];
        let output = Command::new("strace")
            .args(["-f", "-e", "trace=pwrite64", "-e", "raw=pwrite64", "-o"])
            .arg(&log)
            .arg(env!("CARGO_BIN_EXE_iosonde"))
            .arg("matrix")
            .args(line)
            .arg(format!("--modes={mode}"))
            .current_dir(folder.path())
            .output()
            .unwrap();
        assert!(output.status.success(), "{output:?}");
        let text = std::fs::read_to_string(&log).unwrap();
        let addresses: Vec<u64> = text
            .lines()
            .filter_map(|line| {
                line.split_once("pwrite64(")?.1.split_once(')').map(|(args, _)| args)
            })
            .filter(|args| args.split(", ").nth(2) == Some("0x1000"))
            .map(|args| args.split(", ").nth(1).unwrap().trim_start_matches("0x"))
            .map(|address| u64::from_str_radix(address, 16).unwrap())
            .collect();
        assert_eq!(addresses[0] % 4096, past_page, "{mode}: {text}");
        if past_page == 0 {
            assert!(addresses.iter().all(|address| address % 4096 == 0), "{mode}: {text}");
        }
    }
}

// ---- forms ----

#[test]
fn every_format_reads_back_and_has_the_same_figures() {
    let folder = Folder::new("matrix-forms");
    let outputs = "--output=o.json --output=o.csv --output=o.svg --output=o.txt --output=o.lines \
                   --output=o.html";
    let line = format!("f --bs=4k,1m --size=4m --modes=buffered,fsync,read {outputs}");
    let ran = matrix(&folder, &line).well();
    assert!(!folder.join("f").exists(), "it was made for the run");
    assert_eq!(folder.names(), ["o.csv", "o.html", "o.json", "o.lines", "o.svg", "o.txt"]);
    assert_eq!(ran.stdout, folder.read("o.txt"));
    let report: Value = serde_json::from_str(&folder.read("o.json")).unwrap();
    let cells = cells(&report);
    assert_eq!(cells.len(), 9 * 2);

    let mib = |cell: &Value| cell["bytes_per_s"].as_f64().map(|rate| rate / MIB as f64);
    // The original's form, column by column.
    let lines = folder.read("o.lines");
    assert_eq!(lines.lines().count(), cells.len());
    for line in lines.lines() {
        let parts: Vec<&str> = line.split(" | ").collect();
        let [size, path, mode, figure] = parts[..] else { panic!("{line:?}") };
        assert_eq!((size.len(), path, mode.len()), (10, "f", 38), "{line:?}");
        let size: u64 = size.trim().parse().unwrap();
        let cell = &cells[&(mode.trim_end().to_owned(), size)];
        let (figure, unit) = figure.trim().split_once(' ').unwrap();
        assert_eq!(unit, "MB/s");
        match mib(cell) {
            Some(rate) => assert!((figure.parse::<f64>().unwrap() - rate).abs() < 0.0051, "{line}"),
            None => assert_eq!(figure, "-"),
        }
    }
    // Sizes first, modes within, as in the original.
    let first: Vec<&str> = lines.lines().take(9).map(|line| &line[..10]).collect();
    assert!(first.iter().all(|size| size.trim() == "4096"), "{lines}");

    let csv = folder.read("o.csv");
    let names: Vec<&str> = csv.lines().next().unwrap().split(',').collect();
    assert_eq!(names.len(), 9);
    for line in csv.lines().skip(1) {
        let fields: Vec<&str> = line.splitn(names.len(), ',').collect();
        let cell = &cells[&(fields[0].to_owned(), fields[1].parse().unwrap())];
        match mib(cell) {
            Some(rate) => {
                assert!((fields[2].parse::<f64>().unwrap() - rate).abs() < 0.001, "{line}")
            }
            None => assert!(fields[2].is_empty() && !fields[8].is_empty(), "{line}"),
        }
    }

    let svg = folder.read("o.svg");
    assert!(svg.starts_with("<svg xmlns=") && svg.ends_with("</svg>\n"));
    assert_eq!(svg.matches("<title>").count(), cells.len(), "a hint a cell");
    assert_eq!(svg.matches("<text").count(), svg.matches("</text>").count());

    let page = folder.read("o.html");
    assert!(page.starts_with("<!DOCTYPE html>") && page.len() < 500 << 10);
    assert!(page.contains("What durability costs, in blocks of 4K"));
    assert!(page.contains("Rate against block size: O_DIRECT"));
    assert!(page.contains("--modes=buffered,fsync,read"), "the command to run it again");
}

#[test]
fn the_table_fits_eighty_columns_and_marks_the_best() {
    let folder = Folder::new("matrix-table");
    let ran = matrix(&folder, "f --bs=512..4m --size=4m --modes=fdatasync,read").well();
    let long = ran.stdout.lines().find(|line| line.chars().count() > 80);
    assert_eq!(long, None, "{ran:?}");
    let heads = ran.stdout.lines().filter(|line| line.starts_with("block size")).count();
    assert_eq!(heads, 2, "seven block sizes each: {ran:?}");
    let marks =
        ran.stdout.lines().filter(|line| line.starts_with("FDATASYNC") || line.starts_with(' '));
    let best = marks.flat_map(str::chars).filter(|&c| c == '*' || c == '#').count();
    assert!(best >= 3, "each line has its best: {ran:?}");
}

#[test]
fn the_figures_are_printed_nowhere_else() {
    let folder = Folder::new("matrix-quiet");
    let ran = matrix(&folder, "f --bs=4k --size=64k --modes=o_sync --json").well();
    assert_eq!(ran.stderr, "");
    assert_eq!(ran.json()["cells"].as_array().unwrap().len(), 3);
    let ran = matrix(&folder, "f --bs=4k --size=64k --modes=o_sync --json --progress").well();
    assert!(ran.stderr.contains("3 of 3 cells"), "{ran:?}");
    assert_eq!(ran.json()["stopped"], false);
}

// ---- targets ----

#[test]
fn devices_of_both_sector_sizes_are_measured_and_too_small_blocks_are_not() {
    if !is_root("attach devices") {
        return;
    }
    for sector in [512, 4096] {
        let folder = Folder::new("matrix-device");
        let image = folder.image("image", 8 * MIB);
        let more = format!("--sector-size={sector}");
        let Some(device) = or_skip(LoopDevice::attach(&image, &[&more])) else { return };
        let line = format!("{} --bs=512,4k,16m --erase=8m --json --size=16m", device.text());
        let ran = matrix(&folder, &line).well();
        let report = ran.json();
        assert_eq!(report["target"]["kind"], "block device");
        for ((mode, size), cell) in cells(&report) {
            let fits = match size {
                512 => sector == 512 || !mode.ends_with("O_DIRECT"),
                4096 => true,
                // More than the device has.
                _ => false,
            };
            // Dropping a device's cache takes the device for itself; some
            // kernels leave pages: then there is a reason, not a figure.
            if mode != "READ_COLD" && !lost_its_pages(&cell) {
                assert_eq!(is_measured(&cell), fits, "{sector} {mode} {size} {cell}");
            }
        }
        let data = std::fs::read(&image).unwrap();
        assert!(data[..4096].iter().any(|&byte| byte != 0), "it was written to");
    }
}

#[test]
fn in_memory_only_what_is_called_memory_has_figures() {
    let folder = Folder::new("matrix-tmpfs");
    let Some((mounted, _)) = mounted(&folder, "tmpfs", 16 * MIB) else { return };
    let report = report_on(&folder, &mounted, "--bs=4k,64k --size=4m");
    assert_eq!(measured(&report), ["BUFFERED", "BUFFERED + ALIGNED", "READ_WARM"]);
    let reason = &cells(&report)[&("O_DIRECT".to_owned(), 4096)]["reason"];
    assert!(reason.as_str().unwrap().contains("tmpfs keeps files in memory"), "{reason}");
}

#[test]
fn every_cell_is_measured_on_ext4_and_xfs() {
    for (kind, bytes) in [("ext4", 64 * MIB), ("xfs", 320 * MIB)] {
        let folder = Folder::new("matrix-fs");
        let Some((mounted, _device)) = mounted(&folder, kind, bytes) else { continue };
        let report = report_on(&folder, &mounted, "--bs=4k,256k --size=8m");
        assert_eq!(report["target"]["file_system"], kind);
        assert_eq!(measured(&report).len(), 24, "{report:#}");
    }
}

#[test]
fn direct_writes_that_go_through_the_cache_have_no_figure() {
    let folder = Folder::new("matrix-btrfs");
    let Some((mounted, _device)) = mounted(&folder, "btrfs", 256 * MIB) else { return };
    // With checksums btrfs copies what is written directly; without it does not.
    let report = report_on(&folder, &mounted, "--bs=64k --size=8m --modes=fsync");
    let with = measured(&report);
    let plain = mounted.0.join("plain");
    std::fs::create_dir(&plain).unwrap();
    if or_skip(run("chattr", &["+C", plain.to_str().unwrap()])).is_none() {
        return;
    }
    let line = format!("{} --bs=64k --size=8m --modes=fsync --json", plain.display());
    let without = measured(&matrix(&folder, &line).well().json());
    assert_eq!(without, ["FSYNC", "FSYNC + ALIGNED", "FSYNC + O_DIRECT"]);
    // Older kernels let checksummed files have it.
    if with.len() == 3 {
        skip!("this kernel's btrfs writes directly with checksums");
    }
    assert_eq!(with, ["FSYNC", "FSYNC + ALIGNED"]);
}

#[test]
fn a_file_that_is_only_read_is_left_as_it_is() {
    let folder = Folder::new("matrix-read");
    let contents: Vec<u8> = (0..256 * 1024).map(|i| (i % 251) as u8).collect();
    folder.write("data", &contents);
    let report = matrix(&folder, "data --bs=4k --modes=read --json").well().json();
    assert_eq!(report["target"]["span_bytes"], 256 * 1024);
    assert_eq!(cells(&report).len(), 3);
    assert!(std::fs::read(folder.join("data")).unwrap() == contents);
    folder.write("empty", "");
    let ran = matrix(&folder, "empty --modes=read");
    assert_eq!(ran.code, Some(1));
    assert!(ran.stderr.contains("nothing to read"), "{ran:?}");
}

#[test]
fn names_with_colons_and_blanks_are_names() {
    let folder = Folder::new("matrix-names");
    let line = ["matrix", SHORT, "a: b", "--bs=4k", "--size=64k", "--modes=o_sync", "--json"];
    let ran = Who::Native.run(&folder, &line).well();
    assert_eq!(measured(&ran.json()).len(), 3);
    assert!(folder.names().is_empty(), "{:?}", folder.names());
}

// ---- the end ----

#[test]
fn a_signal_keeps_what_is_known_and_removes_the_file() {
    for signal in [Signal::INT, Signal::TERM] {
        let folder = Folder::new("matrix-signal");
        let line = "matrix --modes=buffered,read --bs=4k..1m --size=8m --time-per-cell=200ms \
                    --json --progress --output=o.csv";
        let mut program = Running::start(Who::Native, &folder, line);
        program.wait_for_text("iB/s\n");
        program.signal(signal);
        let ran = program.end_within(PATIENCE);
        assert_eq!(ran.code, Some(128), "{ran:?}");
        let report = ran.json();
        assert_eq!(report["stopped"], true);
        let all = cells(&report);
        assert_eq!(all.len(), 9 * 6);
        let known = all.values().filter(|cell| is_measured(cell)).count();
        assert!((1..54).contains(&known), "{known}");
        let stopped = all.values().filter(|cell| cell["why"] == "stopped").count();
        assert!(stopped > 0 && known + stopped <= 54);
        assert_eq!(folder.names(), ["o.csv"], "the temporary file is gone");
    }
}

#[test]
fn a_second_signal_reports_known_results_though_the_storage_does_not_answer() {
    let folder = Folder::new("matrix-frozen");
    let Some((mounted, _device)) = mounted(&folder, "ext4", 64 * MIB) else { return };
    let on = mounted.0.to_str().unwrap();
    let line = format!(
        "matrix {on} --modes=fsync --bs=4k --size=1m --time-per-cell=10s --output=o.csv --json"
    );
    let mut program = Running::start(Who::Native, &folder, &line);
    // Preparation is one write; then there are slices.
    let io = format!("/proc/{}/io", program.id());
    wait_until("a slice writes", || {
        let text = std::fs::read_to_string(&io).unwrap_or_default();
        let writes = text.lines().find_map(|line| line.strip_prefix("syscw: "));
        writes.and_then(|count| count.parse::<u64>().ok()).is_some_and(|count| count > 20)
    });
    let Some(frozen) = or_skip(freeze(on)) else { return };
    program.wait_for_stuck_thread();
    program.signal(Signal::INT);
    assert!(program.is_running(), "a write waits");
    // Another signal: two of one kind become one if the program is slow to take the first.
    program.signal(Signal::TERM);
    wait_until("the results are there", || {
        std::fs::metadata(folder.join("o.csv")).is_ok_and(|file| file.len() > 0)
    });
    drop(frozen);
    let ran = program.end_within(PATIENCE);
    assert_eq!(ran.code, Some(128), "{ran:?}");
    assert_eq!(ran.json()["stopped"], true);
    assert!(folder.read("o.csv").contains("the run was stopped first"));
}

#[test]
fn too_little_room_is_said_before_anything_is_written() {
    let folder = Folder::new("matrix-room");
    let Some((mounted, _)) = mounted(&folder, "tmpfs", 4 * MIB) else { return };
    let on = mounted.0.to_str().unwrap();
    let ran = matrix(&folder, &format!("{on} --bs=4k --size=8m"));
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert!(ran.stderr.contains("needs 8 MiB and its file system has 4 MiB free"), "{ran:?}");
    assert_eq!(std::fs::read_dir(&mounted.0).unwrap().count(), 0);
}

#[test]
fn errors_of_a_cell_leave_the_others_their_figures() {
    let folder = Folder::new("matrix-errors");
    // A file that is cut short behind the back of the run: reads find its end.
    let data = folder.write("data", vec![1; MIB as usize]);
    let program = Running::start(
        Who::Native,
        &folder,
        "matrix data --modes=read --bs=4k,64k,128k --time-per-cell=300ms --json --progress",
    );
    program.wait_for_text("iB/s\n");
    std::fs::OpenOptions::new().write(true).open(&data).unwrap().set_len(0).unwrap();
    let ran = program.end_within(PATIENCE);
    assert_eq!(ran.code, Some(1), "{ran:?}");
    let report = ran.json();
    assert_eq!(report["stopped"], false);
    let all = cells(&report);
    assert!(all.values().any(is_measured), "{report:#}");
    assert!(all.values().any(|cell| cell["why"] == "failed"), "{report:#}");
    assert_eq!(std::fs::metadata(&data).unwrap().len(), 0, "what is only read is not filled again");
}
