//! The fingerprint of a run and its machine, in parts: two runs are of the same thing
//! if their parts are equal, and a part that differs says what does.

/// The parts. Each is a stable text of what does not change between two runs on
/// the same thing (not what is free or available), `key=value` pairs joined by
/// `; `.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Fingerprint {
    /// The options of the jobs that are not at their defaults.
    pub job: String,
    /// Processors, memory, virtual machine, limits of control groups.
    pub machine: String,
    /// The kernel's release.
    pub kernel: String,
    /// The devices below the files: model, firmware, scheduler, write cache.
    pub device: String,
    /// The file systems: type, options, size.
    pub filesystem: String,
    /// What measured.
    pub tool: String,
}

impl Fingerprint {
    /// The parts with their names.
    pub fn parts(&self) -> [(&'static str, &str); 6] {
        [
            ("job", &self.job),
            ("machine", &self.machine),
            ("kernel", &self.kernel),
            ("device", &self.device),
            ("filesystem", &self.filesystem),
            ("tool", &self.tool),
        ]
    }

    /// The hash of a part's text.
    pub fn hash(text: &str) -> String {
        format!("{:016x}", fnv(text.as_bytes()))
    }

    /// One hash of the system: machine, kernel, devices, file systems.
    pub fn of_system(&self) -> String {
        let system = [&self.machine, &self.kernel, &self.device, &self.filesystem];
        Fingerprint::hash(&system.map(String::as_str).join("\n"))
    }
}

/// FNV-1a of 64 bits (Fowler, Noll, Vo): the same on every machine and in every
/// version.
fn fnv(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, &byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hash_is_that_of_its_authors() {
        assert_eq!(fnv(b""), 0xcbf2_9ce4_8422_2325);
        assert_eq!(fnv(b"foobar"), 0x8594_4171_f739_67e8);
    }

    #[test]
    fn the_hash_of_the_system_leaves_job_and_tool_out() {
        let one = Fingerprint { kernel: "release=6.18".into(), ..Fingerprint::default() };
        let other = Fingerprint { job: "bs=8k".into(), tool: "x".into(), ..one.clone() };
        assert_eq!(one.of_system(), other.of_system());
        let newer = Fingerprint { kernel: "release=6.19".into(), ..one.clone() };
        assert_ne!(one.of_system(), newer.of_system());
    }
}
