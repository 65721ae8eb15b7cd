//! Who this rank is: host, machine, build.

use crate::group::Member;
use iosonde_direct::sysfs;
use iosonde_sys::cpu::CpuList;
use std::io::Read;

impl Member {
    /// This rank, as it greets the others.
    pub fn here() -> Member {
        let online = sysfs::text("sys/devices/system/cpu/online").unwrap_or_default();
        let processors =
            CpuList::parse(online.trim()).map_or(0, |cpus| cpus.as_slice().len() as u32);
        Member { name: host_name(), build: build(), machine: machine(), processors }
    }
}

/// The name of this host.
pub fn host_name() -> String {
    iosonde_sys::environment::host_name().unwrap_or_default()
}

/// The identity of the running kernel: containers and network namespaces of one machine have the
/// same. Empty where the system has none.
pub fn machine() -> String {
    let id = sysfs::text("proc/sys/kernel/random/boot_id").unwrap_or_default();
    id.trim().to_owned()
}

/// Version and identity of this program: two that are built from different sources differ.
fn build() -> String {
    let version = env!("CARGO_PKG_VERSION");
    match hash_of_program() {
        Ok(hash) => format!("iosonde {version}, {hash:016x}"),
        Err(_) => format!("iosonde {version}"),
    }
}

/// FNV-1a over words of eight bytes of the program's file.
fn hash_of_program() -> std::io::Result<u64> {
    let mut file = iosonde_sys::process::own_program()?;
    let mut hash: u64 = 0xcbf2_9ce4_8422_2325;
    let mut block = vec![0; 1 << 20];
    loop {
        let read = file.read(&mut block)?;
        if read == 0 {
            return Ok(hash);
        }
        for word in block[..read].chunks(8) {
            let mut bytes = [0; 8];
            bytes[..word.len()].copy_from_slice(word);
            hash = (hash ^ u64::from_le_bytes(bytes)).wrapping_mul(0x0100_0000_01b3);
        }
    }
}
