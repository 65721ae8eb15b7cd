//! `iosonde merge`: results of the program itself, put beside each other.

use crate::support::Who;
use crate::support::running::wait_until;
use iosonde_testing::{Folder, Undo, has_fio_for_part};
use serde_json::{Value, json};
use std::fs;

/// A result of a run of a moment, as host `rank` of two that began `late_ns` after 2026.
fn result(folder: &Folder, rank: u64, late_ns: u64) -> String {
    let words = ["--name=a", "--ioengine=null", "--size=64m", "--output-format=json"];
    let mut document: Value = Who::Native.run(folder, &words).well().json();
    let began = 1_770_000_000_000_000_000 + late_ns;
    let span = json!({
        "group": 0,
        "began_unix_ns": began,
        "first_done_unix_ns": began + 1_000_000_000,
        "ended_unix_ns": began + 1_000_000_000,
    });
    document["iosonde"]["host"] = json!({
        "name": format!("h{rank}"), "rank": rank, "ranks": 2, "start": "time",
        "groups": [span], "clock": null, "job": "", "ended_early": null,
    });
    let name = format!("result.{rank}.json");
    fs::write(folder.join(&name), document.to_string()).unwrap();
    name
}

#[test]
fn two_results_are_one_in_each_format() {
    let folder = Folder::new("merge");
    let files = [result(&folder, 0, 0), result(&folder, 1, 1_000)];
    let text = Who::Native.run(&folder, &["merge", &files[0], &files[1]]).well();
    for words in
        ["together  all hosts ran together", "skew      start 1.00 us", "clocks not compared"]
    {
        assert!(text.stdout.contains(words), "{words}\n{text:?}");
    }
    let json = ["merge", &files[0], &files[1], "--format=json", "--html=page.html"];
    let ran = Who::Native.run(&folder, &json).well();
    let document = ran.json();
    let schema = include_str!("../../../../docs/schema/result-1.json");
    let schema: Value = serde_json::from_str(schema).unwrap();
    let found = iosonde_testing::schema::violations(&schema, &document);
    assert!(found.is_empty(), "{}", found.join("\n"));
    assert_eq!(document["jobs"][0]["read"]["total_ios"], 2 * 16384);
    assert_eq!(document["iosonde"]["hosts"][1]["name"], "h1");
    let page = fs::read_to_string(folder.join("page.html")).unwrap();
    assert!(page.contains("When the hosts ran"));

    // Read again, it is the same.
    fs::write(folder.join("merged.json"), &ran.stdout).unwrap();
    let again = Who::Native.run(&folder, &["report", "merged.json"]).well();
    assert!(again.stdout.contains("together  all hosts ran together"), "{again:?}");
    let twice = Who::Native.run(&folder, &["merge", "merged.json"]);
    assert!(twice.stderr.contains("merged.json: it is a merged result"), "{twice:?}");
    assert_eq!(twice.code, Some(1));
}

#[test]
fn hosts_that_did_not_run_together_have_no_total_and_exit_3() {
    let folder = Folder::new("merge-apart");
    let files = [result(&folder, 0, 0), result(&folder, 1, 700_000_000)];
    let ran = Who::Native.run(&folder, &["merge", &files[0], &files[1]]);
    assert_eq!(ran.code, Some(3), "{ran:?}");
    assert!(ran.stdout.contains("no total  the hosts ran together for 300 ms"), "{ran:?}");
    assert!(!ran.stdout.contains("\nall "), "{ran:?}");
}

#[test]
fn the_clients_format_is_that_of_fios_client() {
    let folder = Folder::new("merge-clients");
    let files = [result(&folder, 0, 0), result(&folder, 1, 1_000)];
    let merge = ["merge", &files[0], &files[1], "--format=fio-client"];
    let ours = Who::Native.run(&folder, &merge).well().json();
    let texts = |key: &str| -> Vec<Value> {
        ours["client_stats"].as_array().unwrap().iter().map(|job| job[key].clone()).collect()
    };
    assert_eq!(texts("jobname"), ["a", "a", "All clients"]);
    assert_eq!(texts("hostname"), ["h0", "h1", "h1"]);
    let ios = |at: usize| ours["client_stats"][at]["read"]["total_ios"].as_u64().unwrap();
    assert_eq!([ios(0), ios(1), ios(2)], [16384, 16384, 2 * 16384]);
    fs::write(folder.join("clients.json"), ours.to_string()).unwrap();
    Who::Native.run(&folder, &["report", "clients.json"]).well();

    if !has_fio_for_part() {
        return;
    }
    let mut server = Who::Fio.command(&folder).args(["--server=sock:socket"]).spawn().unwrap();
    let kill = Undo::kill(&server);
    wait_until("fio listens", || folder.join("socket").exists());
    fs::write(folder.join("a.fio"), "[a]\nioengine=null\nsize=1m\n[b]\nioengine=null\nsize=1m\n")
        .unwrap();
    let words = ["--client=sock:socket", "a.fio", "--output-format=json"];
    let fios = Who::Fio.run(&folder, &words).json();
    drop(kill);
    server.wait().unwrap();
    // fio 3.33 lacks keys of 3.42; those that it has are in its order.
    let missing = |ours: &Value, fios: &Value| -> Vec<String> {
        let mut own = ours.as_object().unwrap().keys();
        let known = fios.as_object().unwrap().keys();
        known.filter(|key| !own.any(|own| own == *key)).cloned().collect()
    };
    let no_disks = |mut document: Value| {
        document.as_object_mut().unwrap().remove("disk_util");
        document
    };
    assert_eq!(missing(&ours, &no_disks(fios.clone())), [""; 0]);
    for (ours, fios) in
        [(0, 0), (2, 2)].map(|(at, its)| (&ours["client_stats"][at], &fios["client_stats"][its]))
    {
        assert_eq!(missing(ours, fios), [""; 0]);
        assert_eq!(ours.get("job options").is_some(), fios.get("job options").is_some());
        assert_eq!(ours.get("latency_depth").is_some(), fios.get("latency_depth").is_some());
        assert_eq!(ours.as_object().unwrap().keys().next_back().unwrap(), "port");
    }
}

#[test]
fn a_result_counts_once() {
    let folder = Folder::new("merge-twice");
    let file = result(&folder, 0, 0);
    let twice = Who::Native.run(&folder, &["merge", &file, &format!("./{file}")]);
    assert_eq!((twice.code, twice.stdout.as_str()), (Some(1), ""), "{twice:?}");
    assert!(twice.stderr.contains("is named twice"), "{twice:?}");
}

#[test]
fn a_file_that_is_no_result_is_named() {
    let folder = Folder::new("merge-wrong");
    fs::write(folder.join("x.json"), "{}").unwrap();
    let files = result(&folder, 0, 0);
    let ran = Who::Native.run(&folder, &["merge", &files, "x.json"]);
    assert_eq!(ran.code, Some(1));
    assert!(ran.stderr.contains("iosonde: merge: x.json: it is not a whole result"), "{ran:?}");
}
