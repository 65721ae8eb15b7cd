//! `--html` and `iosonde report`: a page is written whole, and nothing that
//! exists is overwritten.

use crate::support::{Who, words};
use iosonde_testing::Folder;

const JOB: &str = "--name=a --ioengine=null --size=4m --bs=4k --rw=randread";

#[test]
fn a_run_writes_a_page_beside_its_report() {
    let folder = Folder::new("html");
    let ran = Who::Native.run(&folder, &words(&format!("{JOB} --html=run.html"))).well();
    assert!(ran.stdout.contains("Limited by"), "{ran:?}");
    let page = std::fs::read_to_string(folder.join("run.html")).unwrap();
    assert!(page.starts_with("<!DOCTYPE html>") && page.trim_end().ends_with("</html>"));
    assert!(page.contains("Limited by the tester itself") && page.contains("--rw=randread"));
    let again = Who::Native.run(&folder, &words(&format!("{JOB} --html=run.html")));
    assert_eq!(again.code, Some(1), "{again:?}");
    assert!(again.stderr.contains("run.html: it exists; use --force"), "{again:?}");
    assert_eq!(std::fs::read_to_string(folder.join("run.html")).unwrap(), page);
    let forced = format!("{JOB} --html=run.html --force");
    Who::Native.run(&folder, &words(&forced)).well();
}

#[test]
fn stored_results_are_reported_as_text_markdown_csv_and_a_page() {
    let folder = Folder::new("report");
    let line = format!("{JOB} --output-format=json --output=r.json");
    Who::Native.run(&folder, &words(&line)).well();
    let report = |line: &str| Who::Native.run(&folder, &words(&format!("report {line}")));
    assert!(report("r.json").well().stdout.contains("Limited by the tester"));
    assert!(report("--format=markdown r.json").well().stdout.contains("| a | read |"));
    assert!(report("--format=csv r.json").well().stdout.starts_with("job,group,"));
    report("--html r.json").well();
    let page = std::fs::read_to_string(folder.join("r.html")).unwrap();
    assert!(page.contains("Latency by percentile") && page.len() < 500 << 10);
    assert_eq!(report("--html r.json").code, Some(1), "it exists");
    report("--html=both.html r.json r.json").well();
    let both = std::fs::read_to_string(folder.join("both.html")).unwrap();
    assert!(both.contains("2 runs") && both.contains("id=\"run-2\""));
}

#[test]
fn what_is_no_whole_result_makes_no_page() {
    let folder = Folder::new("report-part");
    folder.write("part.json", "{\n\"fio version\": \"fio-3.33\",\n");
    folder.write("other.json", "{\"name\": 1}");
    for (file, reason) in [
        ("part.json", "part.json: it is cut off"),
        ("other.json", "other.json: it is not a whole result: \"fio version\" is missing"),
        ("none.json", "none.json: cannot read it"),
    ] {
        let ran = Who::Native.run(&folder, &words(&format!("report --html=p.html {file}")));
        assert_eq!(ran.code, Some(1), "{ran:?}");
        assert!(ran.stderr.contains(reason), "{ran:?}");
        assert!(!folder.join("p.html").exists());
    }
}

#[test]
fn disk_bytes_that_a_result_does_not_have_are_not_zero() {
    let folder = Folder::new("report-sectors");
    folder.write("old.json", include_str!("../../../result/tests/documents/fio-3.33.json"));
    let report = |line: &str| Who::Native.run(&folder, &words(&format!("report {line}"))).well();
    let text = report("old.json").stdout;
    assert!(text.contains("sda: 1779 reads, 2 writes, "), "{text}");
    report("--html=page.html old.json");
    let page = std::fs::read_to_string(folder.join("page.html")).unwrap();
    assert!(page.contains("<td>1779</td><td>2</td><td>-</td><td>-</td>"), "{page}");
}

#[test]
fn a_run_has_the_devices_and_the_steal_of_each_window() {
    let folder = Folder::new("html-series");
    let job = "--name=a --filename=data --size=8m --bs=4k --rw=read --ioengine=psync --time_based \
               --runtime=1 --output-format=json";
    let ran = Who::Native.run(&folder, &words(job)).well();
    let document: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
    let series = &document["iosonde"]["series"];
    let windows = series["windows"].as_u64().unwrap() as usize;
    // A folder without a device below it (tmpfs) has none; what is there has a value a window.
    for column in ["read_bytes", "written_bytes", "flushes"] {
        let values = &series["device"][column];
        assert!(values.is_null() || values.as_array().unwrap().len() == windows, "{series}");
    }
    assert_eq!(series["steal_share"].as_array().map_or(windows, Vec::len), windows, "{series}");
}
