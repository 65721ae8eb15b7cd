//! Engines from shared objects, compiled here and driven through the program.

use crate::support::{Ran, Who, words};
use iosonde_testing::{Folder, skip};
use std::path::Path;
use std::process::Command;

const EXAMPLES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../engine/examples/external");
const INCLUDE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../engine/include");
const WRONG: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/wrong_engine.c");

/// Compile a source into `folder`; `None`, and a skip, where there is no compiler.
pub fn compile(folder: &Folder, source: &Path, name: &str, more: &[&str]) -> Option<()> {
    let mut cc = Command::new("cc");
    cc.args(["-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", "-I", INCLUDE, "-o"]);
    cc.arg(folder.join(name)).args(more).arg(source);
    let Ok(output) = cc.output() else {
        skip::test(format_args!("there is no cc to compile an engine with"));
        return None;
    };
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Some(())
}

fn example(folder: &Folder, name: &str) -> Option<()> {
    let source = Path::new(EXAMPLES).join(format!("{name}.c"));
    compile(folder, &source, &format!("{name}.so"), &[])
}

fn ours(folder: &Folder, line: &str) -> Ran {
    Who::AsFio.run(folder, &words(line))
}

/// Compile an engine that does this wrong, and run a job of 64 KiB on it.
fn wrong(folder: &Folder, what: &str, more: &str) -> Option<Ran> {
    compile(folder, Path::new(WRONG), "wrong.so", &[&format!("-DWRONG={what}")])?;
    let line = "--name=j --ioengine=external:./wrong.so --rw=write --bs=4k --size=64k";
    Some(ours(folder, &format!("{line} --output-format=json {more}")))
}

#[test]
fn parsing_alone_loads_no_object() {
    let folder = Folder::new("external-parse");
    let source = folder.write(
        "loud.c",
        format!(
            "#include \"{EXAMPLES}/plain.c\"\n#include <stdio.h>\n\
             __attribute__((constructor)) static void load(void)\n\
             {{ fclose(fopen(\"loaded\", \"w\")); }}\n"
        ),
    );
    let Some(()) = compile(&folder, Path::new(&source), "loud.so", &[]) else { return };
    let line = "--name=j --ioengine=external:./loud.so --filename=f --rw=write --bs=4k --size=64k";
    ours(&folder, &format!("--parse-only {line}")).well();
    assert!(!folder.join("loaded").exists());
    ours(&folder, line).well();
    assert!(folder.join("loaded").exists(), "the test notices when it is loaded");
}

#[test]
fn a_synchronous_engine_moves_the_bytes_of_the_files_that_are_opened_for_it() {
    let folder = Folder::new("external-plain");
    let Some(()) = example(&folder, "plain") else { return };
    let job = "--name=j --ioengine=external:./plain.so --filename=f --bs=4k --size=256k \
               --output-format=json";
    let ran = ours(&folder, &format!("{job} --rw=write --buffer_pattern=0x5a --fsync=16")).well();
    assert!(std::fs::read(folder.join("f")).unwrap() == vec![0x5a; 256 << 10]);
    let json = ran.json();
    assert_eq!(json["jobs"][0]["write"]["total_ios"], 64);
    assert_eq!(json["jobs"][0]["sync"]["total_ios"], 3, "none after the last write");

    // The path alone will do, and the object is looked for here.
    let read = ours(&folder, &job.replace("external:./plain.so", "./plain.so")).well().json();
    assert_eq!(read["jobs"][0]["read"]["io_bytes"], 256 << 10);
    ours(&folder, &job.replace("./plain.so", "plain.so")).well();

    ours(&folder, &format!("{job} --rw=trim --offset=64k --size=64k")).well();
    let bytes = std::fs::read(folder.join("f")).unwrap();
    let zeroes = bytes.iter().filter(|&&byte| byte == 0).count();
    assert_eq!((bytes.len(), zeroes), (256 << 10, 64 << 10));
    assert!(bytes[64 << 10..128 << 10].iter().all(|&byte| byte == 0));
}

