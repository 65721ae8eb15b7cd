//! Servers of tests (`--server`), each in a directory of its own.

use super::Who;
use super::running::{Running, wait_until};
use iosonde_testing::{Folder, Undo, free_port, run};
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::{Command, Stdio};

/// A server that listens.
pub struct TestServer {
    pub folder: Folder,
    /// As `--client` takes it.
    pub at: String,
    pub port: u16,
    pub running: Running,
}

impl TestServer {
    /// On loopback, with more flags.
    #[track_caller]
    pub fn start(who: Who, name: &str, flags: &str) -> TestServer {
        let (folder, port) = (Folder::new(name), free_port());
        let line = format!("--server=ip:127.0.0.1,{port} {flags}");
        let running = Running::start(who, &folder, &line);
        running.wait_for_text("server listening on");
        TestServer { folder, at: format!("ip:127.0.0.1,{port}"), port, running }
    }
}

/// A secret in a file that only its user can read.
pub fn secret(folder: &Folder, name: &str, letter: &str) -> PathBuf {
    let path = folder.join(name);
    std::fs::write(&path, letter.repeat(40)).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).unwrap();
    path
}

/// A client's network namespace and three of servers, each with a link of its own to the client's.
pub struct ThreeHosts {
    spaces: Vec<String>,
    _undo: Vec<Undo>,
}

impl ThreeHosts {
    /// How many servers there are.
    pub const SERVERS: usize = 3;

    pub fn new() -> Result<ThreeHosts, String> {
        let id = std::process::id();
        let spaces: Vec<String> =
            (0..=ThreeHosts::SERVERS).map(|host| format!("iossrv{id}-{host}")).collect();
        // One that could not be made is not there.
        let undo = spaces.iter().map(|space| Undo::by(&format!("ip netns del {space}")));
        let hosts = ThreeHosts { _undo: undo.collect(), spaces };
        for (host, space) in hosts.spaces.iter().enumerate() {
            run("ip", &["netns", "add", space])?;
            run("ip", &["-n", space, "link", "set", "lo", "up"])?;
            if host > 0 {
                hosts.link(host)?;
            }
        }
        // The kernel takes a moment until packets go through.
        for space in &hosts.spaces[1..] {
            wait_until("the link is up", || {
                let state = run("ip", &["-n", space, "link", "show", "eth0"]);
                state.is_ok_and(|text| text.contains("state UP"))
            });
        }
        Ok(hosts)
    }

    fn link(&self, host: usize) -> Result<(), String> {
        let (client, server) = (&self.spaces[0], &self.spaces[host]);
        let device = format!("iossrv{host}");
        let link = ["link", "add", &device, "netns", client, "type", "veth", "peer", "name"];
        run("ip", &[&link[..], &["eth0", "netns", server]].concat())?;
        for (space, device, end) in [(client, device.as_str(), 1), (server, "eth0", 2)] {
            let address = format!("10.78.{host}.{end}/24");
            run("ip", &["-n", space, "addr", "add", &address, "dev", device])?;
            run("ip", &["-n", space, "link", "set", device, "up"])?;
        }
        Ok(())
    }

    /// Where a server listens, the first is 1.
    pub fn address(host: usize) -> String {
        format!("10.78.{host}.2")
    }

    /// The program on a host; on 0 a client.
    pub fn command(&self, host: usize, who: Who, folder: &Folder, words: &[String]) -> Command {
        let program = who.command(folder);
        let mut command = Command::new("ip");
        command.args(["netns", "exec", &self.spaces[host]]).arg(program.get_program());
        command.args(words).current_dir(folder.path()).stdin(Stdio::null());
        command
    }
}
