//! Options of engines over libraries and special hardware.

use iosonde_options::{Built, Category, options};

use crate::values::RdmaVerb;

options! {
    /// http
    pub struct Http in Category::Engine {
        /// Use https: on, off or insecure.
        https: Option<String> = "" as "https" {
            built: Built::No,
            good: &["text"],
        }
        /// Host to connect to.
        http_host: Option<String> = "" as "http_host" {
            built: Built::No,
            good: &["text"],
        }
        /// User for WebDAV.
        http_user: Option<String> = "" as "http_user" {
            built: Built::No,
            good: &["text"],
        }
        /// Password for WebDAV.
        http_pass: Option<String> = "" as "http_pass" {
            built: Built::No,
            good: &["text"],
        }
        /// S3 secret key.
        http_s3_key: Option<String> = "" as "http_s3_key" {
            built: Built::No,
            good: &["text"],
        }
        /// S3 key id.
        http_s3_keyid: Option<String> = "" as "http_s3_keyid" {
            built: Built::No,
            good: &["text"],
        }
        /// S3 session token.
        http_s3_security_token: Option<String> = "" as "http_s3_security_token" {
            built: Built::No,
            good: &["text"],
        }
        /// Swift token.
        http_swift_auth_token: Option<String> = "" as "http_swift_auth_token" {
            built: Built::No,
            good: &["text"],
        }
        /// S3 region.
        http_s3_region: Option<String> = "us-east-1" as "http_s3_region" {
            built: Built::No,
            good: &["text"],
        }
        /// S3 key for encryption by the server.
        http_s3_sse_customer_key: Option<String> = "" as "http_s3_sse_customer_key" {
            built: Built::No,
            good: &["text"],
        }
        /// S3 algorithm for encryption by the server.
        http_s3_sse_customer_algorithm: Option<String> = "" as "http_s3_sse_customer_algorithm" {
            built: Built::No,
            good: &["text"],
        }
        /// S3 storage class.
        http_s3_storage_class: Option<String> = "" as "http_s3_storage_class" {
            built: Built::No,
            good: &["text"],
        }
        /// The protocol: webdav, swift or s3.
        http_mode: Option<String> = "" as "http_mode" {
            built: Built::No,
            good: &["text"],
        }
        /// How much to print about the connection.
        http_verbose: u32 = "0" as "http_verbose" {
            built: Built::No,
            good: &["1"],
            bad: &["some"],
        }
        /// How objects are named: block or range.
        http_object_mode: Option<String> = "" as "http_object_mode" {
            built: Built::No,
            good: &["text"],
        }
    }
}

options! {
    /// rbd
    pub struct Rbd in Category::Engine {
        /// Name of the cluster.
        clustername: Option<String> = "" as "clustername" {
            built: Built::No,
            good: &["text"],
        }
        /// Name of the image.
        rbdname: Option<String> = "" as "rbdname" {
            built: Built::No,
            good: &["text"],
        }
        /// Name of the pool.
        pool: Option<String> = "" as "pool" {
            built: Built::No,
            good: &["text"],
        }
        /// Name of the client.
        clientname: Option<String> = "" as "clientname" {
            built: Built::No,
            good: &["text"],
        }
        /// Poll for completions rather than sleep.
        busy_poll: bool = "0" as "busy_poll" {
            built: Built::No,
            good: &["0", "1"],
            bad: &["2"],
        }
        /// Format of the encryption.
        rbd_encryption_format: Option<String> = "" as "rbd_encryption_format" {
            built: Built::No,
            good: &["text"],
        }
        /// Passphrase of the encryption.
        rbd_encryption_passphrase: Option<String> = "" as "rbd_encryption_passphrase" {
            built: Built::No,
            good: &["text"],
        }
    }
}

options! {
    /// rados
    pub struct Rados in Category::Engine {
        /// Name of the cluster.
        clustername: Option<String> = "" as "clustername" {
            built: Built::No,
            good: &["text"],
        }
        /// Name of the pool.
        pool: Option<String> = "" as "pool" {
            built: Built::No,
            good: &["text"],
        }
        /// Name of the client.
        clientname: Option<String> = "" as "clientname" {
            built: Built::No,
            good: &["text"],
        }
        /// The configuration file.
        conf: Option<String> = "" as "conf" {
            built: Built::No,
            good: &["text"],
        }
        /// Poll for completions rather than sleep.
        busy_poll: bool = "0" as "busy_poll" {
            built: Built::No,
            good: &["0", "1"],
            bad: &["2"],
        }
        /// Create the objects first.
        touch_objects: bool = "1" as "touch_objects" {
            built: Built::No,
            good: &["0", "1"],
            bad: &["2"],
        }
    }
}

options! {
    /// nbd
    pub struct Nbd in Category::Engine {
        /// The export, as an NBD URI.
        uri: Option<String> = "" as "uri" {
            built: Built::No,
            good: &["text"],
        }
    }
}