#[test]
fn the_offsets_are_those_of_psync() {
    let folder = Folder::new("external-order");
    let Some(()) = example(&folder, "plain") else { return };
    let line = |engine: &str, log: &str| {
        format!(
            "--name=j --ioengine={engine} --filename=f --bs=4k --size=512k --rw=randrw \
             --randseed=7 --fdatasync=5 --write_iolog={log}"
        )
    };
    ours(&folder, &line("psync", "psync.log")).well();
    ours(&folder, &line("./plain.so", "plain.log")).well();
    let [psync, plain] = ["psync.log", "plain.log"].map(|log| crate::support::iolog(&folder, log));
    assert_eq!(psync, plain);
}

#[test]
fn an_engine_with_a_queue_keeps_its_depth_and_its_own_files() {
    let folder = Folder::new("external-late");
    let Some(()) = example(&folder, "late_memory") else { return };
    let job =
        "--name=j --ioengine=external:./late_memory.so --bs=4k --size=1m --output-format=json";
    for (depth, most) in [(1, 1), (8, 8), (32, 16)] {
        let ran =
            ours(&folder, &format!("{job} --rw=randwrite --fsync=100 --iodepth={depth}")).well();
        let words = format!("late_memory: at most {most} in flight, 0 at the end");
        assert!(ran.stderr.contains(&words), "{words}: {ran:?}");
        let json = ran.json();
        assert_eq!(json["jobs"][0]["write"]["total_ios"], 256);
        assert_eq!(json["jobs"][0]["sync"]["total_ios"], 2);
        let least = json["jobs"][0]["write"]["clat_ns"]["min"].as_u64().unwrap();
        assert!(least >= 400_000, "each is half a millisecond late: {least}");
    }
    assert!(!folder.join("j.0.0").exists(), "files are the engine's own");
    let both = ours(&folder, &format!("{job} --rw=randtrimwrite --numjobs=3 --nrfiles=3")).well();
    assert_eq!(both.json()["jobs"].as_array().unwrap().len(), 3);
}

#[test]
fn what_is_no_engine_for_us_is_refused_with_its_reason() {
    let folder = Folder::new("external-refused");
    folder.write("text.so", "not an object");
    let fio = folder.write("fio.c", "int ioengine = 1;\n__attribute__((constructor)) static void end(void) { __builtin_trap(); }");
    let other = folder.write("other.c", "int other = 1;\n");
    let Some(()) = compile(&folder, Path::new(&fio), "fio.so", &[]) else { return };
    compile(&folder, Path::new(&other), "other.so", &[]);
    for (engine, reason) in [
        ("./missing.so", "cannot load ./missing.so: No such file or directory"),
        ("external:missing", "cannot load missing: No such file or directory"),
        ("external:.", "cannot load .: Is a directory"),
        ("external:/dev/null", "cannot load /dev/null: Exec format error"),
        ("./text.so", "cannot use ./text.so: ./text.so: file too short"),
        ("./other.so", "it does not export iosonde_engine (see iosonde_engine.h)"),
        (
            "./fio.so",
            "it is built for fio's internal interface, and must be rebuilt against iosonde_engine.h",
        ),
    ] {
        for who in [Who::AsFio, Who::Native] {
            let ran = who.run(&folder, &words(&format!("--name=j --ioengine={engine} --size=4k")));
            assert_eq!(ran.code, Some(1), "{ran:?}");
            assert!(ran.stderr.contains(reason), "{reason}: {ran:?}");
            assert_eq!(ran.stderr.lines().count(), 1, "{ran:?}");
        }
    }
}

#[test]
fn an_object_that_says_wrong_things_of_itself_is_refused() {
    let folder = Folder::new("external-wrong");
    for (what, reason) in [
        ("ABI", "it is built for interface 9, and this iosonde has 1"),
        ("MAGIC", "iosonde_engine is no structure of iosonde_engine.h"),
        ("SIZE", "it says that iosonde_engine has 24 bytes, which are 112 at least"),
        ("NAMELESS", "its name is null"),
        ("BAD_NAME", "its name, \"two words\", is not 1 to 32 letters"),
        ("FLAGS", "it sets flags that this iosonde does not know: 0x10000000000"),
        ("NO_QUEUE", "queue is null"),
        ("NO_EVENTS", "getevents is null, and it is not IOSONDE_SYNCHRONOUS"),
        ("NO_OPEN_FILE", "open_file is null, and its files are IOSONDE_OWN_FILES"),
    ] {
        let Some(ran) = wrong(&folder, what, "") else { return };
        assert_eq!(ran.code, Some(1), "{ran:?}");
        let line = format!("cannot use ./wrong.so: {reason}");
        assert!(ran.stderr.contains(&line), "{line}: {ran:?}");
        assert_eq!(ran.stderr.lines().count(), 1, "{ran:?}");
    }
}

