//! Metrics of a run: served, in a file, and what `promtool` says of them.

use crate::support::running::Running;
use crate::support::{Who, words};
use iosonde_testing::{Folder, has};
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Command, Stdio};

/// Ends at a signal only.
const ENDLESS: &str = "--ioengine=null --rw=randrw --size=1g --time_based --runtime=3600";

/// The body of the answer to a GET with this header line.
fn scrape(address: &str, header: &str) -> (String, String) {
    let mut stream = TcpStream::connect(address).unwrap();
    write!(stream, "GET /metrics HTTP/1.1\r\nHost: x\r\n{header}\r\n").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    assert!(head.starts_with("HTTP/1.1 200 OK\r\n"), "{answer}");
    (head.to_owned(), body.to_owned())
}

/// The value of the sample of this name and labels.
#[track_caller]
fn value(page: &str, sample: &str) -> f64 {
    let line = page.lines().find_map(|line| line.strip_prefix(sample)?.strip_prefix(' '));
    line.unwrap_or_else(|| panic!("no {sample} in\n{page}")).parse().unwrap()
}

/// Counts of the histogram of reads, in the order of its buckets, and its count.
fn histogram(page: &str) -> (Vec<f64>, f64) {
    let begin = "iosonde_io_duration_seconds_bucket{le=\"";
    let labels = "job=\"a.0\",direction=\"read\"}";
    let lines = page.lines().filter(|line| line.starts_with(begin) && line.contains(labels));
    let counts = lines.map(|line| line.rsplit(' ').next().unwrap().parse().unwrap()).collect();
    (counts, value(page, &format!("iosonde_io_duration_seconds_count{{{labels}")))
}

/// Assert that `promtool` has nothing to say, where it is installed.
#[track_caller]
fn check_with_promtool(page: &str) {
    if !has("promtool", "prometheus") {
        return;
    }
    let mut command = Command::new("promtool");
    command.args(["check", "metrics"]).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut promtool = command.stderr(Stdio::piped()).spawn().unwrap();
    promtool.stdin.take().unwrap().write_all(page.as_bytes()).unwrap();
    let said = promtool.wait_with_output().unwrap();
    assert!(said.status.success() && said.stderr.is_empty(), "{said:?}\n{page}");
}

/// The address that a running program printed.
fn address(running: &mut Running) -> String {
    running.wait_for_text("/metrics\n");
    let text = running.text();
    let (_, after) = text.split_once("metrics at http://").unwrap();
    after.split_once("/metrics").unwrap().0.to_owned()
}

#[test]
fn a_running_job_is_scraped_in_the_format_that_is_asked_for() {
    let folder = Folder::new("metrics-http");
    let line = format!("--name=a --numjobs=2 {ENDLESS} --metrics-listen=:0");
    let mut running = Running::start(Who::Native, &folder, &line);
    let address = address(&mut running);
    assert!(address.starts_with("127.0.0.1:"), "{address}");
    running.wait_for_work("a");
    let (head, first) = scrape(&address, "");
    assert!(head.contains("Content-Type: text/plain; version=0.0.4"), "{head}");
    check_with_promtool(&first);
    let accept = "Accept: application/openmetrics-text;version=1.0.0,text/plain;q=0.5\r\n";
    let (head, second) = scrape(&address, accept);
    assert!(head.contains("Content-Type: application/openmetrics-text; version=1.0.0"), "{head}");
    assert!(second.ends_with("\n# EOF\n") && !first.contains("# EOF"));
    for job in ["a.0", "a.1"] {
        let sample = format!("iosonde_io_operations_total{{job=\"{job}\",direction=\"read\"}}");
        let (before, after) = (value(&first, &sample), value(&second, &sample));
        assert!(before > 0.0 && after >= before, "{before} {after}");
    }
    for page in [&first, &second] {
        let (counts, count) = histogram(page);
        assert!(counts.is_sorted() && counts.last() == Some(&count), "{counts:?} {count}");
        assert_eq!(value(page, "iosonde_run_state{state=\"running\"}"), 1.0);
        assert!(value(page, "iosonde_run_progress_ratio") < 1.0);
    }
    running.signal(rustix::process::Signal::INT);
    let ran = running.end_within(crate::support::running::PATIENCE);
    assert_eq!(ran.code, Some(128), "{ran:?}");
    assert!(TcpStream::connect(&address).is_err(), "it is closed at the end");
}

