//! Messages of a group, as JSON.

use super::Member;
use iosonde_base::{Nanos, PerDir};
use iosonde_run::conductor::HostCounts;
use serde::{Deserialize, Serialize};

/// A message between rank 0 and another.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) enum Message {
    /// To rank 0: who is there.
    Hello(Member),
    /// From rank 0: what all run. The text is the caller's.
    Setup(String),
    /// To rank 0: this rank is at the point, or cannot come there. With what all must agree in.
    Ready {
        point: u32,
        agree: String,
        failed: Option<String>,
        /// The rank's own, of which rank 0 takes the most.
        #[serde(default)]
        most: u64,
    },
    /// From rank 0: go on from the point; from a moment of the receiver's clock, if there is one.
    Go {
        point: u32,
        #[serde(default)]
        at_unix_ns: Option<u64>,
        /// The most of all ranks.
        #[serde(default)]
        most: u64,
    },
    /// The run ends.
    Stop(String),
    /// Alive.
    Beat,
    /// To rank 0: alive, and what its jobs have done.
    Counts(SentCounts),
    /// From rank 0: what does your clock say?
    Ping,
    /// To rank 0: this, in nanoseconds of Unix time.
    Pong(u64),
    /// To rank 0: all jobs have ended.
    Done,
    /// From rank 0: send the result.
    Take,
    /// To rank 0: the result.
    Result(String),
    /// From rank 0: all have been taken.
    Bye,
}

/// [`HostCounts`] on their way. Directions are in the order of `iosonde_base::DIRS`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct SentCounts {
    elapsed_ns: u64,
    ios: [u64; 3],
    bytes: [u64; 3],
    running: u32,
    open_files: u32,
}

impl From<&HostCounts> for SentCounts {
    fn from(counts: &HostCounts) -> SentCounts {
        let HostCounts { elapsed, ios, bytes, running, open_files } = *counts;
        SentCounts { elapsed_ns: elapsed.0, ios: ios.0, bytes: bytes.0, running, open_files }
    }
}

impl From<SentCounts> for HostCounts {
    fn from(sent: SentCounts) -> HostCounts {
        let SentCounts { elapsed_ns, ios, bytes, running, open_files } = sent;
        let (ios, bytes) = (PerDir(ios), PerDir(bytes));
        HostCounts { elapsed: Nanos(elapsed_ns), ios, bytes, running, open_files }
    }
}

impl Message {
    pub fn to_bytes(&self) -> Vec<u8> {
        serde_json::to_vec(self).expect("a message is texts and numbers")
    }

    /// The message; `None` if the bytes are none.
    pub fn from_bytes(bytes: &[u8]) -> Option<Message> {
        serde_json::from_slice(bytes).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_arrives_as_it_was_and_a_part_of_one_is_none() {
        let text = |text: &str| text.to_owned();
        for message in [
            Message::Hello(Member { name: text("h1"), ..Member::default() }),
            Message::Setup(text("\0 \u{fc} \"quoted\"")),
            Message::Ready { point: 7, agree: text("bs=4k"), failed: None, most: 3 },
            Message::Ready { point: 7, agree: text(""), failed: Some(text("disk full")), most: 0 },
            Message::Go { point: u32::MAX, at_unix_ns: None, most: u64::MAX },
            Message::Go { point: 0, at_unix_ns: Some(u64::MAX), most: 0 },
            Message::Stop(text("why")),
            Message::Beat,
            Message::Counts(SentCounts::from(&HostCounts {
                elapsed: Nanos(u64::MAX),
                ios: PerDir([1, 2, 3]),
                bytes: PerDir([4, 5, 6]),
                running: 7,
                open_files: 8,
            })),
            Message::Ping,
            Message::Pong(u64::MAX),
            Message::Done,
            Message::Take,
            Message::Result("{\n".repeat(3000)),
            Message::Bye,
        ] {
            let bytes = message.to_bytes();
            assert_eq!(Message::from_bytes(&bytes), Some(message));
            for cut in 0..bytes.len().min(40) {
                assert_eq!(Message::from_bytes(&bytes[..cut]), None);
            }
        }
        for other in ["", "7", "{}", r#"{"Go":{}}"#, r#"{"Go":{"point":-1}}"#, r#""Unheard""#] {
            assert_eq!(Message::from_bytes(other.as_bytes()), None, "{other}");
        }
        assert_eq!(Message::from_bytes(&[255, 0]), None);
    }
}
