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

pub use block::BlockOptions;
pub use buffers::BuffersOptions;
pub use compress::CompressOptions;
pub use cpu::CpuOptions;
pub use depth::DepthOptions;
pub use durability::DurabilityOptions;
pub use engine::EngineOptions;
pub use errors::ErrorsOptions;
pub use file_life::FileLifeOptions;
pub use files::FilesOptions;
pub use flow::FlowOptions;
pub use job::JobOptions;
pub use latency_goal::LatencyGoalOptions;
pub use log::LogOptions;
pub use measure::MeasureOptions;
pub use order::OrderOptions;
pub use placement::PlacementOptions;
pub use random::RandomOptions;
pub use rate::RateOptions;
pub use replay::ReplayOptions;
pub use retired::RetiredOptions;
pub use size::SizeOptions;
pub use steady::SteadyOptions;
pub use think::ThinkOptions;
pub use time::TimeOptions;
pub use trim::TrimOptions;
pub use units::UnitsOptions;
pub use verify::VerifyOptions;
pub use zones::ZonesOptions;

/// Calls `$run` with the topics of a job, each as `field: Topic,`.
macro_rules! each_topic {
    ($run:ident) => {
        $run! {
            /// What suffixes mean.
            units: UnitsOptions,
            /// Name, copies, groups.
            job: JobOptions,
            /// Directions and their order.
            order: OrderOptions,
            /// Block sizes.
            block: BlockOptions,
            /// Random offsets.
            random: RandomOptions,
            /// How much.
            size: SizeOptions,
            /// Which files.
            files: FilesOptions,
            /// How files come, stay and go.
            file_life: FileLifeOptions,
            /// When data must be on storage.
            durability: DurabilityOptions,
            /// The engine.
            engine: EngineOptions,
            /// How many I/Os fly.
            depth: DepthOptions,
            /// When it starts and ends.
            time: TimeOptions,
            /// What is in the buffers, and where they live.
            buffers: BuffersOptions,
            /// How well buffers compress and deduplicate.
            compress: CompressOptions,
            /// Processors, priorities, processes.
            cpu: CpuOptions,
            /// Rates.
            rate: RateOptions,
            /// Pauses.
            think: ThinkOptions,
            /// A goal for latency.
            latency_goal: LatencyGoalOptions,
            /// Shares between jobs.
            flow: FlowOptions,
            /// Zones of a file or device.
            zones: ZonesOptions,
            /// Where a device puts data.
            placement: PlacementOptions,
            /// Verification.
            verify: VerifyOptions,
            /// Trims beside verification.
            trim: TrimOptions,
            /// Recording and replay.
            replay: ReplayOptions,
            /// Steady state.
            steady: SteadyOptions,
            /// What is measured and reported.
            measure: MeasureOptions,
            /// Logs.
            log: LogOptions,
            /// What is done about errors.
            errors: ErrorsOptions,
            /// What fio has retired.
            retired: RetiredOptions,
        }
    };
}

pub(crate) use each_topic;
