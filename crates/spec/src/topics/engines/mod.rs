//! Options that only engines know, a table an engine.

mod aio;
mod libraries;
mod network;
mod programs;
mod sync_calls;
mod uring;

use iosonde_options::Topic;

use crate::engine_options::EngineTable;

pub use aio::LibAio;
pub use network::Net;
pub use programs::{CpuIo, E4Defrag, Exec, FileStat, Mtd, Sg};
pub use sync_calls::{Mmap, Pvsync2};
pub use uring::{IoUring, IoUringCmd};

use libraries::{
    Dfs, Gfapi, Http, LibBlkIo, LibCuFile, LibHdfs, LibHipFile, LibIscsi, Nbd, Nfs, Rados, Rbd,
    Rdma, WindowsAio, Xnvme,
};

const fn table<T: Topic + Default + 'static>(
    engines: &'static [&'static str],
    options: &'static [iosonde_options::OptionDef],
) -> EngineTable {
    EngineTable { engines, options, make: || Box::new(T::default()) }
}

/// Every table. An engine may take the options of several.
pub(crate) static TABLES: &[EngineTable] = &[
    table::<IoUring>(&["io_uring", "io_uring_cmd"], IoUring::OPTIONS),
    table::<IoUringCmd>(&["io_uring_cmd"], IoUringCmd::OPTIONS),
    table::<LibAio>(&["libaio"], LibAio::OPTIONS),
    table::<Pvsync2>(&["pvsync2"], Pvsync2::OPTIONS),
    table::<Mmap>(&["mmap"], Mmap::OPTIONS),
    table::<CpuIo>(&["cpuio"], CpuIo::OPTIONS),
    table::<Net>(&["net", "netsplice"], Net::OPTIONS),
    table::<Exec>(&["exec"], Exec::OPTIONS),
    table::<FileStat>(&["filestat", "dirstat"], FileStat::OPTIONS),
    table::<E4Defrag>(&["e4defrag"], E4Defrag::OPTIONS),
    table::<Mtd>(&["mtd"], Mtd::OPTIONS),
    table::<Sg>(&["sg"], Sg::OPTIONS),
    table::<Http>(&["http"], Http::OPTIONS),
    table::<Rbd>(&["rbd"], Rbd::OPTIONS),
    table::<Rados>(&["rados"], Rados::OPTIONS),
    table::<Nbd>(&["nbd"], Nbd::OPTIONS),
    table::<Nfs>(&["nfs"], Nfs::OPTIONS),
    table::<LibIscsi>(&["libiscsi"], LibIscsi::OPTIONS),
    table::<Gfapi>(&["gfapi", "gfapi_async"], Gfapi::OPTIONS),
    table::<LibHdfs>(&["libhdfs"], LibHdfs::OPTIONS),
    table::<Dfs>(&["dfs"], Dfs::OPTIONS),
    table::<Rdma>(&["rdma"], Rdma::OPTIONS),
    table::<Xnvme>(&["xnvme"], Xnvme::OPTIONS),
    table::<LibBlkIo>(&["libblkio"], LibBlkIo::OPTIONS),
    table::<LibCuFile>(&["libcufile"], LibCuFile::OPTIONS),
    table::<LibHipFile>(&["libhipfile"], LibHipFile::OPTIONS),
    table::<WindowsAio>(&["windowsaio"], WindowsAio::OPTIONS),
];
