//! `iosonde plot`: logs of fio and iosonde, results, and what is no log.

use crate::support::{Ran, Who, words};
use iosonde_testing::{Folder, has_fio};
use std::fmt::Write;

fn plot(folder: &Folder, line: &str) -> Ran {
    Who::Native.run(folder, &words(&format!("plot {line}")))
}

/// Rows of CSV by the names of its columns.
fn table(text: &str) -> Vec<Vec<(String, String)>> {
    let mut lines = text.lines();
    let heads: Vec<&str> = lines.next().unwrap().split(',').collect();
    let row = |line: &str| {
        heads
            .iter()
            .zip(line.split(','))
            .map(|(head, cell)| (head.to_string(), cell.to_owned()))
            .collect()
    };
    lines.map(row).collect()
}

fn cell<'a>(row: &'a [(String, String)], head: &str) -> &'a str {
    &row.iter().find(|(known, _)| known == head).unwrap_or_else(|| panic!("{head}: {row:?}")).1
}

fn number(row: &[(String, String)], head: &str) -> f64 {
    cell(row, head).parse().unwrap_or_else(|_| panic!("{head}: {row:?}"))
}

/// 90 % of 100 us and 10 % of 10 ms.
fn bimodal() -> String {
    let mut text = String::new();
    for row in 0..20_000u64 {
        let ns = if row % 10 == 9 { 10_000_000 } else { 100_000 };
        writeln!(text, "{}, {ns}, 0, 4096, {}, 0", row / 10, row % 977 * 4096).unwrap();
    }
    text
}

#[test]
fn a_log_of_two_modes_has_its_charts_and_its_percentiles() {
    let folder = Folder::new("plot-bimodal");
    folder.write("a_clat.1.log", bimodal());
    plot(&folder, "a_clat.1.log").well();
    let page = folder.read("plot.html");
    for words in [
        "Completion latency (clat)",
        "Latency of reads over time",
        "Latency by percentile",
        "Reads one by one",
        "Reads by offset",
        "p50 100 us",
    ] {
        assert!(page.contains(words), "{words}");
    }
    assert!(!page.contains("writes"), "there are none");
    let rows = table(&plot(&folder, "a_clat.1.log --csv -").well().stdout);
    assert_eq!(rows.len(), 1);
    assert_eq!(number(&rows[0], "values"), 20_000.0);
    for (head, ns) in [("p50", 1e5), ("p90", 1e5), ("p95", 1e7), ("p99.9", 1e7)] {
        let found = number(&rows[0], head);
        assert!((found / ns - 1.0).abs() < 0.01, "{head}: {found}");
    }
}

#[test]
fn jobs_of_a_run_are_added_up_and_a_cliff_is_named() {
    let folder = Folder::new("plot-sum");
    for job in 1..=2 {
        let mut text = String::new();
        for row in 1..=100 {
            let kib = if row <= 50 { 600_000 } else { 150_000 };
            writeln!(text, "{}, {}, 1, 0, 0", row * 500 + job, kib + row % 7 * 1000).unwrap();
        }
        folder.write(&format!("run_bw.{job}.log"), text);
    }
    plot(&folder, "run_bw.1.log run_bw.2.log -o both.html").well();
    let page = folder.read("both.html");
    assert!(page.contains("run: sum of 2 jobs"));
    assert!(page.contains("Write rate against bytes written"));
    // 25 s of 1.2 GB/s.
    assert!(page.contains("The mean fell by 74") && page.contains("after 28."), "{page}");
    let rows = table(&plot(&folder, "run_bw.1.log run_bw.2.log --csv -").well().stdout);
    let mean =
        |name: &str| number(rows.iter().find(|row| cell(row, "log") == name).unwrap(), "mean");
    let sum = mean("run_bw.1.log") + mean("run_bw.2.log");
    assert!((mean("run: sum of 2 jobs") / sum - 1.0).abs() < 0.02);
    let each = plot(&folder, "run_bw.1.log run_bw.2.log --each -o each.html");
    each.well();
    let page = folder.read("each.html");
    assert!(page.contains("Bandwidth: run_bw.1.log") && !page.contains("sum of"));
}

