//! `--server` and `--client`: what is refused, and what happens when one of them is gone.

use crate::support::running::{Running, wait_until};
use crate::support::servers::TestServer;
use crate::support::{Ran, Who};
use iosonde_testing::{Folder, free_port};
use rustix::process::{Pid, Signal, kill_process};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

const LONG: Duration = Duration::from_secs(60);
const JOB: &str = "--name=longjob --rw=write --bs=4k --size=1m --filename=f --time_based --runtime=50 \
    --rate_iops=500 --output-format=json";

#[test]
fn what_would_let_others_run_jobs_is_refused_with_what_to_do() {
    let folder = Folder::new("server-refused");
    for (who, line, words) in [
        (Who::AsFio, "--server", "others could run jobs here: give --secret-file=FILE"),
        (Who::AsFio, "--server=,9999", "--server=ip:127.0.0.1,9999 or --server=sock:PATH"),
        (Who::Native, "--server=ip:0.0.0.0", "others could run jobs here"),
        (Who::Native, "--server=ip6:::", "others could run jobs here"),
        (Who::AsFio, "--server --daemonize=p", "others could run jobs here"),
        (Who::AsFio, "--server=a,b", "invalid port"),
        (Who::AsFio, "--server=127.0.0.1 --secret-file=s", "cannot read the secret s"),
        (Who::AsFio, "--server=127.0.0.1 --client=h", "are two programs"),
        (Who::AsFio, "--client=h --mpi j.fio", "leave them out"),
        (Who::AsFio, "--client=127.0.0.1", "no job: name a job file after it"),
        (Who::AsFio, "--client=127.0.0.1 none.fio", "none.fio"),
        (Who::Native, "--client=127.0.0.1 --name=a --size=4k --trigger-timeout=1", "--trigger"),
    ] {
        let ran = who.run(&folder, &line.split_whitespace().collect::<Vec<_>>());
        assert_eq!((ran.code, ran.stdout.as_str()), (Some(1), ""), "{ran:?}");
        assert!(ran.stderr.contains(words) && ran.stderr.lines().count() == 1, "{ran:?}");
    }
    assert_eq!(folder.names(), [""; 0]);
}

#[test]
fn without_a_server_fios_words_are_printed() {
    let folder = Folder::new("client-alone");
    let line = format!("--client=127.0.0.1,{} --name=a --size=4k", free_port());
    let ran = Who::AsFio.run(&folder, &line.split(' ').collect::<Vec<_>>());
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(1), ""), "{ran:?}");
    let lines: Vec<&str> = ran.stderr.lines().collect();
    assert_eq!(lines[0], "fio: connect: Connection refused");
    assert!(lines[1].starts_with("fio: failed to connect to 127.0.0.1:"), "{ran:?}");
}

