//! Jobs whose engine moves no file's bytes: programs, processor time,
//! connections.

use super::files::Parts;
use crate::job::{FileKind, FilePlan, Need};
use iosonde_engine::{Burn, CpuKnobs, EngineDef, ExecKnobs, NetKnobs, Protocol};
use iosonde_options::{Diagnostic, Origin};
use iosonde_spec::JobSpec;
use iosonde_spec::cli::ParsedJob;
use iosonde_spec::topics::engines::{CpuIo, Exec, Net};
use iosonde_spec::values::{CpuMode, NetProtocol};
use std::path::PathBuf;

/// What stands for the files of a job without any: the source wants one.
pub(super) fn no_files(job: &ParsedJob, min_bs: u64) -> Parts {
    let (name, path) = (job.name.clone(), PathBuf::new());
    let (kind, need) = (FileKind::None, Need::Nothing);
    let file = FilePlan { name, path, kind, offset: 0, bytes: min_bs, need };
    Parts { files: vec![file], ends: vec![min_bs], total_bytes: min_bs }
}

/// cpuio's options, as meant.
pub(super) fn cpu(own: &CpuIo) -> CpuKnobs {
    CpuKnobs {
        load_percent: *own.cpuload.get(),
        chunk_us: *own.cpuchunks.get(),
        burn: match own.cpumode.get() {
            CpuMode::Noop => Burn::Nothing,
            CpuMode::Qsort => Burn::Sort,
        },
    }
}

/// exec's options, as meant (fio(1): `%r` is the runtime in seconds, `%n` the
/// job's name).
pub(super) fn exec(job: &ParsedJob, own: &Exec) -> ExecKnobs {
    let runtime_s = job.spec.time.runtime.get().0 / 1_000_000_000;
    let arguments = own.arguments.get().as_deref().unwrap_or_default();
    let arguments = arguments.replace("%r", &runtime_s.to_string()).replace("%n", &job.name);
    ExecKnobs {
        program: own.program.get().clone().unwrap_or_default(),
        arguments: arguments.split_whitespace().map(str::to_owned).collect(),
        grace_s: *own.grace_time.get(),
        output: own.std_redirect.get().then(|| PathBuf::from(&job.name)),
        outlasts: runtime_s > 0,
    }
}

/// The options of a connection, as meant. Clones use one port after the other.
///
/// # Errors
/// A protocol that is not built, a port past the last.
pub(super) fn net(job: &ParsedJob, clone: u32, own: &Net) -> Result<NetKnobs, Diagnostic> {
    let about = |said: Diagnostic, name| {
        let origin = job.spec.origin(name).unwrap_or(Origin::Default);
        Err(said.about(name, &origin))
    };
    let protocol = match own.protocol.get() {
        NetProtocol::Tcp => Protocol::Tcp,
        NetProtocol::TcpV6 => Protocol::TcpV6,
        NetProtocol::Udp => Protocol::Udp,
        NetProtocol::UdpV6 => Protocol::UdpV6,
        NetProtocol::Unix => Protocol::Unix,
        NetProtocol::Vsock => {
            return about(Diagnostic::error("protocol vsock is not supported"), "protocol");
        }
    };
    let port = match *own.port.get() {
        None => None,
        Some(first) => match u16::try_from(u64::from(first) + u64::from(clone)) {
            Ok(port) => Some(port),
            Err(_) => {
                let said = format!("port {first} leaves no port for clone {clone}");
                return about(Diagnostic::error(said).help("ports end at 65535"), "port");
            }
        },
    };
    let text = |value: &Option<String>| value.clone().unwrap_or_default();
    let named = job.spec.files.filename.get().as_ref().and_then(|names| names.0.first());
    Ok(NetKnobs {
        protocol,
        listen: *own.listen.get(),
        reads: job.spec.order.rw.get().word.reads(),
        host: text(own.hostname.get()),
        port,
        path: named.cloned().unwrap_or_default(),
        nodelay: *own.nodelay.get(),
        pingpong: *own.pingpong.get(),
        interface: text(own.interface.get()),
        ttl: *own.ttl.get(),
        window_bytes: *own.window_size.get(),
        segment_bytes: *own.mss.get(),
    })
}

/// A connection goes one way, in order.
///
/// # Errors
/// Any other direction.
pub(super) fn one_way(spec: &JobSpec, engine: &EngineDef) -> Result<(), Diagnostic> {
    let word = spec.order.rw.get().word;
    let mixed = word.reads() && word.writes();
    if !(engine.caps.one_way && (word.is_random() || word.trims() || mixed)) {
        return Ok(());
    }
    let said = format!("engine {} goes one way, in order", engine.name);
    let origin = spec.origin("rw").unwrap_or(Origin::Default);
    Err(Diagnostic::error(said).about("rw", &origin).help("use rw=read or rw=write"))
}
