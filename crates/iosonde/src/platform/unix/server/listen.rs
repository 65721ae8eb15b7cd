//! `--server`: who may connect is decided here, before anybody can.

use super::serve;
use iosonde_base::exit;
use iosonde_hosts::wire::HostAddress;
use iosonde_session::Personality;
use iosonde_spec::cli::flags::Flags;
use iosonde_sys::files::remove_abandoned_socket;
use iosonde_sys::guard::{self, MountedWrite};
use iosonde_sys::process::own_path;
use iosonde_sys::standard_output::print;
use iosonde_sys::whole_file::WholeFile;
use std::io::{self, Write};
use std::net::TcpListener;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::process::{Command, Stdio};

/// Listen, and serve here or in the background; the exit code.
///
/// # Errors
/// The address is not to be listened at: a sentence.
pub fn run(
    personality: Personality,
    text: &str,
    flags: &Flags,
    arguments: &[String],
) -> Result<u8, String> {
    let has_secret = crate::remote::secret(flags)?.is_some();
    let address = address(personality, text, has_secret)?;
    let failed =
        |error: io::Error| format!("--server: cannot listen at {}: {error}", address.shown());
    if !has_secret && !address.is_of_this_machine().map_err(failed)? {
        return Err(format!(
            "--server: others could run jobs here: give --secret-file=FILE (or IOSONDE_SECRET_FILE; make one with \
             openssl rand -hex 32), or listen on this machine alone with --server=ip:127.0.0.1,{} or --server=sock:PATH",
            address.port()
        ));
    }
    if let Some(pidfile) = &flags.hosts.daemonize {
        check_pidfile(Path::new(pidfile))?;
    }
    let listener = bind(&address).map_err(failed)?;
    let program = personality.program();
    match &flags.hosts.daemonize {
        None => {
            print(&format!("{program}: server listening on {}\n", address.shown()));
            let served = serve::serve(&listener, arguments);
            remove_socket(&address);
            served
        }
        Some(pidfile) => daemonize(listener, Path::new(pidfile), arguments),
    }
}

/// In our own name a server without a secret listens on this machine unless it is told where.
fn address(personality: Personality, text: &str, has_secret: bool) -> Result<HostAddress, String> {
    let address = HostAddress::parse(text).map_err(|why| format!("--server: {why}"))?;
    Ok(match address {
        HostAddress::Internet { host, port, family }
            if host.is_empty() && !has_secret && personality == Personality::Native =>
        {
            HostAddress::Internet { host: "localhost".to_owned(), port, family }
        }
        address => address,
    })
}

fn bind(address: &HostAddress) -> io::Result<OwnedFd> {
    match address {
        HostAddress::Internet { .. } => {
            Ok(TcpListener::bind(address.resolve()?.as_slice())?.into())
        }
        HostAddress::Local(path) => bind_local(path),
    }
}

/// A socket that only this user and root may connect to, from the moment it is there.
fn bind_local(path: &Path) -> io::Result<OwnedFd> {
    // One that nobody listens at any more is left by a server that was killed.
    remove_abandoned_socket(path)?;
    let before = rustix::process::umask(rustix::fs::Mode::from_raw_mode(0o177));
    let bound = UnixListener::bind(path);
    rustix::process::umask(before);
    Ok(bound?.into())
}

fn remove_socket(address: &HostAddress) {
    if let HostAddress::Local(path) = address {
        // It may be gone already.
        let _ = std::fs::remove_file(path);
    }
}

/// Refuse where the file names a server that runs, or is no pidfile and would be lost.
fn check_pidfile(pidfile: &Path) -> Result<(), String> {
    let cannot = |refusal| format!("--daemonize: cannot {refusal}");
    guard::Guard::now(MountedWrite::Refuse).may_put_output(pidfile).map_err(cannot)?;
    let Ok(text) = std::fs::read(pidfile) else { return Ok(()) };
    let number = str::from_utf8(&text).ok().and_then(|text| text.trim().parse::<i32>().ok());
    if number.is_none() && !text.trim_ascii().is_empty() {
        let path = pidfile.display();
        return Err(format!("--daemonize: {path}: it exists and is no pidfile: name another"));
    }
    let Some(pid) = number.and_then(rustix::process::Pid::from_raw) else { return Ok(()) };
    if rustix::process::test_kill_process(pid).is_err() {
        return Ok(());
    }
    Err(format!("pidfile {} exists and server appears alive", pidfile.display()))
}

/// Go on in the background: another process has the listener as its standard input.
fn daemonize(listener: OwnedFd, pidfile: &Path, arguments: &[String]) -> Result<u8, String> {
    let mut command = Command::new(own_path().map_err(|error| error.to_string())?);
    serve::keep_name(&mut command);
    command.arg(serve::LISTENER).args(arguments);
    command.stdin(Stdio::from(listener)).stdout(Stdio::null()).stderr(Stdio::null());
    let mut child =
        command.spawn().map_err(|error| format!("--daemonize: cannot start: {error}"))?;
    let write = || -> io::Result<()> {
        let mut file = WholeFile::create(pidfile)?;
        writeln!(file, "{}", child.id())?;
        file.finish()
    };
    let Err(error) = write() else { return Ok(exit::OK) };
    // Nobody would know how to end it. It may have ended by itself.
    let _ = child.kill().and_then(|()| child.wait());
    Err(format!("cannot write {}: {error}", pidfile.display()))
}