#[test]
fn a_stranger_is_refused_and_does_not_keep_clients_out() {
    let folder = Folder::new("server-strangers");
    let server = TestServer::start(Who::Native, "server-strangers-1", "");
    let connect = || TcpStream::connect(("127.0.0.1", server.port)).unwrap();
    let silent: Vec<TcpStream> = (0..20).map(|_| connect()).collect();
    let mut http = connect();
    http.write_all(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n").unwrap();
    let mut answer = Vec::new();
    // Closed, or reset for what was not read.
    let _ = http.read_to_end(&mut answer);
    assert_eq!(answer, b"");
    let line = format!("--client={} --name=a --rw=write --size=16k --filename=f", server.at);
    let words: Vec<&str> = line.split(' ').collect();
    wait_until("a client is served", || Who::Native.run(&folder, &words).code == Some(0));
    drop(silent);
}

#[test]
fn a_server_with_no_exec_starts_no_program() {
    let folder = Folder::new("server-no-exec");
    let server = TestServer::start(Who::AsFio, "server-no-exec-1", "--no-exec");
    for option in ["--exec_prerun=true", "--ioengine=exec --program=/bin/true"] {
        let line = format!("--client={} --name=a --rw=write --size=16k --filename=f", server.at);
        let words = line.split(' ').chain(option.split(' '));
        let ran = Who::AsFio.run(&folder, &words.collect::<Vec<_>>());
        assert_eq!(ran.code, Some(1), "{ran:?}");
        assert!(ran.stdout.contains("--no-exec"), "{ran:?}");
    }
    assert_eq!(server.folder.names(), [""; 0]);
}

#[test]
fn a_job_that_one_server_refuses_runs_on_none() {
    let folder = Folder::new("server-one-refuses");
    let [one, two] = ["", "--no-exec"]
        .map(|flags| TestServer::start(Who::AsFio, &format!("one-refuses{flags}"), flags));
    let line = format!(
        "--client={} --client={} --name=a --rw=write --size=16k --filename=f",
        one.at, two.at
    );
    let words = line.split(' ').chain(["--exec_prerun=true"]);
    let ran = Who::AsFio.run(&folder, &words.collect::<Vec<_>>());
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert!(ran.stdout.contains("--no-exec") || ran.stderr.contains("--no-exec"), "{ran:?}");
    assert_eq!((one.folder.names(), two.folder.names()), (vec![], vec![]));
}

/// Both servers of a client, whose jobs run.
fn running(name: &str) -> (Folder, [TestServer; 2], Running) {
    let folder = Folder::new(name);
    let servers =
        ["1", "2"].map(|which| TestServer::start(Who::AsFio, &format!("{name}-{which}"), ""));
    let line = format!("--client={} --client={} {JOB}", servers[0].at, servers[1].at);
    let client = Running::start(Who::AsFio, &folder, &line);
    for server in &servers {
        wait_until("the job writes", || server.folder.sizes().iter().any(|(_, size)| *size > 0));
    }
    (folder, servers, client)
}

/// The processes that a server has started.
fn connections(server: &mut TestServer) -> Vec<u32> {
    let id = server.running.id();
    let path = format!("/proc/{id}/task/{id}/children");
    let text = std::fs::read_to_string(path).unwrap_or_default();
    text.split_whitespace().filter_map(|pid| pid.parse().ok()).collect()
}

fn bytes_of_each(ran: &Ran) -> Vec<(String, u64)> {
    let document = ran.json();
    let stats = document["client_stats"].as_array().unwrap().clone();
    let of = |job: &serde_json::Value| {
        (job["port"].to_string(), job["write"]["io_bytes"].as_u64().unwrap())
    };
    stats.iter().map(of).collect()
}

#[test]
fn a_signal_to_the_client_ends_the_jobs_and_keeps_their_results() {
    let (_folder, mut servers, mut client) = running("client-signal");
    wait_until("jobs run", || servers.iter_mut().all(|server| connections(server).len() == 1));
    for server in &mut servers {
        let id = connections(server)[0];
        wait_until("the job works", || crate::support::running::works(id, "longjob"));
    }
    client.signal(Signal::INT);
    let ran = client.end_within(LONG);
    assert_ne!(ran.code, None, "{ran:?}");
    let written = bytes_of_each(&ran);
    assert_eq!(written.len(), 3, "{ran:?}");
    assert!(written.iter().all(|(_, bytes)| *bytes > 0), "{ran:?}");
}

#[test]
fn a_lost_client_ends_the_jobs_and_the_server_serves_the_next() {
    let (folder, mut servers, mut client) = running("client-lost");
    client.signal(Signal::KILL);
    client.end_within(LONG);
    for server in &mut servers {
        wait_until("its jobs end", || connections(server).is_empty());
    }
    let line = format!("--client={} --name=a --rw=write --size=16k --filename=g", servers[0].at);
    Who::AsFio.run(&folder, &line.split(' ').collect::<Vec<_>>()).well();
}

#[test]
fn a_lost_server_is_named_and_the_results_of_the_others_are_kept() {
    let (_folder, mut servers, mut client) = running("server-lost");
    for server in &mut servers {
        let id = connections(server)[0];
        wait_until("the job works", || crate::support::running::works(id, "longjob"));
    }
    let lost = i32::try_from(connections(&mut servers[0])[0]).ok().and_then(Pid::from_raw);
    kill_process(lost.unwrap(), Signal::KILL).unwrap();
    client.wait_for_text("the server 127.0.0.1 is lost");
    client.signal(Signal::INT);
    let ran = client.end_within(LONG);
    assert_eq!(ran.code, Some(1), "{ran:?}");
    let written = bytes_of_each(&ran);
    assert_eq!(written.len(), 1, "{ran:?}");
    assert_eq!(written[0].0, servers[1].port.to_string());
}

#[test]
fn a_signal_to_a_server_ends_its_jobs_and_itself_and_their_results_arrive() {
    let (_folder, servers, client) = running("server-signal");
    let [mut one, mut two] = servers;
    for server in [&mut one, &mut two] {
        let id = connections(server)[0];
        wait_until("the job works", || crate::support::running::works(id, "longjob"));
        server.running.signal(Signal::TERM);
    }
    let ran = client.end_within(LONG);
    assert_eq!(bytes_of_each(&ran).len(), 3, "{ran:?}");
    for server in [one, two] {
        assert_eq!(server.running.end_within(LONG).code, Some(0));
    }
}
