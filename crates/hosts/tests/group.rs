//! Sessions over channels instead of MPI: what ranks agree on, and what becomes of one that
//! fails, differs or is silent.

use iosonde_hosts::group::{HostGroup, Limits, Member, StopRequest};
use iosonde_hosts::transport::Transport;
use iosonde_run::conductor::{HostCounts, MeetingPoint, Peers};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Barrier};
use std::thread;
use std::time::Duration;

type Mail = (usize, Vec<u8>);

struct Channels {
    rank: usize,
    to: Vec<Sender<Mail>>,
    from: Receiver<Mail>,
    barrier: Arc<Barrier>,
}

impl Transport for Channels {
    fn rank(&self) -> usize {
        self.rank
    }

    fn ranks(&self) -> usize {
        self.to.len()
    }

    fn send(&mut self, to: usize, message: Vec<u8>) {
        // Who has ended listens no more.
        let _ = self.to[to].send((self.rank, message));
    }

    fn receive(&mut self) -> Option<Mail> {
        self.from.try_recv().ok()
    }

    fn barrier(
        &mut self,
        _: Duration,
        stopped: &mut dyn FnMut() -> Option<String>,
    ) -> Result<(), String> {
        stopped().map_or(Ok(()), Err)?;
        self.barrier.wait();
        Ok(())
    }

    fn is_idle(&mut self) -> bool {
        true
    }
}

/// What a rank does; its result.
type Script<R> = fn(Channels, Member) -> R;

/// Run a script for each rank beside the others; the results by rank.
fn ranks<R: Send + 'static>(scripts: &[Script<R>]) -> Vec<R> {
    let (senders, receivers): (Vec<_>, Vec<_>) = scripts.iter().map(|_| channel()).unzip();
    let barrier = Arc::new(Barrier::new(scripts.len()));
    let threads: Vec<_> = receivers
        .into_iter()
        .zip(scripts)
        .enumerate()
        .map(|(rank, (from, &script))| {
            let (to, barrier) = (senders.clone(), barrier.clone());
            let build = "iosonde 1".to_owned();
            let member = Member { name: format!("h{rank}"), build, ..Member::default() };
            thread::spawn(move || script(Channels { rank, to, from, barrier }, member))
        })
        .collect();
    threads.into_iter().map(|thread| thread.join().unwrap()).collect()
}

const LIMITS: Limits =
    Limits { silence: Duration::from_secs(60), beat_every: Duration::from_millis(50) };

fn own(group: &HostGroup<Channels>) -> Option<String> {
    (group.rank() == 0).then(|| "the job".to_owned())
}

/// From the greeting to the gathered results.
fn whole(channels: Channels, member: Member) -> (String, Vec<String>) {
    let mut group = HostGroup::begin(channels, &member, LIMITS).unwrap();
    let shared = group.share(own(&group)).unwrap();
    group.agree("bs=4k", Ok(()), &mut || None).unwrap();
    group.meet(MeetingPoint::LaidOut, Ok(()), &mut || None).unwrap();
    for wave in 0..3 {
        group.meet(MeetingPoint::Wave(wave), Ok(()), &mut || None).unwrap();
    }
    let mut results = Vec::new();
    let result = group.rank().to_string().repeat(5000);
    let take = |rank, text: String| {
        results.push(format!("{rank}: {} of {}", text.len(), &text[..1]));
    };
    let taken = group.finish(&result, take, &mut || None);
    assert_eq!(taken, Ok(()));
    assert!(group.into_transport().1);
    // They come as they are ready.
    results.sort();
    (shared, results)
}

#[test]
fn all_run_the_job_of_rank_0_and_it_gets_all_results() {
    let ended = ranks::<(String, Vec<String>)>(&[whole, whole, whole]);
    assert!(ended.iter().all(|(shared, _)| shared == "the job"));
    assert_eq!(ended[0].1, ["0: 5000 of 0", "1: 5000 of 1", "2: 5000 of 2"]);
    assert_eq!(ended[1].1, [""; 0]);
    assert_eq!(ranks::<(String, Vec<String>)>(&[whole])[0].1, ["0: 5000 of 0"]);
}

#[test]
fn all_ranks_learn_the_largest_number() {
    let largest: Script<Vec<u64>> = |channels, member| {
        let mut group = HostGroup::begin(channels, &member, LIMITS).unwrap();
        group.share(own(&group)).unwrap();
        let own = [5, 40, 7][group.rank()];
        let mut most = |wave, own| group.most(wave, own, &mut || None).unwrap();
        vec![most(0, own), most(1, 50 - own)]
    };
    assert_eq!(ranks(&[largest, largest, largest]), [[40, 45], [40, 45], [40, 45]]);
}

