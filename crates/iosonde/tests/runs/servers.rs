//! `--server` and `--client`: what a client prints and keeps, compared with what was recorded from
//! fio 3.42.

use crate::support::launchers::has_run;
use crate::support::running::{Running, wait_until};
use crate::support::servers::{TestServer, ThreeHosts, secret};
use crate::support::{Ran, Who};
use iosonde_testing::{Folder, Undo, free_port};
use serde_json::Value;
use std::process::Child;

const JOB: &str = "[global]\nioengine=psync\nsize=256k\nbs=4k\nrw=randrw\nfilename=${NAME}\n\
    write_bw_log=b\nwrite_lat_log=l\nlog_avg_msec=100\n[a]\n[b]\nstonewall\nrw=write\nfsync=8\n";

/// Run a client where NAME stands for `f`.
fn client(who: Who, folder: &Folder, line: &str) -> Ran {
    let output = who.command(folder).args(line.split_whitespace()).env("NAME", "f").output();
    let output = output.unwrap();
    Ran {
        who,
        arguments: line.to_owned(),
        code: output.status.code(),
        stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}

fn two_servers(name: &str) -> [TestServer; 2] {
    ["1", "2"].map(|which| TestServer::start(Who::AsFio, &format!("{name}-{which}"), ""))
}

#[test]
fn each_host_and_all_clients_are_printed_as_fio_prints_them() {
    let folder = Folder::new("client-text");
    folder.write("j.fio", JOB);
    let [one, two] = two_servers("client-text");
    let each = format!("--client={} j.fio --client={} j.fio", one.at, two.at);
    let ran = client(Who::AsFio, &folder, &each).well();
    assert_eq!(ran.stderr, "");
    let about = |line: &&str| line.starts_with("hostname=") && line.ends_with(", flags=1");
    assert_eq!(ran.stdout.lines().filter(about).count(), 2, "{ran:?}");
    let host = ran.stdout.split([',', '=']).nth(1).unwrap();
    let count = |line: &str| ran.stdout.lines().filter(|own| own.starts_with(line)).count();
    for (line, times) in [
        (format!("<{host}> a: (g=0): rw=randrw, bs=(R) 4096B-4096B"), 2),
        (format!("<{host}> b: (g=1): rw=write, bs=(R) 4096B-4096B"), 2),
        (format!("<{host}> Starting 2 processes"), 2),
        ("a: (groupid=0, jobs=1): err= 0: pid=".to_owned(), 2),
        ("b: (groupid=1, jobs=1): err= 0: pid=".to_owned(), 2),
        ("Run status group 1 (all jobs):".to_owned(), 2),
        ("All clients: (groupid=1, jobs=4): err= 0: pid=0: ".to_owned(), 1),
        ("fio-3.42".to_owned(), 0),
    ] {
        assert_eq!(count(&line), times, "{line}\n{ran:?}");
    }
    // Data stays with the servers, logs come to the client.
    assert_eq!((one.folder.names(), two.folder.names()), (vec!["f".into()], vec!["f".into()]));
    let mut logs: Vec<String> = ["b_bw", "l_clat", "l_lat", "l_slat"]
        .iter()
        .flat_map(|kind| ["1", "2"].map(|job| format!("{kind}.{job}.log")))
        .flat_map(|log| [&one, &two].map(|server| format!("{log}.127.0.0.1,{}", server.port)))
        .collect();
    logs.push("j.fio".to_owned());
    logs.sort();
    assert_eq!(folder.names(), logs);
    let log = folder.read(&format!("l_lat.1.log.127.0.0.1,{}", one.port));
    assert!(log.lines().next().unwrap().split(',').count() >= 5, "{log}");
}

#[test]
fn the_document_has_each_job_with_its_host_and_port_and_all_clients_last() {
    let folder = Folder::new("client-json");
    folder.write("j.fio", JOB);
    let [one, two] = two_servers("client-json");
    let list = format!("{}\n# spare\n{}\n", one.at, two.at);
    folder.write("hosts.list", list);
    let line = "--client=hosts.list j.fio --output-format=json --output=o.json";
    let ran = client(Who::AsFio, &folder, line).well();
    assert_eq!((ran.stdout.as_str(), ran.stderr.as_str()), ("", ""));
    let document: Value = serde_json::from_str(&folder.read("o.json")).unwrap();
    let keys =
        |value: &Value| -> Vec<String> { value.as_object().unwrap().keys().cloned().collect() };
    let top = ["fio version", "timestamp", "time", "global options", "client_stats"];
    assert_eq!(keys(&document)[..5], top);
    let stats = document["client_stats"].as_array().unwrap();
    let named = |job: &Value| (job["jobname"].as_str().unwrap().to_owned(), job["port"].clone());
    let port = |server: &TestServer| Value::from(server.port);
    let wanted = [("a", &one), ("b", &one), ("a", &two), ("b", &two), ("All clients", &two)];
    let wanted = wanted.map(|(job, server)| (job.to_owned(), port(server)));
    assert_eq!(stats.iter().map(named).collect::<Vec<_>>(), wanted);
    assert!(stats.iter().all(|job| job["hostname"] == "127.0.0.1"), "{stats:?}");
    // As fio 3.42 has them.
    let job_keys = keys(&stats[0]);
    assert_eq!(job_keys[..4], ["jobname", "groupid", "job_start", "error"]);
    assert_eq!(job_keys[job_keys.len() - 3..], ["latency_window_us", "hostname", "port"]);
    let sum = stats.last().unwrap();
    assert_eq!((&sum["groupid"], &sum["job_start"]), (&1.into(), &0.into()));
    assert!(sum.get("latency_depth").is_none() && sum.get("elapsed").is_none(), "{sum}");
    let bytes = |job: &Value| job["write"]["io_bytes"].as_u64().unwrap();
    assert_eq!(bytes(sum), stats[..4].iter().map(bytes).sum::<u64>());
    let options = &document["global options"][1];
    assert_eq!((&options["port"], &options["filename"]), (&port(&two), &"f".into()));
    assert_eq!(keys(options)[..2], ["hostname", "port"]);
}

#[test]
fn terse_lines_have_the_disks_once_and_a_sum() {
    let folder = Folder::new("client-terse");
    folder.write("j.fio", JOB);
    let [one, two] = two_servers("client-terse");
    let line = format!("--client={} --client={} j.fio --minimal --section=a", one.at, two.at);
    let ran = client(Who::AsFio, &folder, &line).well();
    let jobs: Vec<&str> = ran.stdout.lines().filter(|line| line.starts_with("3;")).collect();
    let names: Vec<&str> = jobs.iter().map(|line| line.split(';').nth(2).unwrap()).collect();
    assert_eq!(names, ["a", "a", "All clients"]);
    assert!(jobs.iter().all(|line| line.split(';').count() == 121), "{ran:?}");
    let disks = ran.stdout.lines().filter(|line| line.starts_with(';'));
    assert!(disks.count() <= 2 && ran.stderr.is_empty(), "{ran:?}");
}

#[test]
fn each_host_has_its_own_job_or_reads_its_own_file() {
    let folder = Folder::new("client-own");
    folder.write("a.fio", "[first]\nrw=write\nsize=64k\nfilename=f\n");
    folder.write("b.fio", "[second]\nrw=write\nsize=128k\nfilename=f\n");
    let [one, two] = two_servers("client-own");
    let line = format!("--client={} a.fio --client={} b.fio", one.at, two.at);
    let document =
        client(Who::AsFio, &folder, &format!("{line} --output-format=json")).well().json();
    let stats = document["client_stats"].as_array().unwrap();
    let written = |at: usize| stats[at]["write"]["io_bytes"].as_u64().unwrap();
    assert_eq!((written(0), written(1), written(2)), (64 << 10, 128 << 10, 192 << 10));
    assert_eq!(two.folder.sizes(), [("f".to_owned(), 128 << 10)]);
    // In our own name one report of both.
    let own = client(Who::Native, &folder, &line);
    assert!(has_run(own.code) && own.stdout.contains("  skew "), "{own:?}");
    one.folder.write("own.fio", "[mine]\nrw=write\nsize=16k\nfilename=f\n");
    let line = format!("--client=127.0.0.1,{} --remote-config=own.fio", one.port);
    let ran = client(Who::AsFio, &folder, &line).well();
    assert!(ran.stdout.contains("mine: (groupid=0, jobs=1): err= 0"), "{ran:?}");
    let line = format!("--client=127.0.0.1,{} --remote-config=none.fio", one.port);
    let ran = client(Who::AsFio, &folder, &line);
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert!(ran.stdout.contains("none.fio"), "{ran:?}");
}

#[test]
fn a_socket_in_the_file_system_serves_and_a_server_goes_to_the_background() {
    let folder = Folder::new("server-socket");
    let server = Running::start(Who::Native, &folder, "--server=sock:s");
    server.wait_for_text("server listening on s");
    let job = "--name=a --rw=write --size=16k --filename=f --output-format=json";
    let ran = client(Who::AsFio, &folder, &format!("--client=sock:s {job}")).well();
    assert_eq!(ran.json()["client_stats"][0]["hostname"], "s");
    drop(server);
    let port = free_port();
    let line = format!("--server=ip:127.0.0.1,{port} --daemonize=pid");
    client(Who::AsFio, &folder, &line).well();
    let pid = folder.read("pid").trim().parse::<i32>().unwrap();
    let undo = iosonde_testing::Undo::by(&format!("kill {pid}"));
    client(Who::AsFio, &folder, &format!("--client=127.0.0.1,{port} {job}")).well();
    let again = client(Who::AsFio, &folder, &line);
    assert_eq!(again.code, Some(1), "{again:?}");
    assert!(again.stderr.contains("pidfile pid exists and server appears alive"), "{again:?}");
    drop(undo);
}

#[test]
fn with_a_secret_a_server_serves_those_who_have_it() {
    let folder = Folder::new("server-secret");
    let (own, other) = (secret(&folder, "own", "a"), secret(&folder, "other", "b"));
    let flag = format!("--secret-file={}", own.display());
    let server = TestServer::start(Who::AsFio, "server-secret-1", &flag);
    let job = "--name=a --rw=write --size=16k --filename=f --output-format=json";
    let line = format!("--client={} {job}", server.at);
    client(Who::AsFio, &folder, &format!("{line} {flag}")).well();
    for (flags, words) in [
        (String::new(), "the server wants a secret: give its file with --secret-file"),
        (format!("--secret-file={}", other.display()), "the server has another secret"),
        ("--secret-file=none".to_owned(), "cannot read the secret none"),
    ] {
        let ran = client(Who::AsFio, &folder, &format!("{line} {flags}"));
        assert_eq!((ran.code, ran.stdout.as_str()), (Some(1), ""), "{ran:?}");
        assert!(ran.stderr.contains(words), "{ran:?}");
    }
    server.running.wait_for_text("the client has another secret");
}

#[test]
fn three_hosts_run_a_job_together_and_are_reported_as_one() {
    let Some(hosts) = iosonde_testing::or_skip(ThreeHosts::new()) else { return };
    let folder = Folder::new("three-hosts");
    let flag = format!("--secret-file={}", secret(&folder, "own", "a").display());
    let numbers = 1..=ThreeHosts::SERVERS;
    let start = |host: usize| {
        let own = Folder::new(&format!("three-hosts-{host}"));
        let words = ["--server".to_owned(), flag.clone()];
        let out = std::fs::File::create(folder.join(&format!("out{host}"))).unwrap();
        let mut command = hosts.command(host, Who::AsFio, &own, &words);
        let child = command.stdout(out).spawn().unwrap();
        let kill = Undo::kill(&child);
        let listens = || folder.read(&format!("out{host}")).contains("listening");
        wait_until("the server listens", listens);
        (own, child, kill)
    };
    let mut servers: Vec<(Folder, Child, Undo)> = numbers.clone().map(start).collect();
    let list: Vec<String> = numbers.map(ThreeHosts::address).collect();
    folder.write("hosts.list", list.join("\n"));
    let job = "--client=hosts.list --name=a --rw=write --bs=4k --size=1m --filename=f.{rank} --runtime=1 \
        --time_based --output-format=json";
    let words: Vec<String> = job.split_whitespace().map(str::to_owned).chain([flag]).collect();
    let output = hosts.command(0, Who::Native, &folder, &words).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    let report: Value = serde_json::from_str(&text).unwrap_or_else(|_| panic!("{output:?}"));
    let rows = report["iosonde"]["hosts"].as_array().unwrap();
    let names: Vec<&str> = rows.iter().map(|row| row["name"].as_str().unwrap()).collect();
    assert_eq!(names, list);
    let together = &report["iosonde"]["overlap"][0];
    assert!(
        together["start_skew_ns"].is_u64() && together["clock_error_ns"].is_u64(),
        "{together}"
    );
    for (at, (own, child, _)) in servers.iter_mut().enumerate() {
        assert_eq!(own.names(), [format!("f.{at}")]);
        child.kill().unwrap();
        child.wait().unwrap();
    }
    servers.into_iter().for_each(|(_, _, kill)| kill.cancel());
}