#[test]
fn what_exists_stays_unless_force_is_given() {
    let folder = Folder::new("plot-force");
    folder.write("a_iops.log", "1000, 7, 0, 0, 0\n2000, 8, 0, 0, 0\n");
    folder.write("plot.html", "mine");
    let refused = plot(&folder, "a_iops.log");
    assert_eq!(refused.code, Some(1));
    assert!(refused.stderr.contains("plot.html: it exists; use --force"), "{refused:?}");
    assert_eq!(folder.read("plot.html"), "mine");
    plot(&folder, "a_iops.log --force").well();
    assert!(folder.read("plot.html").contains("IOPS over time"));
}

#[test]
fn broken_rows_are_named_and_too_many_refuse_the_log() {
    let folder = Folder::new("plot-broken");
    let mut text = bimodal();
    text.push_str("17\n5, abc, 0, 4096, 0, 0\n");
    folder.write("a_clat.1.log", &text);
    let ran = plot(&folder, "a_clat.1.log").well();
    assert!(ran.stderr.contains("a_clat.1.log:20001: 1 columns, not 6; skipped"), "{ran:?}");
    assert!(
        ran.stderr.contains("a_clat.1.log:20002: column 2 is not a whole number: \"abc\""),
        "{ran:?}"
    );
    assert!(folder.read("plot.html").contains("2 rows could not be read"));
    text.push_str(&"nothing\n".repeat(300));
    folder.write("a_clat.1.log", &text);
    let refused = plot(&folder, "a_clat.1.log -o other.html");
    assert_eq!(refused.code, Some(1));
    assert!(refused.stderr.contains("302 of 20302 rows are broken, more than 1 %"), "{refused:?}");
    assert!(!folder.join("other.html").exists());
}

#[test]
fn what_is_neither_log_nor_result_is_refused_with_the_reason() {
    let folder = Folder::new("plot-neither");
    folder.write("notes.txt", "hello");
    folder.write("numbers.txt", "1000, 7, 0\n2000, 8, 0\n");
    folder.write("a_bw.log", "hello\n");
    folder.write("b_bw.log", "");
    folder.write("u_bw.log", "1795348413957, 7, 0, 0, 0\n");
    folder.write("v_bw.log", "1000, 7, 0, 0, 0\n");
    for (line, reason) in [
        ("notes.txt", "notes.txt: it contains no JSON object"),
        ("numbers.txt", "numbers.txt: its name does not say what its values are"),
        ("a_bw.log", "a_bw.log: it is no bw log: a row has 2 to 8 whole numbers"),
        ("b_bw.log", "there is no row in any log"),
        ("none_bw.log", "none_bw.log: cannot read it"),
        ("u_bw.log v_bw.log", "the times of u_bw.log are of a clock"),
        ("v_bw.log --y iops", "--y needs --x"),
        ("v_bw.log --x bs", "--x is of results"),
    ] {
        let ran = plot(&folder, line);
        assert_eq!(ran.code, Some(1), "{ran:?}");
        assert!(ran.stderr.contains(reason), "{reason}: {ran:?}");
    }
    assert!(!folder.join("plot.html").exists());
    plot(&folder, "numbers.txt --type=iops").well();
    plot(&folder, "u_bw.log v_bw.log --each --force").well();
}