#[test]
fn a_port_in_use_refuses_before_anything_is_done() {
    let folder = Folder::new("metrics-port");
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let line = format!("--name=a --rw=write --size=4k --filename=data --metrics-listen={port}");
    let ran = Who::Native.run(&folder, &words(&line));
    assert_eq!(ran.code, Some(1), "{ran:?}");
    let why = format!("--metrics-listen=127.0.0.1:{port}: cannot listen: ");
    assert!(ran.stderr.contains(&why), "{ran:?}");
    assert!(!folder.join("data").exists(), "{ran:?}");
}

#[test]
fn called_as_fio_the_options_are_unknown() {
    let folder = Folder::new("metrics-fio");
    for option in ["--metrics-listen=0", "--metrics-file=x.prom"] {
        let line = format!("--name=a --ioengine=null --size=4k {option}");
        let ran = Who::AsFio.run(&folder, &words(&line));
        assert_eq!(ran.code, Some(1), "{ran:?}");
        assert!(ran.stderr.contains("metrics-"), "{ran:?}");
        assert!(!folder.join("x.prom").exists());
    }
}

#[test]
fn after_the_run_the_file_has_its_counts_and_its_result() {
    let folder = Folder::new("metrics-file");
    let line = "--name=a --rw=write --bs=4k --size=64k --filename=data --output-format=json \
                --metrics-file=iosonde.prom";
    let ran = Who::Native.run(&folder, &words(line)).well();
    let page = folder.read("iosonde.prom");
    let labels = "{job=\"a\",direction=\"write\"}";
    let write = &ran.json()["jobs"][0]["write"];
    let counted = value(&page, &format!("iosonde_io_operations_total{labels}"));
    assert_eq!(counted, write["total_ios"].as_f64().unwrap());
    assert_eq!(value(&page, &format!("iosonde_io_bytes_total{labels}")), 65536.0);
    assert_eq!(value(&page, "iosonde_run_state{state=\"done\"}"), 1.0);
    assert_eq!(value(&page, "iosonde_run_progress_ratio"), 1.0);
    let max = "{job=\"a\",direction=\"write\",percentile=\"100\"}";
    let max_ns = value(&page, &format!("iosonde_result_percentile_seconds{max}")) * 1e9;
    assert!((max_ns - write["clat_ns"]["max"].as_f64().unwrap()).abs() < 1.0, "{max_ns}");
    for finding in ran.json()["iosonde"]["ledger"]["verdict"].as_array().unwrap() {
        let text = |key: &str| finding[key].as_str().unwrap().to_owned();
        let (rule, severity) = (text("id"), text("severity"));
        let sample = format!("iosonde_finding{{rule=\"{rule}\",severity=\"{severity}\"}}");
        assert_eq!(value(&page, &sample), 1.0);
    }
    check_with_promtool(&page);
    let again = Who::Native.run(&folder, &words(line));
    assert_eq!(again.code, Some(0), "its own file is replaced: {again:?}");
}

#[test]
fn of_more_than_64_jobs_the_further_ones_are_added_up() {
    let folder = Folder::new("metrics-rest");
    let hostile = "x\"} 1\n# EOF\n\\";
    let arguments = [
        "--ioengine=null",
        "--rw=read",
        "--size=8k",
        "--bs=4k",
        "--metrics-file=m.prom",
        &format!("--name={hostile}"),
        "--name=b",
        "--numjobs=70",
    ];
    Who::Native.run(&folder, &arguments).well();
    let page = folder.read("m.prom");
    let of = |job: &str| format!("iosonde_io_operations_total{{job=\"{job}\",direction=\"read\"}}");
    assert_eq!(value(&page, &of("b.62")), 2.0);
    // One hostile job and 63 others have their own.
    assert_eq!(value(&page, &of("_rest")), 7.0 * 2.0);
    assert_eq!(page.matches("iosonde_io_operations_total{").count(), 65);
    assert_eq!(value(&page, &of("x\\\"} 1\\n# EOF\\n\\\\")), 2.0);
    check_with_promtool(&page);
}

#[test]
fn a_file_of_something_else_is_not_replaced() {
    let folder = Folder::new("metrics-other-file");
    std::fs::write(folder.join("notes"), "mine\n").unwrap();
    let line = "--name=a --ioengine=null --size=4k --metrics-file=notes";
    let ran = Who::Native.run(&folder, &words(line));
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert!(ran.stderr.contains("--metrics-file: notes: it exists and is no file of"), "{ran:?}");
    assert_eq!(folder.read("notes"), "mine\n");
}
