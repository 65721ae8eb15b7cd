//! How much memory it takes to remember the writes that are to be checked, and
//! whether there is as much: said before anything runs.

use super::refuse::about;
use crate::job::VerifyPlan;
use iosonde_base::text::{bytes, count};
use iosonde_options::Diagnostic;
use iosonde_spec::JobSpec;
use iosonde_sys::memory::available_bytes;
use iosonde_sys::memory_limit::{MemoryRoom, memory_room};
use iosonde_verify::{CheckOrder, Checks};
use iosonde_workload::{Sizes, SourceSpec};

/// The most that a remembered write takes, in bytes (`iosonde_verify::History`).
const EACH: u64 = 40;

/// Below this nobody has to ask what is available.
const SMALL: u64 = 256 << 20;

/// What is said of a job that will remember more than fits: an error, or, of a
/// job that its runtime may end before, a warning.
pub(super) fn judge(
    spec: &JobSpec,
    source: &SourceSpec,
    plan: &VerifyPlan,
) -> Result<Option<Diagnostic>, Diagnostic> {
    let writes = writes_remembered(source, plan);
    let needed = writes.saturating_mul(EACH);
    if needed < SMALL {
        return Ok(None);
    }
    let Some(available) = available_bytes() else { return Ok(None) };
    judge_memory(spec, [writes, needed, available], memory_room())
}

/// What is said where `room` is what the tightest control group leaves.
fn judge_memory(
    spec: &JobSpec,
    [writes, needed, available]: [u64; 3],
    room: Option<MemoryRoom>,
) -> Result<Option<Diagnostic>, Diagnostic> {
    if needed <= available {
        return Ok(None);
    }
    let by = match room.filter(|room| room.bytes <= available) {
        Some(room) => format!(" by {}", room.limit.display()),
        None => String::new(),
    };
    let words = format!(
        "up to {} writes are remembered until they are checked: that takes {} of memory, and {} is \
         available{by}",
        count(writes as f64),
        bytes(needed),
        bytes(available)
    );
    let help = "use verify_backlog=N, experimental_verify=1, a smaller size or a larger bs";
    let error = about(&spec.verify.verify, "verify", words).help(help);
    if spec.time.runtime.is_set() {
        Ok(Some(Diagnostic { level: iosonde_options::Level::Warning, ..error }))
    } else {
        Err(error)
    }
}

/// Writes that are remembered at a time, at most. Those of a sequential job
/// follow each other, and are remembered together.
fn writes_remembered(source: &SourceSpec, plan: &VerifyPlan) -> u64 {
    let backlogs = &plan.spec.backlogs;
    let remembers = backlogs.verify || backlogs.trim_after > 0;
    if plan.spec.checks == Checks::Reads || plan.spec.draws_again || !remembers {
        return 0;
    }
    let sizes = &source.sizes[iosonde_base::Dir::Write];
    let in_order = !source.directions.random && source.files.len() == 1;
    if in_order && matches!(sizes, Sizes::Fixed(_)) && source.replay.is_none() {
        return 0;
    }
    let span = source.files.iter().fold(0u64, |sum, file| sum.saturating_add(file.size));
    // Of a place that is written twice only the last write is remembered.
    let bytes = match plan.spec.order {
        CheckOrder::Issue => source.total_bytes.min(span),
        CheckOrder::Offset => span.min(source.total_bytes.saturating_mul(source.loops)),
    };
    let share =
        if source.directions.read { 100 - u64::from(source.rwmixread.min(100)) } else { 100 };
    let mean = (u64::from(sizes.min()) + u64::from(sizes.max())) / 2;
    let by_bytes = (u128::from(bytes / mean.max(1)) * u128::from(share) / 100) as u64;
    let by_count = match source.number_ios {
        0 => u64::MAX,
        ios => ios.saturating_mul(source.loops),
    };
    let by_backlog = match backlogs.verify_after {
        0 => u64::MAX,
        after => after.saturating_mul(2),
    };
    by_bytes.min(by_count).min(by_backlog)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_than_is_available_is_an_error_and_with_a_runtime_a_warning() {
        let mut spec = JobSpec::default();
        assert_eq!(judge_memory(&spec, [10, 400, 400], None), Ok(None));
        let error = judge_memory(&spec, [1 << 28, 40 << 28, 8 << 30], None).unwrap_err();
        assert!(error.message.ends_with("10 GiB of memory, and 8 GiB is available"), "{error:?}");
        let origin = iosonde_options::Origin::CommandLine { index: 1 };
        spec.set("runtime", Some("10"), origin).unwrap();
        let warning = judge_memory(&spec, [1 << 28, 40 << 28, 8 << 30], None).unwrap().unwrap();
        assert_eq!(warning.level, iosonde_options::Level::Warning);
    }

    #[test]
    fn the_limit_of_a_control_group_is_named_where_it_is_the_tightest() {
        let spec = JobSpec::default();
        let message = |bytes: u64| {
            let room = MemoryRoom { bytes, limit: "/sys/fs/cgroup/a/memory.max".into() };
            let sizes = [1 << 28, 40 << 28, bytes.min(8 << 30)];
            judge_memory(&spec, sizes, Some(room)).unwrap_err().message
        };
        assert!(message(1 << 30).ends_with("1 GiB is available by /sys/fs/cgroup/a/memory.max"));
        assert!(message(9 << 30).ends_with("8 GiB is available"));
    }
}
