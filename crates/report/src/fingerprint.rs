//! The fingerprint of a run and its machine, in parts: two runs are of the same thing
//! if their parts are equal, and a part that differs says what does.

use serde::{Deserialize, Serialize};

/// The parts. Each is a stable text of what does not change between two runs on
/// the same thing (not what is free or available), `key=value` pairs joined by
/// `; `.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Fingerprint {
    /// The options of the jobs that are not at their defaults.
    #[serde(with = "part")]
    #[cfg_attr(feature = "schema", schemars(with = "Part"))]
    pub job: String,
    /// Processors, memory, virtual machine, limits of control groups.
    #[serde(with = "part")]
    #[cfg_attr(feature = "schema", schemars(with = "Part"))]
    pub machine: String,
    /// The kernel's release.
    #[serde(with = "part")]
    #[cfg_attr(feature = "schema", schemars(with = "Part"))]
    pub kernel: String,
    /// The devices below the files: model, firmware, scheduler, write cache.
    #[serde(with = "part")]
    #[cfg_attr(feature = "schema", schemars(with = "Part"))]
    pub device: String,
    /// The file systems: type, options, size.
    #[serde(with = "part")]
    #[cfg_attr(feature = "schema", schemars(with = "Part"))]
    pub filesystem: String,
    /// What measured.
    #[serde(with = "part")]
    #[cfg_attr(feature = "schema", schemars(with = "Part"))]
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

/// A part in documents.
#[derive(Default, Serialize, Deserialize)]
#[serde(default)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct Part {
    /// FNV-1a of the text, 64 bits.
    hash: String,
    /// What it is made of: `key=value` pairs.
    text: String,
}

mod part {
    use super::*;
    use serde::{Deserializer, Serializer};

    pub fn serialize<S: Serializer>(text: &str, serializer: S) -> Result<S::Ok, S::Error> {
        Part { hash: Fingerprint::hash(text), text: text.to_owned() }.serialize(serializer)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
        Part::deserialize(deserializer).map(|part| part.text)
    }
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