#[test]
fn an_engine_that_violates_the_interface_ends_the_job_whatever_errors_it_tolerates() {
    let folder = Folder::new("external-broken");
    for (what, errno, reason) in [
        ("STRANGE_ERROR", 71, "./wrong.so ended an I/O with -70000, which is not an errno"),
        ("TOO_MANY_BYTES", 71, "./wrong.so moved 4097 bytes where 4096 were asked"),
        ("QUEUED_ALONE", 71, "./wrong.so is IOSONDE_SYNCHRONOUS and says 1 to queue"),
        ("STRANGE_WORD", 71, "./wrong.so returns 77 from queue, which has no meaning"),
        ("UNKNOWN_ID", 71, "./wrong.so says that an I/O is done that is not in flight, id 0x3e7"),
        ("ZERO_ID", 71, "./wrong.so says that an I/O is done that is not in flight, id 0x0"),
        ("TWICE", 71, "./wrong.so says that an I/O is done that is not in flight"),
        ("TOO_MANY", 71, "I/Os are done, where"),
        ("ALWAYS_BUSY", 71, "./wrong.so is busy with nothing in flight"),
        ("EVENTS_FAIL", 5, "./wrong.so failed in getevents: the tape is torn"),
        ("COMMIT_FAILS", 12, "./wrong.so failed in commit: nothing will come back"),
        ("OPEN_FAILS", 13, "./wrong.so"),
        ("OPEN_FILE_FAILS", 2, "open"),
    ] {
        let more = "--iodepth=4 --iodepth_batch_complete_max=8 --continue_on_error=all";
        let Some(ran) = wrong(&folder, what, more) else { return };
        assert_eq!(ran.code, Some(1), "{what}: {ran:?}");
        assert!(ran.stderr.contains(reason), "{reason}: {ran:?}");
        assert_eq!(ran.json()["jobs"][0]["error"], errno, "{what}: {ran:?}");
    }
}

#[test]
fn errors_are_reported_in_the_engines_words_and_tolerated_where_the_job_tolerates_them() {
    let folder = Folder::new("external-errors");
    let Some(ran) = wrong(&folder, "FAILS", "") else { return };
    let line = "write of 4096 bytes at 0 in j.0.0: Input/output error: the tape is torn";
    assert!(ran.stderr.contains(line), "{line}: {ran:?}");
    assert_eq!((ran.code, &ran.json()["jobs"][0]["error"]), (Some(1), &5.into()));
    let tolerated = wrong(&folder, "FAILS", "--continue_on_error=write").unwrap();
    assert_eq!(tolerated.json()["jobs"][0]["total_err"], 16, "{tolerated:?}");
    let synced = wrong(&folder, "SYNC_FAILS", "--fsync=2").unwrap();
    assert!(synced.stderr.contains("Read-only file system: nothing lasts"), "{synced:?}");
}

#[test]
fn short_ones_go_on_and_some_may_be_done_at_once() {
    let folder = Folder::new("external-short");
    for (what, more) in
        [("SHORT_READS", ""), ("HALF_DONE", "--iodepth=4"), ("RIGHT", "--iodepth=16")]
    {
        let Some(ran) = wrong(&folder, what, more) else { return };
        let json = ran.well().json();
        assert_eq!(json["jobs"][0]["write"]["total_ios"], 16, "{what}");
        assert_eq!(json["jobs"][0]["write"]["io_bytes"], 64 << 10, "{what}");
    }
}

#[test]
fn enghelp_describes_an_object() {
    let folder = Folder::new("external-help");
    let Some(()) = example(&folder, "plain") else { return };
    let reported = ours(&folder, "--enghelp=external:./plain.so").well();
    assert!(
        reported.stdout.contains("external:plain: pread(2) and pwrite(2), holes for trims"),
        "{reported:?}"
    );
    let missing = ours(&folder, "--enghelp=./missing.so");
    assert_eq!(missing.code, Some(1));
    assert!(missing.stderr.contains("cannot load ./missing.so: No such file"), "{missing:?}");
}
