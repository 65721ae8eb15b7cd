//! The fuzz targets' bodies over mutations of what kernels report: the same each time.
#![cfg(target_os = "linux")]

#[path = "../../../fuzz/src/direct_bodies.rs"]
mod direct_bodies;

use proptest::prelude::*;

const MOUNTS: &[u8] = b"22 27 0:21 / /proc rw,relatime - proc proc rw\n\
    27 1 254:0 / / rw,relatime - ext4 /dev/vda rw,discard,data=journal\n\
    36 27 8:1 /sub /mnt/my\\040disk rw master:1 shared:7 - xfs /dev/disk/by\\134id rw\n\
    30 27 0:27 / /dev/shm rw - tmpfs again rw,size=1k\n/swap\\040file file 1 0 -3\n";

const DEVICE: &[u8] = b"\0\x80\0\x08 SERIAL7....\
    1024\n\x000\n\x000\n\0disk-7\n\0eui.1\n\0Model\n\0ATA\n\x000A82\n\x00512\n\x004096\n\x00128\n\
    \x00511\n\x001\n\x0065536\n\0write back\n\0host-managed\n\x0016\n\x00512\n\0none [bfq]\n\0\
    /a b\n\0vg-home\n";

/// `seed` with some bytes changed, cut somewhere.
fn mutated(seed: &'static [u8]) -> impl Strategy<Value = Vec<u8>> {
    let edits = proptest::collection::vec((0..seed.len(), any::<u8>()), 0..12);
    (edits, 0..=seed.len()).prop_map(move |(edits, end)| {
        let mut data = seed.to_vec();
        edits.into_iter().for_each(|(at, byte)| data[at] = byte);
        data.truncate(end);
        data
    })
}

#[test]
fn the_seeds_are_taken() {
    direct_bodies::mountinfo(MOUNTS);
    direct_bodies::sysfs(DEVICE);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3000))]

    #[test]
    fn any_text_is_mounts_or_nothing(data in mutated(MOUNTS)) {
        direct_bodies::mountinfo(&data);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn any_bytes_are_a_device_or_unknown(data in mutated(DEVICE)) {
        direct_bodies::sysfs(&data);
    }
}
