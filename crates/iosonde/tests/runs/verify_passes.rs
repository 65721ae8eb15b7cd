//! Verify of jobs that end by time, and of files that another job of the run writes.

use crate::support::{Ran, Who, words};
use iosonde_testing::Folder;
use serde_json::Value;

const JOB: &str = "--name=v --filename=data --bs=4k --direct=1 --verify=crc32c \
                   --verify_state_save=0 --output-format=json";
const BY_TIME: &str = "--size=256k --time_based --runtime=300ms --ioengine=libaio --iodepth=8";

fn run(who: Who, folder: &Folder, options: &str) -> Ran {
    who.run(folder, &words(&format!("{JOB} {options}")))
}

fn counts(ran: &Ran) -> Value {
    ran.json()["iosonde"]["jobs"][0]["verify"].clone()
}

#[test]
fn a_queue_reads_back_each_pass_and_what_the_clock_cut_off_is_no_warning() {
    for options in [
        "--rw=write",
        "--rw=randwrite",
        "--rw=randrw",
        "--rw=randwrite --bs=12k",
        "--rw=randwrite --bsrange=4k-20k",
        "--rw=randwrite --verify_backlog=10",
        "--rw=write --bsrange=4k-12k --verify_backlog=7",
        "--rw=randwrite --verify_async=2",
        "--rw=randwrite --loops=3",
        "--rw=randwrite --norandommap",
        "--rw=randwrite --experimental_verify=1",
    ] {
        let folder = Folder::new("verify-passes");
        let ran = run(Who::Native, &folder, &format!("{BY_TIME} {options}")).well();
        let counts = counts(&ran);
        let number = |key: &str| counts[key].as_u64().unwrap();
        assert!(number("checked") > 0 && number("wrong") == 0, "{options} {counts}");
        // At most what a pass writes, once over its files or twice with a backlog.
        assert!(number("unchecked") <= 128, "{options} {counts}");
        assert!(!ran.stderr.contains("writes"), "{options} {ran:?}");
    }
}

/// Two jobs that overwrite each other's blocks: what one wrote is not what it reads back.
#[test]
fn jobs_that_overwrite_each_other_end_at_the_first_wrong_block() {
    let folder = Folder::new("verify-each-other");
    let job = format!(
        "{JOB} {} --rw=randwrite --verify_fatal=1 --numjobs=2 --size=1m --runtime=20s",
        BY_TIME.replace("--size=256k", "").replace("--runtime=300ms", "")
    );
    let ran = Who::AsFio.run(&folder, &words(&job));
    let failed = |at: usize| ran.json()["jobs"][at]["error"].as_i64() == Some(84);
    assert!(failed(0) || failed(1), "{ran:?}");
}

#[test]
fn called_as_fio_nothing_stands_beside_a_document() {
    for options in [
        "--rw=randwrite --verify_backlog=128",
        "--rw=write --ioengine=psync",
        "--rw=write --verify=null",
    ] {
        let folder = Folder::new("verify-document");
        let ran = run(Who::AsFio, &folder, &format!("{BY_TIME} {options}")).well();
        assert_eq!(ran.stderr, "", "{options}");
        let ours = run(Who::Native, &folder, &format!("{BY_TIME} {options}"));
        let said = ours.json()["iosonde"]["diagnostics"].to_string();
        assert_eq!(said.contains("verify of job v"), !options.contains("backlog"), "{said}");
    }
}

#[test]
fn a_file_that_an_earlier_job_of_the_run_writes_is_checked_when_its_reader_begins() {
    for readers in [
        "--stonewall --rw=read",
        "--stonewall --rw=randread --numjobs=2",
        "--wait_for=w --rw=read",
        "--startdelay=1 --rw=read",
        "--stonewall --rw=write --verify_only=1",
    ] {
        for short in [None, Some(32 << 10)] {
            let folder = Folder::new("verify-new-file");
            if let Some(bytes) = short {
                std::fs::File::create(folder.join("f")).unwrap().set_len(bytes).unwrap();
            }
            let job = format!(
                "--filename=f --size=64k --bs=4k --verify=md5 --name=w --rw=write --do_verify=0 \
                 --name=r {readers} --output-format=json"
            );
            let ran = Who::AsFio.run(&folder, &words(&job)).well();
            assert_eq!(ran.stderr, "", "{readers}");
        }
    }
}

#[test]
fn a_file_that_nobody_writes_is_refused_before_or_when_its_reader_begins() {
    let folder = Folder::new("verify-no-file");
    let reads = "--filename=f --size=64k --bs=4k --verify=md5 --name=r --rw=read";
    let ran = Who::AsFio.run(&folder, &words(reads));
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert!(ran.stderr.contains("the rest was never written"), "{ran:?}");
    assert!(!folder.join("f").exists());
    // A writer that reserves nothing, and writes less than is read.
    let both = "--filename=f --bs=4k --verify=md5 --fallocate=none --name=w --rw=write --size=32k \
                --do_verify=0 --name=r --stonewall --rw=read --size=64k";
    let ran = Who::AsFio.run(&folder, &words(both));
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert!(ran.stderr.contains("f has 32768 bytes, and 65536 are to be checked"), "{ran:?}");
}

/// fio 3.33: `issued rwts: total=64,64,0,0`, of a mix `total=64,35,0,0`.
#[test]
fn what_verify_only_goes_over_counts_as_issued() {
    for (rw, issued) in [("write", [16, 16]), ("randread", [16, 0])] {
        let folder = Folder::new("verify-only-counts");
        run(Who::AsFio, &folder, "--size=64k --rw=write").well();
        let options = format!("--size=64k --verify_only=1 --rw={rw}");
        let ran = run(Who::AsFio, &folder, &options).well();
        let total = |dir: &str| ran.json()["jobs"][0][dir]["total_ios"].as_u64().unwrap();
        assert_eq!([total("read"), total("write")], issued, "{rw} {ran:?}");
    }
}
