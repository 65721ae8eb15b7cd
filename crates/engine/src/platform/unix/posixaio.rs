//! posixaio: reads, writes and syncs by threads of our own.
//!
//! What aio_read(3) and aio_write(3) are in the C library is a pool of threads
//! too, which does the requests of one descriptor one after the other. Here as
//! many are in flight as the depth says.
#![allow(unsafe_code)]

use super::pool::{Pool, Pooled};
use super::{CAPS, bytes};
use super::{always, shared_queued};
use crate::platform;
use crate::{
    Accounting, Caps, EngineDef, EngineError, Io, Loop, OpenWith, SyncRangeFlags, sync_call,
};
use iosonde_base::{Errno, Op, Planned};

/// Catalogue entry.
pub(crate) static POSIXAIO: EngineDef = EngineDef {
    name: "posixaio",
    aliases: &[],
    summary: "aio_read(3), aio_write(3)",
    doc: "Threads, as many as the depth, that do pread(2), pwrite(2) and fsync(2): what \
          aio_read(3) does, without its turn-taking on each file. Their processor time is not \
          the job's.",
    caps: Caps { sync: false, slat: true, own_threads: true, ..CAPS },
    options: None,
    // A pool of threads as it is.
    offload: Some(open),
    available: always,
    open,
};

fn open(with: &OpenWith, accounting: Accounting) -> Result<Box<dyn Loop>, EngineError> {
    let sync_range = with.sync_range;
    let pool =
        Pool::start(with.depth, "posixaio", move || Ok(move |io: &Io| perform(io, sync_range)))?;
    Ok(shared_queued(PosixAio { pool }, with.depth, accounting))
}

/// Do one request, to its end.
fn perform(io: &Io, sync_range: SyncRangeFlags) -> Result<u32, Errno> {
    let (buffer, len, offset) = (io.buffer.cast(), io.len as usize, io.offset as i64);
    // SAFETY: `Io` promises `len` bytes at `buffer` that are this I/O's alone
    // until its completion is handed back, which is after this call.
    unsafe {
        match io.op {
            Op::Read => bytes(libc::pread(io.fd, buffer, len, offset)),
            Op::Write => bytes(libc::pwrite(io.fd, buffer, len, offset)),
            Op::Trim => platform::discard(io),
            op => {
                let entry = Planned { offset: io.offset, len: io.len, file: io.file, op };
                sync_call::sync(&entry, io.fd, sync_range).map(|()| io.len)
            }
        }
    }
}

struct PosixAio {
    pool: Pool,
}

impl Pooled for PosixAio {
    fn pool(&mut self) -> &mut Pool {
        &mut self.pool
    }

    fn explain(&self, op: Op, errno: Errno) -> Option<&'static str> {
        platform::explain_trim(op, errno)
    }
}
