//! What runs of records leave for other programs: the table, metrics over
//! HTTP, the common result file; and arguments from a file.

use crate::support::running::{PATIENCE, Running, wait_until};
use crate::support::sbk::{lines, number, sbk};
use crate::support::{Who, words};
use iosonde_testing::{Folder, free_port};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

#[test]
fn the_table_reads_back_as_the_lines_tell() {
    let folder = Folder::new("sbk");
    let line = "-class file -file f -size 1000 -writers 1 -records 5000 -time ns -out CSVLogger -csvfile t.csv";
    let ran = sbk(&folder, line).well();
    let total = lines(&ran).1;
    let table = folder.read("t.csv");
    let rows: Vec<Vec<&str>> =
        table.lines().map(|row| row.split(',').map(str::trim).collect()).collect();
    assert_eq!(rows.len(), 3, "a header, a window, the total: {table}");
    assert_eq!(rows[0].len(), 45 + 2 * 28);
    assert!(rows.iter().all(|row| row.len() == rows[0].len()), "{table}");
    let cell = |row: usize, name: &str| {
        let column =
            rows[0].iter().position(|cell| *cell == name).unwrap_or_else(|| panic!("{name}"));
        rows[row][column]
    };
    assert_eq!((cell(1, "Type"), cell(2, "Type")), ("Regular", "Total"));
    let names = ["ID", "Header", "Storage", "Action", "LatencyTimeUnit", "Records", "MaxWriters"];
    let cells = names.map(|name| cell(2, name));
    assert_eq!(cells, ["2", "sbk", "File", "Writing", "NANOSECONDS", "5000", "1"]);
    let same = [
        ("Records/Sec", "records/sec,"),
        ("MB", "MB, "),
        ("AvgLatency", "ns avg latency,"),
        ("MaxLatency", "ns max latency;"),
        ("Percentile_92.5", "ns 92.5th"),
        ("Percentile_99.99", "ns 99.99th"),
        ("SLC2", "Latency Percentiles"),
    ];
    for (name, what) in &same[..6] {
        assert_eq!(cell(2, name).parse::<f64>().unwrap(), number(&total, what), "{name}");
    }
    let ranked: Vec<u64> = (45..73).map(|column| rows[2][column].parse().unwrap()).collect();
    assert!(ranked.is_sorted(), "{ranked:?}");
    let times = (73..101).map(|column| rows[2][column].parse::<u64>().unwrap());
    assert!(times.clone().all(|times| (1..=5000).contains(&times)), "{table}");
}

fn get(address: &str, path: &str) -> std::io::Result<String> {
    let mut stream = TcpStream::connect(address)?;
    stream.set_read_timeout(Some(Duration::from_secs(5)))?;
    write!(stream, "GET {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n")?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer)?;
    Ok(answer)
}

#[test]
fn metrics_are_scraped_over_loopback_under_sbks_names() {
    let folder = Folder::new("sbk");
    let port = free_port();
    let address = format!("127.0.0.1:{port}");
    let line = format!(
        "sbk -class file -file f -size 1024 -writers 1 -throughput 0.1 -seconds 30 -out \
         PrometheusLogger -context {port}/metrics -format 10"
    );
    let mut program = Running::start(Who::Native, &folder, &line);
    let value = |page: &str, name: &str| -> Option<f64> {
        let labels = "{action=\"Writing\",class=\"File\",component=\"sbk\"} ";
        let line = page.lines().find(|line| line.starts_with(&format!("{name}{labels}")))?;
        line.rsplit(' ').next()?.parse().ok()
    };
    let mut page = String::new();
    wait_until("a window is printed", || {
        page = get(&address, "/metrics").unwrap_or_default();
        value(&page, "SBK_Writing_Records_total").is_some_and(|n| n > 0.0)
    });
    assert!(page.starts_with("HTTP/1.1 200 OK\r\n"), "{page}");
    assert!(page.contains("Content-Type: text/plain; version=0.0.4"), "{page}");
    let of = |name: &str| value(&page, name).unwrap_or_else(|| panic!("no {name}: {page}"));
    // A window of five seconds at 102.4 records a second: a busy machine is late,
    // never early, and the first record is due at once.
    let records = of("SBK_Writing_Records_total");
    assert!(records > 0.0 && records <= 513.0, "{records}");
    assert_eq!(of("SBK_Writing_Bytes_total"), records * 1024.0);
    assert_eq!((of("SBK_Writers"), of("SBK_Max_Writers"), of("SBK_Readers")), (1.0, 1.0, 0.0));
    assert_eq!(of("SBK_Writing_RecordsPerSec"), records / 5.0);
    let ranks = ["5", "50", "92_5", "99_99"].map(|p| of(&format!("SBK_Writing_ns_{p}")));
    assert!(ranks.is_sorted() && ranks[0] > 0.0, "{ranks:?}");
    assert!(ranks[3] <= of("SBK_Writing_ns_MaxLatency"), "{page}");
    assert!(of("SBK_Writing_Count_50") >= 1.0);
    assert!(page.contains("# TYPE SBK_Writing_Records_total counter"), "{page}");
    assert!(page.contains("# TYPE SBK_Writing_ns_50 gauge"), "{page}");
    assert!(get(&address, "/other").unwrap().starts_with("HTTP/1.1 404"), "only at its path");
    // Only on loopback: the same port is free elsewhere, and held here.
    let taken = sbk(&folder, &line.replace("sbk -class", "-class").replace("file f", "file g"));
    assert_eq!(taken.code, Some(1), "{taken:?}");
    assert!(taken.stderr.contains("cannot listen"), "{taken:?}");
    program.signal(rustix::process::Signal::INT);
    let ran = program.end_within(PATIENCE);
    assert_eq!(ran.code, Some(130), "{ran:?}");
    assert!(get(&address, "/metrics").is_err(), "the server goes with the run");
}