#[test]
fn another_build_is_refused_on_all_ranks() {
    let same: Script<String> = |channels, member| match HostGroup::begin(channels, &member, LIMITS)
    {
        Ok(mut group) => group.share(own(&group)).unwrap_err(),
        Err(why) => why,
    };
    let other: Script<String> = |channels, member| {
        let member = Member { build: "iosonde 2".to_owned(), ..member };
        HostGroup::begin(channels, &member, LIMITS).unwrap().share(None).unwrap_err()
    };
    for why in ranks(&[same, other, same]) {
        assert!(why.contains("h1 has another build of iosonde (iosonde 2) than h0"), "{why}");
    }
}

#[test]
fn another_job_and_a_host_that_cannot_run_it_are_named_on_all_ranks() {
    fn agree(
        channels: Channels,
        member: Member,
        job: &str,
        own_state: Result<(), String>,
    ) -> String {
        let mut group = HostGroup::begin(channels, &member, LIMITS).unwrap();
        group.share(own(&group)).unwrap();
        group.agree(job, own_state, &mut || None).unwrap_err()
    }
    let same: Script<String> = |channels, member| agree(channels, member, "bs=4k; rw=read", Ok(()));
    let other: Script<String> =
        |channels, member| agree(channels, member, "bs=8k; rw=read", Ok(()));
    let refused: Script<String> =
        |channels, member| agree(channels, member, "", Err("no such engine".to_owned()));
    for why in ranks(&[same, other, same]) {
        assert!(why.contains("h1 has another job: bs=8k, and h0 bs=4k"), "{why}");
    }
    let ended = ranks(&[same, same, refused]);
    assert!(ended[..2].iter().all(|why| why == "h2: no such engine"), "{ended:?}");
    let ended = ranks(&[refused, same]);
    assert_eq!(ended[1], "h0: no such engine");
}

/// Meets for the layout; `own` is this host's state. Then all hand over what they have.
fn lays_out(channels: Channels, member: Member, own_state: Result<(), String>) -> (String, usize) {
    let mut group = HostGroup::begin(channels, &member, LIMITS).unwrap();
    group.share(own(&group)).unwrap();
    let why = group.meet(MeetingPoint::LaidOut, own_state, &mut || None).unwrap_err();
    let mut results = 0;
    group.finish("x", |_, _| results += 1, &mut || None).unwrap();
    (why, results)
}

#[test]
fn a_full_disk_on_one_host_ends_the_run_on_all_and_results_are_gathered() {
    let well: Script<(String, usize)> = |channels, member| lays_out(channels, member, Ok(()));
    let full: Script<(String, usize)> =
        |channels, member| lays_out(channels, member, Err("a: disk full".to_owned()));
    let ended = ranks(&[well, full, well]);
    assert_eq!(ended[0], ("h1: a: disk full".to_owned(), 3));
    assert_eq!(ended[2].0, "h1: a: disk full");
    let ended = ranks(&[full, well]);
    assert_eq!(ended[1].0, "h0: a: disk full");
}

#[test]
fn a_signal_while_a_host_waits_ends_the_wait_of_all() {
    fn waits(channels: Channels, member: Member, signalled: bool) -> String {
        let mut group = HostGroup::begin(channels, &member, LIMITS).unwrap();
        group.share(own(&group)).unwrap();
        let mut stopped = || signalled.then(|| "stopped by signal 2".to_owned());
        if group.rank() == 2 {
            // Never comes: the others must not need it.
            return group.share(None).unwrap_err();
        }
        group.meet(MeetingPoint::Wave(0), Ok(()), &mut stopped).unwrap_err()
    }
    let waiting: Script<String> = |channels, member| waits(channels, member, false);
    let signalled: Script<String> = |channels, member| waits(channels, member, true);
    let ended = ranks(&[waiting, signalled, waiting]);
    assert_eq!(ended[0], "h1: stopped by signal 2");
    assert_eq!(ended[2], "h1: stopped by signal 2");
}

#[test]
fn a_signal_in_the_barrier_of_a_start_is_heard() {
    let signalled: Script<(String, bool)> = |channels, member| {
        let mut group = HostGroup::begin(channels, &member, LIMITS).unwrap();
        group.share(own(&group)).unwrap();
        let mut stopped = || Some("stopped by signal 2".to_owned());
        let why = group.meet(MeetingPoint::Wave(0), Ok(()), &mut stopped).unwrap_err();
        (why, group.into_transport().1)
    };
    // Alone there is nothing to wait for but the barrier, and the others are not to be waited for.
    assert_eq!(ranks(&[signalled]), [("stopped by signal 2".to_owned(), false)]);
}

