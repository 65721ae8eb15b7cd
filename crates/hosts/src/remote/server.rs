//! One server as the client sees it: how far it is, and when it was last heard of.

use super::clock::{ClockTrips, with_drift};
use super::frames::Frame;
use crate::group::message::Message;
use crate::wire::Channel;
use iosonde_report::hosts::ClockOffset;
use std::time::Instant;

/// A server, and its part in the run.
pub(super) struct Server {
    pub channel: Channel,
    /// As the user named it.
    pub name: String,
    /// What it is to run.
    pub order: String,
    pub heard: Instant,
    pub stage: ServerStage,
    pub clock: ClockOffset,
    /// The job as all have to have it for later waves to start together.
    pub job: String,
    /// The number that it came to its point with.
    pub most: u64,
}

/// How far a server is.
#[derive(Debug)]
pub(super) enum ServerStage {
    /// It has not said who it is.
    Greeting,
    /// Its clock is compared, before the run.
    Comparing(ClockTrips),
    /// It works, and will come to a point or to its end.
    Working,
    /// It waits at a point.
    At(u32),
    /// It was let go and will come to its gate.
    LetGo,
    /// It waits at its gate.
    AtGate,
    /// Its jobs have ended; its clock is compared again.
    Ended(ClockTrips),
    /// Its result is awaited.
    Giving,
    /// Its result has come.
    Over,
    /// Nothing is to be had of it any more.
    Lost,
}

impl Server {
    pub fn new(channel: Channel, name: String) -> Server {
        let (order, job) = Default::default();
        let (stage, clock) = (ServerStage::Greeting, ClockOffset::default());
        Server { channel, name, order, heard: Instant::now(), stage, clock, job, most: 0 }
    }

    /// Whether something is to come of it.
    pub fn is_awaited(&self) -> bool {
        !matches!(self.stage, ServerStage::Over | ServerStage::Lost)
    }

    pub fn send(&mut self, message: Message) {
        self.put(Frame::Message(message));
    }

    pub fn put(&mut self, frame: Frame) {
        let (kind, bytes) = frame.into_bytes();
        self.channel.send(kind, &bytes);
    }

    /// Compare the clocks, and go on afterwards.
    pub fn compare_clock(&mut self, stage: fn(ClockTrips) -> ServerStage) {
        let mut trips = ClockTrips::default();
        trips.begin();
        self.stage = stage(trips);
        self.send(Message::Ping);
    }

    /// What its clock said; the next trip, or what follows the last.
    pub fn pong(&mut self, theirs: u64) {
        let (ServerStage::Comparing(trips) | ServerStage::Ended(trips)) = &mut self.stage else {
            return;
        };
        let Some(offset) = trips.end(theirs) else {
            trips.begin();
            return self.send(Message::Ping);
        };
        if matches!(self.stage, ServerStage::Comparing(_)) {
            self.clock = offset;
            self.stage = ServerStage::Working;
            self.send(Message::Setup(self.order.clone()));
        } else {
            self.clock = with_drift(self.clock, offset);
            self.stage = ServerStage::Giving;
            self.send(Message::Take);
        }
    }
}
