//! `--profile`: options of built-in workloads count.

use crate::support::{Who, words};
use iosonde_testing::{Folder, has_fio};

#[test]
fn tiobench_runs_its_four_jobs_as_its_options_say() {
    let folder = Folder::new("tiobench");
    let line = "--profile=tiobench --size=1 --block=8192 --numruns=2 --threads=2 --dir=. \
                --output-format=json";
    let json = Who::AsFio.run(&folder, &words(line)).well().json();
    let jobs = json["jobs"].as_array().unwrap();
    let names: Vec<&str> = jobs.iter().map(|job| job["jobname"].as_str().unwrap()).collect();
    assert_eq!(names, ["seqwrite", "randwrite", "seqread", "randread"]);
    for (job, dir) in jobs.iter().zip(["write", "write", "read", "read"]) {
        // 1 MiB in 8 KiB, twice, by two threads.
        assert_eq!(job[dir]["total_ios"], 512, "{job}");
        assert_eq!(
            job["groupid"].as_u64(),
            jobs.iter().position(|one| one == job).map(|at| at as u64)
        );
    }
    let files = [".fio.tio.1", ".fio.tio.2", ".fio.tio.3", ".fio.tio.4"];
    assert_eq!(folder.names(), files);
}

#[test]
fn profiles_that_do_not_exist_are_refused_as_fio_refuses_them() {
    let folder = Folder::new("profile-refused");
    let bogus = Who::AsFio.run(&folder, &words("--profile=bogus"));
    assert_eq!(bogus.stderr.trim(), "fio: profile 'bogus' not found");
    assert_eq!(bogus.code, Some(1));
    let act = Who::AsFio.run(&folder, &words("--profile=act"));
    assert_eq!(
        act.stderr,
        "act: you need to set IO target(s) with the device-names option.\n\
         fio: profile act prep failed\n"
    );
    assert_eq!(act.code, Some(1), "{act:?}");
    let size = Who::Native.run(&folder, &words("--profile=tiobench --size=many"));
    assert!(
        size.stderr.contains("--size: invalid value \"many\": use a number of MiB"),
        "{size:?}"
    );
    if has_fio() {
        for help in ["--profile=tiobench --cmdhelp", "--profile=act --cmdhelp"] {
            let [ours, fio] =
                [Who::AsFio, Who::Fio].map(|who| who.run(&folder, &words(help)).stdout);
            assert_eq!(ours, fio);
        }
    }
}

/// How many reads are slow is the machine's: the exit code follows from what is printed.
#[test]
fn act_judges_the_reads_of_each_hour() {
    let folder = Folder::new("act");
    folder.write("d", vec![7; 4 << 20]);
    let line = "--profile=act --device-names=d --load=1 --threads-per-queue=2 --test-duration=1s \
                --read-req-num-512-blocks=8 --ledger=no";
    let ran = Who::AsFio.run(&folder, &words(line));
    let failed = ran.stderr.contains("exceeds pass criteria of");
    assert_eq!(ran.code, Some(u8::from(failed).into()), "{ran:?}");
    let table = ran.stdout.find(" slice\t  1\t  8\t 64\t  1\t  8\t 64\n").expect("a table");
    let rows: Vec<&str> = ran.stdout[table..].lines().skip(2).take(2).collect();
    assert!(rows[0].starts_with("    1\t"), "{ran:?}");
    assert!(!rows[1].starts_with("    2\t"), "{ran:?}");
    assert!(ran.stdout[table..].contains("act-read-d: (groupid=0, jobs=3)"), "{ran:?}");
}