#[test]
fn figures_of_results_are_drawn_against_an_option() {
    let folder = Folder::new("plot-results");
    for depth in [1, 4] {
        for bs in ["4k", "8k"] {
            let line = format!(
                "--name=j --ioengine=null --size=4m --rw=randread --bs={bs} --iodepth={depth} \
                 --output-format=json --output=r-{depth}-{bs}.json"
            );
            Who::Native.run(&folder, &words(&line)).well();
        }
    }
    let all = "r-1-4k.json r-1-8k.json r-4-4k.json r-4-8k.json";
    plot(&folder, &format!("{all} --x iodepth --y iops,read.p50 --by bs")).well();
    let page = folder.read("plot.html");
    for words in ["read IOPS against iodepth", "read p50 against iodepth", "bs=4k", "bs=8k"] {
        assert!(page.contains(words), "{words}");
    }
    let line = format!("{all} --x iodepth --y iops --by bs --filter bs=4096 --csv -");
    let rows = table(&plot(&folder, &line).well().stdout);
    assert_eq!(rows.len(), 2);
    assert!(rows.iter().all(|row| cell(row, "bs") == "4k" && cell(row, "results") == "1"));
    assert_eq!(rows.iter().map(|row| cell(row, "iodepth")).collect::<Vec<_>>(), ["1", "4"]);
    for (line, reason) in [
        ("--x iodept", "unknown option \"iodept\""),
        ("--x iodepth --y iop", "unknown figure \"iop\""),
        ("--x iodepth --filter bs", "use OPTION=VALUE"),
        ("--x iodepth --filter bs=1m", "no job of the results has what --filter wants"),
        ("--x rwmixread", "no job of the results sets rwmixread"),
        ("--x iodepth --y write.iops", "no result has the figures that --y names"),
    ] {
        let ran = plot(&folder, &format!("{all} {line} --force"));
        assert_eq!(ran.code, Some(1), "{ran:?}");
        assert!(ran.stderr.contains(reason), "{reason}: {ran:?}");
    }
    plot(&folder, "r-1-4k.json -o whole.html").well();
    assert!(folder.read("whole.html").contains("Limited by the tester"));
}

/// Logs of our own, and of the fio that is installed, have the same figures as
/// its report.
#[test]
fn logs_of_fio_and_of_our_own_add_up_to_the_report() {
    let folder = Folder::new("plot-fio");
    let line = "--name=j --ioengine=null --size=8m --bs=4k --rw=randrw --write_bw_log=l \
                --write_lat_log=l --write_iops_log=l --write_hist_log=l --log_hist_msec=100 \
                --log_offset=1 --iodepth=4 --rate_iops=4000 --output-format=json";
    let mut all = vec![Who::AsFio];
    if has_fio() {
        all.push(Who::Fio);
    }
    for who in all {
        let report = who.run(&folder, &words(line)).well().json();
        let rows = table(
            &plot(&folder, "l_clat.1.log l_lat.1.log l_clat_hist.1.log --csv -").well().stdout,
        );
        for dir in ["read", "write"] {
            let of = |kind: &str| {
                let is = |row: &&Vec<(String, String)>| {
                    cell(row, "type") == kind && cell(row, "direction") == dir
                };
                rows.iter().find(is).unwrap_or_else(|| panic!("{who:?} {kind} {dir}: {rows:?}"))
            };
            let clat = &report["jobs"][0][dir]["clat_ns"];
            let n = clat["N"].as_f64().unwrap();
            assert_eq!(number(of("clat"), "values"), n, "{who:?}");
            assert_eq!(number(of("clat"), "max"), clat["max"].as_f64().unwrap(), "{who:?}");
            let p99 = clat["percentile"]["99.000000"].as_f64().unwrap();
            let found = number(of("clat"), "p99");
            assert!((found / p99 - 1.0).abs() < 0.02, "{who:?}: {found} {p99}");
        }
        plot(&folder, "l_bw.1.log l_iops.1.log l_slat.1.log l_clat_hist.1.log --force").well();
        let page = folder.read("plot.html");
        for words in ["Bandwidth over time", "IOPS over time", "(slat)", "(histograms)"] {
            assert!(page.contains(words), "{who:?}: {words}");
        }
        for log in ["bw", "iops", "lat", "clat", "slat", "clat_hist"] {
            std::fs::remove_file(folder.join(&format!("l_{log}.1.log"))).unwrap();
        }
    }
}

#[test]
fn compressed_logs_of_our_own_are_read() {
    let folder = Folder::new("plot-compressed");
    let line = "--name=j --ioengine=null --size=8m --bs=4k --rw=randread --write_lat_log=z \
                --log_compression=64k --log_store_compressed=1";
    Who::Native.run(&folder, &words(line)).well();
    let rows = table(&plot(&folder, "z_clat.1.log.fz --csv -").well().stdout);
    assert_eq!(number(&rows[0], "values"), 2048.0);
    let seconds = plot(&folder, "z_clat.1.log.fz --per-second --csv -").well().stdout;
    let ios: f64 = table(&seconds).iter().map(|row| number(row, "values")).sum();
    assert_eq!(ios, 2048.0);
}