#[test]
fn a_silent_host_is_named_and_the_results_of_the_others_are_taken() {
    const SHORT: Limits =
        Limits { silence: Duration::from_secs(4), beat_every: Duration::from_millis(100) };
    let speaks: Script<(String, usize)> = |channels, member| {
        let mut group = HostGroup::begin(channels, &member, SHORT).unwrap();
        group.share(own(&group)).unwrap();
        let mut results = 0;
        let ended = group.finish("x", |_, _| results += 1, &mut || None);
        let is_whole = group.into_transport().1;
        assert_eq!(is_whole, ended.is_ok());
        (ended.err().unwrap_or_default(), results)
    };
    let silent: Script<(String, usize)> = |channels, member| {
        let mut group = HostGroup::begin(channels, &member, SHORT).unwrap();
        group.share(None).unwrap();
        let (_kept, _) = group.into_transport();
        (String::new(), 0)
    };
    let ended = ranks(&[speaks, silent, speaks]);
    assert_eq!(ended[0], ("h1 silent for 4 s (--mpi-timeout)".to_owned(), 2));
    assert_eq!(ended[2], (String::new(), 0));
}

fn end_jobs() -> Option<StopRequest> {
    Some(StopRequest::EndJobs("stopped by signal 2".to_owned()))
}

/// Jobs that run until another host ends them: why it did, and how many results came.
fn runs(channels: Channels, member: Member, limits: Limits) -> (String, usize) {
    let mut group = HostGroup::begin(channels, &member, limits).unwrap();
    group.share(own(&group)).unwrap();
    let why = loop {
        if let Err(why) = group.beat(&HostCounts::default()) {
            break why;
        }
        thread::sleep(Duration::from_millis(1));
    };
    let mut results = 0;
    // Who is silent is an error of this, too.
    let _ = group.finish("x", |_, _| results += 1, &mut || None);
    (why, results)
}

#[test]
fn a_signal_while_results_are_awaited_ends_the_jobs_of_all_hosts() {
    let running: Script<(String, usize)> = |channels, member| runs(channels, member, LIMITS);
    let signalled: Script<(String, usize)> = |channels, member| {
        let mut group = HostGroup::begin(channels, &member, LIMITS).unwrap();
        group.share(own(&group)).unwrap();
        let mut results = 0;
        group.finish("x", |_, _| results += 1, &mut end_jobs).unwrap();
        (String::new(), results)
    };
    let stopped = |why: &str, results| (why.to_owned(), results);
    let ended = ranks(&[signalled, running, running]);
    let others = stopped("h0: stopped by signal 2", 0);
    assert_eq!(ended, [stopped("", 3), others.clone(), others]);
    let ended = ranks(&[running, running, signalled]);
    let why = "h2: stopped by signal 2";
    assert_eq!(ended, [stopped(why, 3), stopped(why, 0), stopped("", 0)]);
}

#[test]
fn after_a_second_signal_a_host_that_still_runs_is_not_waited_for() {
    let impatient: Script<(String, usize)> = |channels, member| {
        let mut group = HostGroup::begin(channels, &member, LIMITS).unwrap();
        group.share(own(&group)).unwrap();
        let (mut results, mut asked) = (0, 0);
        let mut twice = || {
            asked += 1;
            let again = || StopRequest::GiveUp("signal 2 again".to_owned());
            if asked > 1 { Some(again()) } else { end_jobs() }
        };
        let why = group.finish("x", |_, _| results += 1, &mut twice).unwrap_err();
        assert!(!group.into_transport().1);
        (why, results)
    };
    let stuck: Script<(String, usize)> = |channels, member| {
        let mut group = HostGroup::begin(channels, &member, LIMITS).unwrap();
        group.share(None).unwrap();
        // Its jobs do not end.
        let (_kept, _) = group.into_transport();
        (String::new(), 0)
    };
    assert_eq!(ranks(&[impatient, stuck])[0], ("signal 2 again".to_owned(), 1));
}

