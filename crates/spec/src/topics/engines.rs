//! Options of engines that are not built: their names and what they are for. A job that sets one is
//! refused with its name, whatever the value. Engines that are built declare their options beside
//! their code, in the crate `iosonde-engine`; an option that is built moves there.

use iosonde_engine::ElsewhereEngines;
use iosonde_options::{Built, Category, OptionDef, Topic};

/// The options of one engine, or of a few that share them.
pub struct EngineTable {
    /// The engines that take them.
    pub engines: Vec<&'static str>,
    /// Their rows.
    pub options: &'static [OptionDef],
    /// The topic at its defaults; `None` where the values are not read.
    pub make: Option<fn() -> Box<dyn Topic>>,
}

/// Engines that are not built and also take the options of one that is.
pub(crate) const BORROWED: &[(&str, &str)] = &[("io_uring_cmd", "io_uring")];

const fn option(name: &'static str, doc: &'static [&'static str]) -> OptionDef {
    OptionDef { name, doc, category: Category::Engine, built: Built::No, ..OptionDef::BLANK }
}

/// The options that only engines of another system take.
pub(crate) fn of_other_systems(system: &ElsewhereEngines) -> Vec<OptionDef> {
    let of_system = |&(name, doc): &(&'static str, &'static str)| {
        let doc: &'static [&'static str] = vec![doc].leak();
        option(name, doc)
    };
    system.options.iter().map(of_system).collect()
}

