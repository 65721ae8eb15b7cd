//! Options of engines that are not built, a table for each engine. A job that uses one is refused
//! with its name. Engines that are built declare their options beside their code, in the crate
//! `iosonde-engine`.

mod devices;
mod services;
mod uring_cmd;

use iosonde_options::{OptionDef, Topic};

use devices::{LibBlkIo, LibCuFile, LibHipFile, Mtd, Rdma, Sg, WindowsAio, Xnvme};
use services::{Dfs, Gfapi, Http, LibHdfs, LibIscsi, Nbd, Nfs, Rados, Rbd};
use uring_cmd::IoUringCmd;

/// The options of one engine, or of a few that share them.
pub struct EngineTable {
    /// The engines that take them.
    pub engines: Vec<&'static str>,
    /// Their rows.
    pub options: &'static [OptionDef],
    /// The topic at its defaults.
    pub make: fn() -> Box<dyn Topic>,
}

fn table<T: Topic + Default + 'static>(
    engines: &[&'static str],
    options: &'static [OptionDef],
) -> EngineTable {
    EngineTable { engines: engines.to_vec(), options, make: || Box::new(T::default()) }
}

/// Engines that are not built and also take the options of one that is.
pub(crate) const BORROWED: &[(&str, &str)] = &[("io_uring_cmd", "io_uring")];

/// Every table. An engine may take the options of several.
pub(crate) static UNBUILT: &[fn() -> EngineTable] = &[
    || table::<IoUringCmd>(&["io_uring_cmd"], IoUringCmd::OPTIONS),
    || table::<Mtd>(&["mtd"], Mtd::OPTIONS),
    || table::<Sg>(&["sg"], Sg::OPTIONS),
    || table::<Http>(&["http"], Http::OPTIONS),
    || table::<Rbd>(&["rbd"], Rbd::OPTIONS),
    || table::<Rados>(&["rados"], Rados::OPTIONS),
    || table::<Nbd>(&["nbd"], Nbd::OPTIONS),
    || table::<Nfs>(&["nfs"], Nfs::OPTIONS),
    || table::<LibIscsi>(&["libiscsi"], LibIscsi::OPTIONS),
    || table::<Gfapi>(&["gfapi", "gfapi_async"], Gfapi::OPTIONS),
    || table::<LibHdfs>(&["libhdfs"], LibHdfs::OPTIONS),
    || table::<Dfs>(&["dfs"], Dfs::OPTIONS),
    || table::<Rdma>(&["rdma"], Rdma::OPTIONS),
    || table::<Xnvme>(&["xnvme"], Xnvme::OPTIONS),
    || table::<LibBlkIo>(&["libblkio"], LibBlkIo::OPTIONS),
    || table::<LibCuFile>(&["libcufile"], LibCuFile::OPTIONS),
    || table::<LibHipFile>(&["libhipfile"], LibHipFile::OPTIONS),
    || table::<WindowsAio>(&["windowsaio"], WindowsAio::OPTIONS),
];
