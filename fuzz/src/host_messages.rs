//! What the fuzz target of messages between hosts does with its bytes. Shared with an
//! ordinary test.

use iosonde_hosts::group::{HostGroup, Limits, Member};
use iosonde_hosts::remote::{RemoteEvent, RemoteRun, RemoteView, ServerLink};
use iosonde_hosts::transport::Transport;
use iosonde_hosts::wire::Channel;
use iosonde_run::conductor::{HostCounts, MeetingPoint, Peers};
use std::collections::VecDeque;
use std::io::Write;
use std::os::unix::net::UnixStream;
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

/// Any bytes come over a connection: to a server's end, which takes no frame for more than it is, and
/// to a client, which ends when its server is gone.
pub fn server_messages(data: &[u8]) {
    let connected = || -> Option<(UnixStream, Channel)> {
        let (mut other, own) = UnixStream::pair().ok()?;
        own.set_nonblocking(true).ok()?;
        other.set_nonblocking(true).ok()?;
        let _ = other.write(data);
        Some((other, Channel::open(own.into())))
    };
    let limits = Limits { silence: Duration::from_secs(1), beat_every: Duration::from_millis(1) };
    if let Some((other, channel)) = connected() {
        let (mut link, lines) = ServerLink::new(channel);
        drop((other, lines));
        while link.receive().is_some() {}
        assert!(link.gone(0).is_some());
    }
    if let Some((other, channel)) = connected() {
        drop(other);
        let mut view = Seen::default();
        let mut run = RemoteRun::new(vec![(channel, "h".to_owned())], "b", limits);
        let _ = run.run(vec!["order".to_owned()], &mut view, &mut || None);
        assert!(view.results <= 1);
    }
}

/// Counts results.
#[derive(Default)]
struct Seen {
    results: usize,
}

impl RemoteView for Seen {
    fn see(&mut self, server: usize, event: RemoteEvent) {
        assert_eq!(server, 0);
        self.results += usize::from(matches!(event, RemoteEvent::Result(_)));
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
            let _ = group.beat(&HostCounts::default());
            let heard = group.others().map_or(0, |others| others.heard);
            assert!(heard <= 1);
            let _ = group.finish("own", |from, text| results.push((from, text)), &mut || None);
        }
        let own = results.iter().filter(|(from, _)| *from == 0).count();
        assert!(own == usize::from(rank == 0 && !results.is_empty()), "{results:?}");
        assert!(results.len() <= 2, "{results:?}");
    }
}