/// Engines, and the options that only they take.
pub(crate) static UNBUILT: &[(&[&str], &[OptionDef])] = &[
    // Its options are those of io_uring.
    (&["io_uring_cmd"], &[]),
    (&["mtd"], &[option("skip_bad", &["Leave out blocks that are known to be bad."])]),
    (
        &["sg"],
        &[
            OptionDef {
                bare: Some("1"),
                ..option("hipri", &["Poll for completions rather than wait for interrupts."])
            },
            option("readfua", &["Set Force Unit Access on reads."]),
            option("writefua", &["Set Force Unit Access on writes."]),
            option(
                "sg_write_mode",
                &["The SCSI command that writes: write, write_and_verify, write_same and others."],
            ),
            option("stream_id", &["The stream that WRITE STREAM writes to."]),
        ],
    ),
    (
        &["http"],
        &[
            option("https", &["Use https: on, off or insecure."]),
            option("http_host", &["Host to connect to."]),
            option("http_user", &["User for WebDAV."]),
            option("http_pass", &["Password for WebDAV."]),
            option("http_s3_key", &["S3 secret key."]),
            option("http_s3_keyid", &["S3 key id."]),
            option("http_s3_security_token", &["S3 session token."]),
            option("http_swift_auth_token", &["Swift token."]),
            option("http_s3_region", &["S3 region."]),
            option("http_s3_sse_customer_key", &["S3 key for encryption by the server."]),
            option(
                "http_s3_sse_customer_algorithm",
                &["S3 algorithm for encryption by the server."],
            ),
            option("http_s3_storage_class", &["S3 storage class."]),
            option("http_mode", &["The protocol: webdav, swift or s3."]),
            option("http_verbose", &["How much to print about the connection."]),
            option("http_object_mode", &["How objects are named: block or range."]),
        ],
    ),
    (
        &["rbd"],
        &[
            option("clustername", &["Name of the cluster."]),
            option("rbdname", &["Name of the image."]),
            option("pool", &["Name of the pool."]),
            option("clientname", &["Name of the client."]),
            option("busy_poll", &["Poll for completions rather than sleep."]),
            option("rbd_encryption_format", &["Format of the encryption."]),
            option("rbd_encryption_passphrase", &["Passphrase of the encryption."]),
        ],
    ),
    (
        &["rados"],
        &[
            option("clustername", &["Name of the cluster."]),
            option("pool", &["Name of the pool."]),
            option("clientname", &["Name of the client."]),
            option("conf", &["The configuration file."]),
            option("busy_poll", &["Poll for completions rather than sleep."]),
            option("touch_objects", &["Create the objects first."]),
        ],
    ),
    (&["nbd"], &[option("uri", &["The export, as an NBD URI."])]),
    (&["nfs"], &[option("nfs_url", &["The export, as an NFS URL."])]),
    (&["libiscsi"], &[option("initiator", &["Name of the initiator."])]),
    (
        &["gfapi", "gfapi_async"],
        &[
            option("volume", &["Name of the volume."]),
            option("brick", &["The server."]),
            option("single-instance", &["Share one connection between jobs."]),
        ],
    ),
    (
        &["libhdfs"],
        &[
            option("namenode", &["The name node."]),
            option("hostname", &["The name node."]),
            option("port", &["Port of the name node."]),
            option("hdfsdirectory", &["Directory that holds the chunks."]),
            OptionDef { aliases: &["chunck_size"], ..option("chunk_size", &["Size of a chunk."]) },
            option("single_instance", &["Share one connection between jobs."]),
            option("hdfs_use_direct", &["Read without a copy."]),
        ],
    ),
    (
        &["dfs"],
        &[
            option("pool", &["The pool."]),
            option("cont", &["The container."]),
            option("chunk_size", &["Size of a chunk."]),
            option("object_class", &["Class of new objects."]),
            option("svcl", &["Ranks of the pool service."]),
        ],
    ),
    (
        &["rdma"],
        &[
            option("hostname", &["Host to connect to."]),
            option("bindname", &["Local address."]),
            option("port", &["Port to connect to or to listen on."]),
            OptionDef {
                aliases: &["proto"],
                ..option("verb", &["What is done: write, read, send or recv."])
            },
        ],
    ),
    (
        &["xnvme"],
        &[
            option("hipri", &["Poll for completions."]),
            option("sqthread_poll", &["Let a thread of the kernel submit."]),
            option("xnvme_be", &["The backend."]),
            option("xnvme_async", &["The asynchronous interface."]),
            option("xnvme_sync", &["The synchronous interface."]),
            option("xnvme_admin", &["The admin interface."]),
            option("xnvme_dev_nsid", &["The namespace."]),
            option("xnvme_dev_subnqn", &["The subsystem."]),
            option("xnvme_mem", &["The memory manager."]),
            option("xnvme_iovec", &["Use vectored commands."]),
            option("md_per_io_size", &["Bytes of metadata that go with each I/O."]),
            option("pi_act", &["Let the device make and strip protection information."]),
            option("pi_chk", &["What protection information is checked."]),
            option("apptag", &["Application tag."]),
            option("apptag_mask", &["Bits of the application tag that are checked."]),
        ],
    ),
    (
        &["libblkio"],
        &[
            option("libblkio_driver", &["The driver."]),
            option("libblkio_path", &["Its path."]),
            option("libblkio_pre_connect_props", &["Properties set before connecting."]),
            option("libblkio_num_entries", &["Entries of a queue."]),
            option("libblkio_queue_size", &["Size of a queue."]),
            option("libblkio_pre_start_props", &["Properties set before starting."]),
            option("hipri", &["Use poll queues."]),
            option("libblkio_vectored", &["Use vectored requests."]),
            option("libblkio_write_zeroes_on_trim", &["Write zeroes for trims."]),
            option("libblkio_wait_mode", &["How to wait: block, eventfd or loop."]),
            option("libblkio_force_enable_completion_eventfd", &["Have an eventfd always."]),
        ],
    ),
    (
        &["libcufile"],
        &[
            option("gpu_dev_ids", &["The GPUs, parted by colons."]),
            option("cuda_io", &["How data gets to the GPU: cufile or posix."]),
        ],
    ),
    (
        &["libhipfile"],
        &[
            option("gpu_dev_ids", &["The GPUs, parted by colons."]),
            option("rocm_io", &["How data gets to the GPU: hipfile or posix."]),
        ],
    ),
];
