//! Messages of a group: a kind in one byte, then numbers and texts.

/// A message between rank 0 and another.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Message {
    /// To rank 0: who is there, and of which build.
    Hello { name: String, build: String },
    /// From rank 0: what all run. The text is the caller's.
    Setup(Vec<u8>),
    /// To rank 0: this rank is at the point, or cannot come there. With what all must agree in.
    Ready { point: u32, agree: String, failed: Option<String> },
    /// From rank 0: go on from the point.
    Go { point: u32 },
    /// The run ends.
    Stop(String),
    /// Alive.
    Beat,
    /// From rank 0: what does your clock say?
    Ping,
    /// To rank 0: this, in nanoseconds of Unix time.
    Pong(u64),
    /// To rank 0: all jobs have ended.
    Done,
    /// From rank 0: send the result.
    Take,
    /// To rank 0: the result.
    Result(Vec<u8>),
    /// From rank 0: all have been taken.
    Bye,
}

impl Message {
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = vec![self.kind()];
        match self {
            Message::Hello { name, build } => {
                put(name.as_bytes(), &mut bytes);
                put(build.as_bytes(), &mut bytes);
            }
            Message::Setup(body) | Message::Result(body) => put(body, &mut bytes),
            Message::Ready { point, agree, failed } => {
                bytes.extend(point.to_le_bytes());
                put(agree.as_bytes(), &mut bytes);
                bytes.push(failed.is_some().into());
                put(failed.as_deref().unwrap_or_default().as_bytes(), &mut bytes);
            }
            Message::Go { point } => bytes.extend(point.to_le_bytes()),
            Message::Stop(why) => put(why.as_bytes(), &mut bytes),
            Message::Pong(ns) => bytes.extend(ns.to_le_bytes()),
            Message::Beat | Message::Ping | Message::Done | Message::Take | Message::Bye => {}
        }
        bytes
    }

    fn kind(&self) -> u8 {
        match self {
            Message::Hello { .. } => 1,
            Message::Setup(_) => 2,
            Message::Ready { .. } => 3,
            Message::Go { .. } => 4,
            Message::Stop(_) => 5,
            Message::Beat => 6,
            Message::Ping => 7,
            Message::Pong(_) => 8,
            Message::Done => 9,
            Message::Take => 10,
            Message::Result(_) => 11,
            Message::Bye => 12,
        }
    }

    /// The message; `None` if the bytes are none.
    pub fn from_bytes(bytes: &[u8]) -> Option<Message> {
        let (&kind, mut rest) = bytes.split_first()?;
        let rest = &mut rest;
        Some(match kind {
            1 => Message::Hello { name: text(rest)?, build: text(rest)? },
            2 => Message::Setup(take(rest)?.to_vec()),
            3 => {
                let (point, agree) = (number(rest)?, text(rest)?);
                let (&is_failed, mut after) = rest.split_first()?;
                let why = text(&mut after)?;
                Message::Ready { point, agree, failed: (is_failed != 0).then_some(why) }
            }
            4 => Message::Go { point: number(rest)? },
            5 => Message::Stop(text(rest)?),
            6 => Message::Beat,
            7 => Message::Ping,
            8 => Message::Pong(u64::from_le_bytes(rest.get(..8)?.try_into().ok()?)),
            9 => Message::Done,
            10 => Message::Take,
            11 => Message::Result(take(rest)?.to_vec()),
            12 => Message::Bye,
            _ => return None,
        })
    }
}

fn put(part: &[u8], to: &mut Vec<u8>) {
    to.extend((part.len() as u64).to_le_bytes());
    to.extend(part);
}

fn take<'a>(from: &mut &'a [u8]) -> Option<&'a [u8]> {
    let (length, rest) = from.split_at_checked(8)?;
    let length = usize::try_from(u64::from_le_bytes(length.try_into().ok()?)).ok()?;
    let (part, rest) = rest.split_at_checked(length)?;
    *from = rest;
    Some(part)
}

fn text(from: &mut &[u8]) -> Option<String> {
    String::from_utf8(take(from)?.to_vec()).ok()
}

fn number(from: &mut &[u8]) -> Option<u32> {
    let (number, rest) = from.split_at_checked(4)?;
    *from = rest;
    Some(u32::from_le_bytes(number.try_into().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_arrives_as_it_was_and_a_part_of_one_is_none() {
        let text = |text: &str| text.to_owned();
        for message in [
            Message::Hello { name: text("h1"), build: text("iosonde 0.1.0 abc") },
            Message::Setup(vec![0, 255, 7]),
            Message::Ready { point: 7, agree: text("bs=4k"), failed: None },
            Message::Ready { point: 7, agree: text(""), failed: Some(text("disk full")) },
            Message::Go { point: u32::MAX },
            Message::Stop(text("why")),
            Message::Beat,
            Message::Ping,
            Message::Pong(u64::MAX),
            Message::Done,
            Message::Take,
            Message::Result(vec![1; 3000]),
            Message::Bye,
        ] {
            let bytes = message.to_bytes();
            assert_eq!(Message::from_bytes(&bytes), Some(message));
            for cut in 1..bytes.len().min(40) {
                let _ = Message::from_bytes(&bytes[..cut]);
            }
        }
        assert_eq!(Message::from_bytes(&[]), None);
        assert_eq!(Message::from_bytes(&[2, 255, 255, 255, 255, 255, 255, 255, 255]), None);
        assert_eq!(Message::from_bytes(&[99]), None);
    }
}
