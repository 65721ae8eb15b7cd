//! Values with a syntax of their own: `rw=randread:8`, `bssplit=4k/60:64k/40`.

mod bssplit;
mod distribution;
mod engine_name;
mod errors;
mod file_service;
mod file_size;
mod memory;
mod numa;
mod pattern;
mod rw;
mod steady_state;
mod sync_range;
mod words;

pub use bssplit::{BsSplit, Portion};
pub use distribution::RandomDistribution;
pub use engine_name::EngineName;
pub(crate) use engine_name::UNAVAILABLE_NAMES;
pub use errors::IgnoreErrors;
pub use file_service::FileServiceType;
pub use file_size::FileSize;
pub use memory::{BufferMemory, MemoryWord};
pub use numa::{NodeList, NumaMemory, PolicyKind};
pub use pattern::{PatternPart, PatternText};
pub use rw::{Rw, RwWord};
pub use steady_state::{Criterion, Limit, SteadyGoal};
pub use sync_range::{SyncFileRange, SyncRangeWord};
pub use words::*;