#[test]
fn json_is_the_common_result_file_and_nothing_else() {
    let folder = Folder::new("sbk");
    let ran =
        sbk(&folder, "-class file -file f -size 512 -readers 1 -writers 0 -records 9 -out JSON");
    assert_eq!(ran.code, Some(1), "no file yet: {ran:?}");
    let written =
        sbk(&folder, "-class file -file f -size 512 -writers 1 -records 64 -sync 8 -out json")
            .well();
    let json = written.json();
    let job = &json["jobs"][0];
    assert_eq!((&job["jobname"], &job["error"]), (&"writer-0".into(), &0.into()));
    assert_eq!(
        (&job["write"]["total_ios"], &job["write"]["io_bytes"]),
        (&64.into(), &32768.into())
    );
    assert_eq!(job["sync"]["total_ios"], 8);
    let read =
        sbk(&folder, "-class file -file f -size 512 -readers 1 -records 65 -out JSON").well();
    assert_eq!(read.json()["jobs"][0]["read"]["total_ios"], 64);
    assert!(read.stderr.contains("after 64 of 65 records"), "beside the document: {read:?}");
}

#[test]
fn arguments_come_from_a_file_as_sbk_yal_takes_them() {
    let folder = Folder::new("sbk");
    folder.write(
        "sbk.yml",
        "# as in SBK's documentation\nsbkArgs:\n  class: file\n  file: \"from yaml\"\n  writers: 1\n  size: 100\n  records: 10\n  time: ns\n",
    );
    let ran = sbk(&folder, "-f sbk.yml -records 20").well();
    assert_eq!(number(&lines(&ran).1, "records,"), 20.0, "arguments go before the file");
    assert_eq!(std::fs::metadata(folder.join("from yaml")).unwrap().len(), 2000);
}

#[test]
fn the_program_also_runs_under_the_name_sbk() {
    let folder = Folder::new("sbk");
    let link = folder.join("sbk");
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_iosonde"), &link).unwrap();
    let ran = |line: &str| {
        let output = std::process::Command::new(&link)
            .args(words(line))
            .current_dir(folder.path())
            .output()
            .unwrap();
        (output.status.code(), String::from_utf8(output.stdout).unwrap())
    };
    let (code, text) = ran("-class null -size 10 -writers 2 -records 1000");
    assert_eq!(code, Some(0));
    assert!(text.contains("Total Null Writing"), "{text}");
    let (code, text) = ran("-version");
    assert_eq!((code, text.starts_with("SBK Version: 10.6")), (Some(0), true), "{text}");
    let (code, help) = ran("-class file -help");
    assert_eq!((code, help.contains("--readers-split")), (Some(0), true), "{help}");
    assert_eq!(ran("").1, help, "no arguments ask for help");
}

#[test]
fn requests_are_counted_apart_when_asked() {
    let folder = Folder::new("sbk");
    let line = "-class file -file f -size 1048576 -writers 1 -records 10";
    let with = lines(&sbk(&folder, &format!("{line} -wq true")).well()).1;
    assert_eq!(number(&with, "write request records,"), 10.0);
    assert_eq!(number(&with, "write request MB,"), 10.0);
    assert_eq!(number(&with, "write response pending records,"), 0.0);
    let without = lines(&sbk(&folder, line).well()).1;
    assert_eq!(number(&without, "write request records,"), 0.0, "as SBK leaves them");
}
