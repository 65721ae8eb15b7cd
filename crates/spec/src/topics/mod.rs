//! The options of a job, a topic a file. Adding an option is adding an entry; adding a topic
//! is adding a file and a line here.

mod block;
mod buffers;
mod compress;
mod cpu;
mod depth;
mod durability;
mod engine;
pub mod engines;
mod errors;
mod file_life;
mod files;
mod flow;
mod job;
mod latency_goal;
mod log;
mod measure;
mod order;
mod placement;
mod random;
mod rate;
mod replay;
mod retired;
mod size;
mod steady;
mod think;
mod time;
mod trim;
mod units;
mod verify;
mod zones;

pub use block::Block;
pub use buffers::Buffers;
pub use compress::Compress;
pub use cpu::Cpu;
pub use depth::Depth;
pub use durability::Durability;
pub use engine::Engine;
pub use errors::Errors;
pub use file_life::FileLife;
pub use files::Files;
pub use flow::Flow;
pub use job::Job;
pub use latency_goal::LatencyGoal;
pub use log::Log;
pub use measure::Measure;
pub use order::Order;
pub use placement::Placement;
pub use random::Random;
pub use rate::Rate;
pub use replay::Replay;
pub use retired::Retired;
pub use size::Size;
pub use steady::Steady;
pub use think::Think;
pub use time::Time;
pub use trim::Trim;
pub use units::Units;
pub use verify::VerifyTopic;
pub use zones::Zones;

/// Calls `$run` with the topics of a job, each as `field: Topic,`.
macro_rules! each_topic {
    ($run:ident) => {
        $run! {
            /// What suffixes mean.
            units: Units,
            /// Name, copies, groups.
            job: Job,
            /// Directions and their order.
            order: Order,
            /// Block sizes.
            block: Block,
            /// Random places.
            random: Random,
            /// How much.
            size: Size,
            /// Which files.
            files: Files,
            /// How files come, stay and go.
            file_life: FileLife,
            /// When data must be on storage.
            durability: Durability,
            /// The engine.
            engine: Engine,
            /// How many I/Os fly.
            depth: Depth,
            /// When it starts and ends.
            time: Time,
            /// What is in the buffers, and where they live.
            buffers: Buffers,
            /// How well buffers compress and deduplicate.
            compress: Compress,
            /// Processors, priorities, processes.
            cpu: Cpu,
            /// Rates.
            rate: Rate,
            /// Pauses.
            think: Think,
            /// A goal for latency.
            latency_goal: LatencyGoal,
            /// Shares between jobs.
            flow: Flow,
            /// Zones of a file or device.
            zones: Zones,
            /// Where a device puts data.
            placement: Placement,
            /// Verification.
            verify: VerifyTopic,
            /// Trims beside verification.
            trim: Trim,
            /// Recording and replay.
            replay: Replay,
            /// Steady state.
            steady: Steady,
            /// What is measured and reported.
            measure: Measure,
            /// Logs.
            log: Log,
            /// What is done about errors.
            errors: Errors,
            /// What fio has retired.
            retired: Retired,
        }
    };
}

pub(crate) use each_topic;