#[test]
fn a_silent_host_ends_the_jobs_of_all_others() {
    const SHORT: Limits =
        Limits { silence: Duration::from_secs(4), beat_every: Duration::from_millis(100) };
    let running: Script<(String, usize)> = |channels, member| runs(channels, member, SHORT);
    let silent: Script<(String, usize)> = |channels, member| {
        let mut group = HostGroup::begin(channels, &member, SHORT).unwrap();
        group.share(None).unwrap();
        (String::new(), 0)
    };
    let ended = ranks(&[running, silent, running]);
    let why = "h1 silent for 4 s (--mpi-timeout)";
    assert_eq!((ended[0].0.as_str(), ended[2].0.as_str()), (why, why));
    assert_eq!(ended[0].1, 2);
}

/// A rank that gets what is no message, or not the one that was sent.
struct Damaged {
    channels: Channels,
    /// Messages until one is damaged.
    left: u32,
}

impl Transport for Damaged {
    fn rank(&self) -> usize {
        self.channels.rank()
    }

    fn ranks(&self) -> usize {
        self.channels.ranks()
    }

    fn send(&mut self, to: usize, message: Vec<u8>) {
        self.channels.send(to, message);
    }

    fn receive(&mut self) -> Option<Mail> {
        let (from, mut message) = self.channels.receive()?;
        if self.left == 0 {
            message.truncate(message.len() / 2);
        }
        self.left = self.left.wrapping_sub(1);
        Some((from, message))
    }

    fn barrier(
        &mut self,
        within: Duration,
        stopped: &mut dyn FnMut() -> Option<String>,
    ) -> Result<(), String> {
        self.channels.barrier(within, stopped)
    }

    fn is_idle(&mut self) -> bool {
        true
    }
}

#[test]
fn a_damaged_message_ends_the_run_wherever_it_comes() {
    /// Beats are counted, too, so that there are none.
    const QUIET: Limits =
        Limits { silence: Duration::from_secs(4), beat_every: Duration::from_secs(60) };
    /// All of a run but its barrier; the first error, or what is wrong with the end.
    fn run<T: Transport>(transport: T, member: Member) -> String {
        let mut group = match HostGroup::begin(transport, &member, QUIET) {
            Ok(group) => group,
            Err(why) => return why,
        };
        let own = (group.rank() == 0).then(|| "the job".to_owned());
        let mut errors = Vec::new();
        let mut note = |result: Result<(), String>| errors.extend(result.err());
        note(group.share(own).map(drop));
        note(group.agree("bs=4k", Ok(()), &mut || None));
        note(group.meet(MeetingPoint::LaidOut, Ok(()), &mut || None));
        note(group.finish("x", |_, _| {}, &mut || None));
        errors.into_iter().next().unwrap_or_default()
    }
    // Hello, twelve pongs, two arrivals and an end, twelve pongs again, and the result.
    for left in [0, 1, 12, 13, 14, 15, 16, 28] {
        let (senders, receivers): (Vec<_>, Vec<_>) = (0..2).map(|_| channel()).unzip();
        let barrier = Arc::new(Barrier::new(2));
        let mut ends = receivers.into_iter().enumerate().map(|(rank, from)| {
            let channels = Channels { rank, to: senders.clone(), from, barrier: barrier.clone() };
            (channels, Member { name: format!("h{rank}"), ..Member::default() })
        });
        let (leader, other) = (ends.next().unwrap(), ends.next().unwrap());
        let other = thread::spawn(move || run(other.0, other.1));
        let why = run(Damaged { channels: leader.0, left }, leader.1);
        let host = if left == 0 { "rank 1" } else { "h1" };
        let expected = format!("no progress: a message of {host} was lost or arrived damaged");
        assert_eq!(why, expected);
        other.join().unwrap();
    }
}

#[test]
fn ranks_on_one_machine_have_one_clock_and_start_asleep_where_it_is_crowded() {
    fn starts(channels: Channels, member: Member) -> (u64, u64) {
        let member = Member { machine: "m".to_owned(), processors: 2, ..member };
        let mut group = HostGroup::begin(channels, &member, LIMITS).unwrap();
        group.share(own(&group)).unwrap();
        let before = iosonde_base::time::unix_ns();
        // The barrier of this transport would wait for a rank more.
        group.meet(MeetingPoint::Wave(0), Ok(()), &mut || None).unwrap();
        let waited = iosonde_base::time::unix_ns() - before;
        group.finish("x", |_, _| {}, &mut || None).unwrap();
        (waited, group.clock(1).error_ns)
    }
    let ended = ranks::<(u64, u64)>(&[starts, starts, starts]);
    assert!(ended[0].0 >= 20_000_000, "{ended:?}");
    assert_eq!(ended[0].1, 0);
}
