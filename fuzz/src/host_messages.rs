//! What the fuzz target of messages between hosts does with its bytes. Shared with an
//! ordinary test.

use iosonde_hosts::group::{HostGroup, Limits, Member};
use iosonde_hosts::transport::Transport;
use iosonde_run::conductor::{MeetingPoint, Peers};
use std::collections::VecDeque;
use std::time::Duration;

/// The other rank's messages, whatever this one sends.
struct Scripted {
    rank: usize,
    coming: VecDeque<Vec<u8>>,
}

impl Transport for Scripted {
    fn rank(&self) -> usize {
        self.rank
    }

    fn ranks(&self) -> usize {
        2
    }

    fn send(&mut self, _: usize, _: Vec<u8>) {}

    fn receive(&mut self) -> Option<(usize, Vec<u8>)> {
        self.coming.pop_front().map(|message| (1 - self.rank, message))
    }

    fn barrier(
        &mut self,
        _: Duration,
        _: &mut dyn FnMut() -> Option<String>,
    ) -> Result<(), String> {
        Ok(())
    }

    fn is_idle(&mut self) -> bool {
        true
    }
}

/// Any lines are the messages of the other rank of two, in a whole run of either rank: it
/// ends, and what it takes for a result came from the other.
pub fn host_messages(data: &[u8]) {
    for rank in 0..2 {
        let lines = data.split(|byte| *byte == b'\n');
        let coming: VecDeque<Vec<u8>> = lines.map(<[u8]>::to_vec).collect();
        let limits =
            Limits { silence: Duration::from_millis(2), beat_every: Duration::from_millis(1) };
        let member = Member { name: "here".to_owned(), build: "b".to_owned(), ..Member::default() };
        let Ok(mut group) = HostGroup::begin(Scripted { rank, coming }, &member, limits) else {
            continue;
        };
        assert_eq!(group.names().len(), 2);
        let mut results = Vec::new();
        if let Ok(job) = group.share((rank == 0).then(|| "job".to_owned())) {
            let _ = group.agree(&job, Ok(()), &mut || None);
            let _ = group.meet(MeetingPoint::LaidOut, Ok(()), &mut || None);
            let _ = group.meet(MeetingPoint::Wave(0), Ok(()), &mut || None);
            let _ = group.beat();
            let _ = group.finish("own", |from, text| results.push((from, text)), &mut || None);
        }
        let own = results.iter().filter(|(from, _)| *from == 0).count();
        assert!(own == usize::from(rank == 0 && !results.is_empty()), "{results:?}");
        assert!(results.len() <= 2, "{results:?}");
    }
}
