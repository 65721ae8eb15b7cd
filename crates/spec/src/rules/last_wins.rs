//! Pairs of options for one setting: the last one given counts.

use iosonde_options::{CpuSet, Origin, Setting};

use crate::JobSpec;

/// Sets the partner of the option just set accordingly.
pub(crate) fn last_wins(spec: &mut JobSpec, name: &str) {
    let (order, io, cpu) = (&mut spec.order, &mut spec.durability, &mut spec.cpu);
    match name {
        "rwmixread" => {
            let reads = *order.rwmixread.get();
            order.rwmixwrite.force(100 - reads, "rwmixread");
        }
        "rwmixwrite" => {
            let writes = *order.rwmixwrite.get();
            order.rwmixread.force(100 - writes, "rwmixwrite");
        }
        "direct" => {
            let direct = *io.direct.get();
            io.buffered.force(!direct, "direct");
        }
        "buffered" => {
            let buffered = *io.buffered.get();
            io.direct.force(!buffered, "buffered");
        }
        "cpumask" => {
            let mask = cpu.cpumask.get().unwrap_or(0);
            let cpus = (0..64).filter(|cpu| mask >> cpu & 1 == 1).collect();
            cpu.cpus_allowed.force(Some(CpuSet(cpus)), "cpumask");
        }
        "cpus_allowed" if is_typed(&cpu.cpumask) => cpu.cpumask.force(None, "cpus_allowed"),
        _ => {}
    }
}

fn is_typed<T>(setting: &Setting<T>) -> bool {
    !matches!(setting.origin(), Origin::Default | Origin::Implied { .. })
}

#[cfg(test)]
mod tests {
    use crate::rules::testing::job;

    #[test]
    fn the_share_given_last_sets_the_other() {
        let spec = job(&["rwmixread=90", "rwmixwrite=80"]);
        assert_eq!((*spec.order.rwmixread.get(), *spec.order.rwmixwrite.get()), (20, 80));
        let spec = job(&["rwmixwrite=80", "rwmixread=90"]);
        assert_eq!((*spec.order.rwmixread.get(), *spec.order.rwmixwrite.get()), (90, 10));
    }

    #[test]
    fn direct_and_buffered_are_opposites() {
        assert!(*job(&["buffered=0"]).durability.direct.get());
        assert!(!*job(&["direct=1", "buffered=1"]).durability.direct.get());
        assert!(!*job(&["buffered=1", "direct=1"]).durability.buffered.get());
    }

    #[test]
    fn a_mask_of_processors_is_a_list_of_them() {
        assert_eq!(job(&["cpumask=0x15"]).show("cpus_allowed").as_deref(), Some("0,2,4"));
        let spec = job(&["cpumask=0x15", "cpus_allowed=3"]);
        assert_eq!(spec.show("cpus_allowed").as_deref(), Some("3"));
        assert_eq!(spec.show("cpumask").as_deref(), Some(""));
    }
}
