//! From the words of the job language to those of the workload.

use iosonde_base::{DIRS, Dir, PerDir};
use iosonde_spec::values::{self, RandomDistribution, RwWord};
use iosonde_workload::{Directions, Distribution, FilePick, FileService, Zone};

/// The directions of `rw`.
pub(super) fn directions(word: RwWord) -> Directions {
    Directions {
        read: word.reads(),
        write: word.writes(),
        trim: word.trims(),
        random: word.is_random(),
        trim_then_write: word.trims() && word.writes(),
    }
}

/// Which directions `rw` has.
pub(super) fn dirs(word: RwWord) -> PerDir<bool> {
    PerDir(DIRS.map(|dir| match dir {
        Dir::Read => word.reads(),
        Dir::Write => word.writes(),
        Dir::Trim => word.trims(),
    }))
}

/// `random_distribution`.
pub(super) fn distribution(asked: &RandomDistribution) -> Distribution {
    let zones = |lists: &[Vec<values::AccessZone>; 3]| {
        let zone = |zone: &values::AccessZone| Zone { percent: zone.percent, size: zone.size };
        PerDir(lists.each_ref().map(|list| list.iter().map(zone).collect::<Vec<Zone>>()))
    };
    match asked {
        RandomDistribution::Random => Distribution::Random,
        RandomDistribution::Zipf { theta, center } => {
            Distribution::Zipf { theta: *theta, center: *center }
        }
        RandomDistribution::Pareto { h, center } => Distribution::Pareto { h: *h, center: *center },
        RandomDistribution::Normal { deviation, center } => {
            Distribution::Normal { deviation: *deviation, center: *center }
        }
        RandomDistribution::Zoned(lists) => Distribution::Zoned(zones(lists)),
        RandomDistribution::ZonedAbs(lists) => Distribution::ZonedAbs(zones(lists)),
        RandomDistribution::Sequence(blocks) => Distribution::Sequence(blocks.clone()),
    }
}

/// `file_service_type`.
pub(super) fn file_service(asked: &values::FileServiceType) -> FileService {
    let pick = match asked.pick {
        values::FilePick::RoundRobin => FilePick::RoundRobin,
        values::FilePick::Sequential => FilePick::Sequential,
        values::FilePick::Random => FilePick::Random,
        values::FilePick::Zipf { theta, center } => FilePick::Zipf { theta, center },
        values::FilePick::Pareto { h, center } => FilePick::Pareto { h, center },
        values::FilePick::Normal { deviation, center } => FilePick::Normal { deviation, center },
    };
    FileService { pick, every: asked.every.max(1) }
}