options! {
    /// nfs
    pub struct Nfs in Category::Engine {
        /// The export, as an NFS URL.
        nfs_url: Option<String> = "" as "nfs_url" {
            built: Built::No,
            good: &["text"],
        }
    }
}

options! {
    /// libiscsi
    pub struct LibIscsi in Category::Engine {
        /// Name of the initiator.
        initiator: Option<String> = "" as "initiator" {
            built: Built::No,
            good: &["text"],
        }
    }
}

options! {
    /// gfapi
    pub struct Gfapi in Category::Engine {
        /// Name of the volume.
        volume: Option<String> = "" as "volume" {
            built: Built::No,
            good: &["text"],
        }
        /// The server.
        brick: Option<String> = "" as "brick" {
            built: Built::No,
            good: &["text"],
        }
        /// Share one connection between jobs.
        single_instance: bool = "0" as "single-instance" {
            built: Built::No,
            good: &["0", "1"],
            bad: &["2"],
        }
    }
}

options! {
    /// libhdfs
    pub struct LibHdfs in Category::Engine {
        /// The name node.
        namenode: Option<String> = "" as "namenode" {
            built: Built::No,
            good: &["text"],
        }
        /// The name node.
        hostname: Option<String> = "" as "hostname" {
            built: Built::No,
            good: &["text"],
        }
        /// Port of the name node.
        port: u32 = "0" as "port" {
            built: Built::No,
            good: &["1"],
            bad: &["some"],
        }
        /// Directory that holds the chunks.
        hdfsdirectory: Option<String> = "" as "hdfsdirectory" {
            built: Built::No,
            good: &["text"],
        }
        /// Size of a chunk.
        chunk_size: u32 = "1048576" as "chunk_size" | "chunck_size" {
            built: Built::No,
            good: &["1"],
            bad: &["some"],
        }
        /// Share one connection between jobs.
        single_instance: bool = "0" as "single_instance" {
            built: Built::No,
            good: &["0", "1"],
            bad: &["2"],
        }
        /// Read without a copy.
        hdfs_use_direct: bool = "0" as "hdfs_use_direct" {
            built: Built::No,
            good: &["0", "1"],
            bad: &["2"],
        }
    }
}

options! {
    /// dfs
    pub struct Dfs in Category::Engine {
        /// The pool.
        pool: Option<String> = "" as "pool" {
            built: Built::No,
            good: &["text"],
        }
        /// The container.
        cont: Option<String> = "" as "cont" {
            built: Built::No,
            good: &["text"],
        }
        /// Size of a chunk.
        chunk_size: u32 = "0" as "chunk_size" {
            built: Built::No,
            good: &["1"],
            bad: &["some"],
        }
        /// Class of new objects.
        object_class: Option<String> = "" as "object_class" {
            built: Built::No,
            good: &["text"],
        }
        /// Ranks of the pool service.
        svcl: Option<String> = "" as "svcl" {
            built: Built::No,
            good: &["text"],
        }
    }
}

options! {
    /// rdma
    pub struct Rdma in Category::Engine {
        /// Host to connect to.
        hostname: Option<String> = "" as "hostname" {
            built: Built::No,
            good: &["text"],
        }
        /// Local address.
        bindname: Option<String> = "" as "bindname" {
            built: Built::No,
            good: &["text"],
        }
        /// Port to connect to or to listen on.
        port: u32 = "0" as "port" {
            built: Built::No,
            good: &["1"],
            bad: &["some"],
        }
        /// What is done.
        verb: RdmaVerb = "write" as "verb" | "proto" {
            built: Built::No,
            good: &["write", "read", "send", "recv"],
            bad: &["push"],
        }
    }
}

