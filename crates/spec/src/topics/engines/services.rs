//! Options of engines over storage services: HTTP, Ceph, NBD, NFS, iSCSI, GlusterFS, HDFS, DAOS.

use iosonde_options::{Built, Category, options};

options! {
    /// http
    pub struct Http in Category::Engine {
        /// Use https: on, off or insecure.
        https: Option<String> = "" as "https" {
            built: Built::No,
            good: &["off", "on", "insecure"],
        }
        /// Host to connect to.
        http_host: Option<String> = "" as "http_host" {
            built: Built::No,
            good: &["localhost:8080"],
        }
        /// User for WebDAV.
        http_user: Option<String> = "" as "http_user" {
            built: Built::No,
            good: &["bench"],
        }
        /// Password for WebDAV.
        http_pass: Option<String> = "" as "http_pass" {
            built: Built::No,
            good: &["secret"],
        }
        /// S3 secret key.
        http_s3_key: Option<String> = "" as "http_s3_key" {
            built: Built::No,
            good: &["wJalrXUtnFEMI"],
        }
        /// S3 key id.
        http_s3_keyid: Option<String> = "" as "http_s3_keyid" {
            built: Built::No,
            good: &["AKIAIOSFODNN7"],
        }
        /// S3 session token.
        http_s3_security_token: Option<String> = "" as "http_s3_security_token" {
            built: Built::No,
            good: &["FwoGZXIvYXdzEBYaD"],
        }
        /// Swift token.
        http_swift_auth_token: Option<String> = "" as "http_swift_auth_token" {
            built: Built::No,
            good: &["AUTH_tk3c2f"],
        }
        /// S3 region.
        http_s3_region: Option<String> = "us-east-1" as "http_s3_region" {
            built: Built::No,
            good: &["us-east-1", "eu-central-1"],
        }
        /// S3 key for encryption by the server.
        http_s3_sse_customer_key: Option<String> = "" as "http_s3_sse_customer_key" {
            built: Built::No,
            good: &["0123456789abcdef0123456789abcdef"],
        }
        /// S3 algorithm for encryption by the server.
        http_s3_sse_customer_algorithm: Option<String> = "" as "http_s3_sse_customer_algorithm" {
            built: Built::No,
            good: &["AES256"],
        }
        /// S3 storage class.
        http_s3_storage_class: Option<String> = "" as "http_s3_storage_class" {
            built: Built::No,
            good: &["STANDARD", "STANDARD_IA"],
        }
        /// The protocol: webdav, swift or s3.
        http_mode: Option<String> = "" as "http_mode" {
            built: Built::No,
            good: &["webdav", "swift", "s3"],
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
            good: &["block", "range"],
        }
    }
}

options! {
    /// rbd
    pub struct Rbd in Category::Engine {
        /// Name of the cluster.
        clustername: Option<String> = "" as "clustername" {
            built: Built::No,
            good: &["ceph"],
        }
        /// Name of the image.
        rbdname: Option<String> = "" as "rbdname" {
            built: Built::No,
            good: &["vm-disk-1"],
        }
        /// Name of the pool.
        pool: Option<String> = "" as "pool" {
            built: Built::No,
            good: &["rbd"],
        }
        /// Name of the client.
        clientname: Option<String> = "" as "clientname" {
            built: Built::No,
            good: &["client.admin"],
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
            good: &["luks1", "luks2"],
        }
        /// Passphrase of the encryption.
        rbd_encryption_passphrase: Option<String> = "" as "rbd_encryption_passphrase" {
            built: Built::No,
            good: &["/etc/ceph/passphrase"],
        }
    }
}

options! {
    /// rados
    pub struct Rados in Category::Engine {
        /// Name of the cluster.
        clustername: Option<String> = "" as "clustername" {
            built: Built::No,
            good: &["ceph"],
        }
        /// Name of the pool.
        pool: Option<String> = "" as "pool" {
            built: Built::No,
            good: &["bench"],
        }
        /// Name of the client.
        clientname: Option<String> = "" as "clientname" {
            built: Built::No,
            good: &["client.admin"],
        }
        /// The configuration file.
        conf: Option<String> = "" as "conf" {
            built: Built::No,
            good: &["/etc/ceph/ceph.conf"],
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
            good: &["nbd://localhost:10809/disk", "nbd+unix:///?socket=/run/nbd.sock"],
        }
    }
}

options! {
    /// nfs
    pub struct Nfs in Category::Engine {
        /// The export, as an NFS URL.
        nfs_url: Option<String> = "" as "nfs_url" {
            built: Built::No,
            good: &["nfs://server/export"],
        }
    }
}

options! {
    /// libiscsi
    pub struct LibIscsi in Category::Engine {
        /// Name of the initiator.
        initiator: Option<String> = "" as "initiator" {
            built: Built::No,
            good: &["iqn.2016-04.com.example:client"],
        }
    }
}

options! {
    /// gfapi
    pub struct Gfapi in Category::Engine {
        /// Name of the volume.
        volume: Option<String> = "" as "volume" {
            built: Built::No,
            good: &["gv0"],
        }
        /// The server.
        brick: Option<String> = "" as "brick" {
            built: Built::No,
            good: &["server1"],
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
            good: &["namenode.example"],
        }
        /// The name node.
        hostname: Option<String> = "" as "hostname" {
            built: Built::No,
            good: &["namenode.example"],
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
            good: &["/bench"],
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
            good: &["tank"],
        }
        /// The container.
        cont: Option<String> = "" as "cont" {
            built: Built::No,
            good: &["bench"],
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
            good: &["SX", "RP_2G1"],
        }
        /// Ranks of the pool service.
        svcl: Option<String> = "" as "svcl" {
            built: Built::No,
            good: &["0,1,2"],
        }
    }
}