options! {
    /// xnvme
    pub struct Xnvme in Category::Engine {
        /// Poll for completions.
        hipri: bool = "0" as "hipri" {
            built: Built::No,
            good: &["0", "1"],
            bad: &["2"],
        }
        /// Let a thread of the kernel submit.
        sqthread_poll: bool = "0" as "sqthread_poll" {
            built: Built::No,
            good: &["0", "1"],
            bad: &["2"],
        }
        /// The backend.
        xnvme_be: Option<String> = "" as "xnvme_be" {
            built: Built::No,
            good: &["text"],
        }
        /// The asynchronous interface.
        xnvme_async: Option<String> = "" as "xnvme_async" {
            built: Built::No,
            good: &["text"],
        }
        /// The synchronous interface.
        xnvme_sync: Option<String> = "" as "xnvme_sync" {
            built: Built::No,
            good: &["text"],
        }
        /// The admin interface.
        xnvme_admin: Option<String> = "" as "xnvme_admin" {
            built: Built::No,
            good: &["text"],
        }
        /// The namespace.
        xnvme_dev_nsid: u32 = "0" as "xnvme_dev_nsid" {
            built: Built::No,
            good: &["1"],
            bad: &["some"],
        }
        /// The subsystem.
        xnvme_dev_subnqn: Option<String> = "" as "xnvme_dev_subnqn" {
            built: Built::No,
            good: &["text"],
        }
        /// The memory manager.
        xnvme_mem: Option<String> = "" as "xnvme_mem" {
            built: Built::No,
            good: &["text"],
        }
        /// Use vectored commands.
        xnvme_iovec: bool = "0" as "xnvme_iovec" {
            built: Built::No,
            good: &["0", "1"],
            bad: &["2"],
        }
        /// Bytes of metadata that go with each I/O.
        md_per_io_size: u32 = "0" as "md_per_io_size" {
            built: Built::No,
            good: &["1"],
            bad: &["some"],
        }
        /// Let the device make and strip protection information.
        pi_act: bool = "1" as "pi_act" {
            built: Built::No,
            good: &["0", "1"],
            bad: &["2"],
        }
        /// What protection information is checked.
        pi_chk: Option<String> = "" as "pi_chk" {
            built: Built::No,
            good: &["text"],
        }
        /// Application tag.
        apptag: u32 = "0x1234" as "apptag" {
            built: Built::No,
            good: &["1"],
            bad: &["some"],
        }
        /// Bits of the application tag that are checked.
        apptag_mask: u32 = "0xffff" as "apptag_mask" {
            built: Built::No,
            good: &["1"],
            bad: &["some"],
        }
    }
}

options! {
    /// libblkio
    pub struct LibBlkIo in Category::Engine {
        /// The driver.
        libblkio_driver: Option<String> = "" as "libblkio_driver" {
            built: Built::No,
            good: &["text"],
        }
        /// Its path.
        libblkio_path: Option<String> = "" as "libblkio_path" {
            built: Built::No,
            good: &["text"],
        }
        /// Properties set before connecting.
        libblkio_pre_connect_props: Option<String> = "" as "libblkio_pre_connect_props" {
            built: Built::No,
            good: &["text"],
        }
        /// Entries of a queue.
        libblkio_num_entries: u32 = "0" as "libblkio_num_entries" {
            built: Built::No,
            good: &["1"],
            bad: &["some"],
        }
        /// Size of a queue.
        libblkio_queue_size: u32 = "0" as "libblkio_queue_size" {
            built: Built::No,
            good: &["1"],
            bad: &["some"],
        }
        /// Properties set before starting.
        libblkio_pre_start_props: Option<String> = "" as "libblkio_pre_start_props" {
            built: Built::No,
            good: &["text"],
        }
        /// Use poll queues.
        hipri: bool = "0" as "hipri" {
            built: Built::No,
            good: &["0", "1"],
            bad: &["2"],
        }
        /// Use vectored requests.
        libblkio_vectored: bool = "0" as "libblkio_vectored" {
            built: Built::No,
            good: &["0", "1"],
            bad: &["2"],
        }
        /// Write zeroes for trims.
        libblkio_write_zeroes_on_trim: bool = "0" as "libblkio_write_zeroes_on_trim" {
            built: Built::No,
            good: &["0", "1"],
            bad: &["2"],
        }
        /// How to wait: block, eventfd or loop.
        libblkio_wait_mode: Option<String> = "" as "libblkio_wait_mode" {
            built: Built::No,
            good: &["text"],
        }
        /// Have an eventfd always.
        libblkio_force_enable_completion_eventfd: bool = "0" as "libblkio_force_enable_completion_eventfd" {
            built: Built::No,
            good: &["0", "1"],
            bad: &["2"],
        }
    }
}

options! {
    /// libcufile
    pub struct LibCuFile in Category::Engine {
        /// The GPUs, parted by colons.
        gpu_dev_ids: Option<String> = "" as "gpu_dev_ids" {
            built: Built::No,
            good: &["text"],
        }
        /// How data gets to the GPU: cufile or posix.
        cuda_io: Option<String> = "" as "cuda_io" {
            built: Built::No,
            good: &["text"],
        }
    }
}

options! {
    /// libhipfile
    pub struct LibHipFile in Category::Engine {
        /// The GPUs, parted by colons.
        gpu_dev_ids: Option<String> = "" as "gpu_dev_ids" {
            built: Built::No,
            good: &["text"],
        }
        /// How data gets to the GPU: hipfile or posix.
        rocm_io: Option<String> = "" as "rocm_io" {
            built: Built::No,
            good: &["text"],
        }
    }
}

options! {
    /// windowsaio
    pub struct WindowsAio in Category::Engine {
        /// Reap without a thread of its own.
        no_completion_thread: bool = "0" as "no_completion_thread" {
            built: Built::No,
            good: &["0", "1"],
            bad: &["2"],
        }
    }
}
