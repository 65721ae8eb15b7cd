//! Ranks on one machine see the same devices and the traffic of each other: its devices are
//! listed once, and what no rank caused is what others did.

use super::shared::SharedTexts;
use iosonde_report::conclusion::{Conclusion, Outcome, RunEnding, conclude};
use iosonde_report::finding::Finding;
use iosonde_report::ledger::{Fact, Ledger, OtherTraffic};
use iosonde_report::{DiskReport, Report};
use std::collections::BTreeMap;

/// The rule that is judged of a machine.
const OTHER_TRAFFIC: &str = "other-traffic";

/// The machines of the results so far, by their identity.
#[derive(Debug, Default)]
pub(super) struct Machines {
    known: BTreeMap<String, Machine>,
}

/// What the ranks of a machine saw of it.
#[derive(Debug, Default)]
struct Machine {
    /// Its name.
    name: String,
    ranks: u32,
    disks: Vec<DiskReport>,
    /// Bytes that each device right below the files read and wrote, at most in any rank's time.
    moved: BTreeMap<String, [u64; 2]>,
    /// Bytes that its ranks caused; unknown where one does not know.
    own: [Fact<u64>; 2],
    /// What a rank that is alone there found of it.
    alone: Option<Finding>,
}

impl Machines {
    /// Add a result of a machine, and take from it what is of the machine: disks, and the
    /// finding on others' traffic; whether there was one.
    pub fn add(&mut self, machine: &str, host: &str, report: &mut Report) -> bool {
        let known = self.known.entry(machine.to_owned()).or_insert_with(|| Machine {
            name: host.to_owned(),
            own: [Fact::Known(0), Fact::Known(0)],
            ..Machine::default()
        });
        known.ranks += 1;
        for disk in std::mem::take(&mut report.disks) {
            known.add_disk(disk);
        }
        let Some(ledger) = &mut report.ours.ledger else { return false };
        known.add_traffic(ledger);
        let found = ledger.verdict.iter().position(|finding| finding.id == OTHER_TRAFFIC);
        known.alone = found.map(|at| ledger.verdict.remove(at));
        found.is_some()
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.known.len()
    }

    /// Whether several ranks are on the machine.
    pub fn is_shared(&self, machine: &str) -> bool {
        self.known.get(machine).is_some_and(|machine| machine.ranks > 1)
    }

    /// The disks of all, each once, with the machine's name.
    pub fn disks(&mut self) -> Vec<DiskReport> {
        let of = |machine: &mut Machine| {
            let name = machine.name.clone();
            std::mem::take(&mut machine.disks).into_iter().map(move |mut disk| {
                disk.name = format!("{name}: {}", disk.name);
                disk
            })
        };
        self.known.values_mut().flat_map(of).collect()
    }

    /// Add what is found of each machine.
    pub fn judge(self, texts: &mut SharedTexts) {
        for machine in self.known.into_values() {
            let found = match machine.ranks {
                0 | 1 => machine.alone,
                _ => judged(machine.others()),
            };
            if let Some(found) = found {
                texts.findings(&machine.name, &[found]);
            }
        }
    }
}

impl Machine {
    /// Counters of the same device: the time of one rank holds that of the others, or nearly.
    fn add_disk(&mut self, disk: DiskReport) {
        match self.disks.iter_mut().find(|known| known.name == disk.name) {
            Some(known) if sectors(known) >= sectors(&disk) => {}
            Some(known) => *known = disk,
            None => self.disks.push(disk),
        }
    }

    fn add_traffic(&mut self, ledger: &Ledger) {
        let mut moved = [0u64; 2];
        for device in ledger.devices.iter().filter(|device| device.level == 0) {
            let Some(used) = device.used.get() else { continue };
            let bytes = [used.read_bytes, used.write_bytes];
            let most = self.moved.entry(device.name.clone()).or_default();
            for at in 0..2 {
                most[at] = most[at].max(bytes[at]);
                moved[at] += bytes[at];
            }
        }
        let others = &ledger.other_traffic;
        for (at, foreign) in [&others.read_bytes, &others.written_bytes].into_iter().enumerate() {
            self.own[at] = match (&self.own[at], foreign) {
                (Fact::Known(own), Fact::Known(foreign)) => {
                    Fact::Known(own + moved[at].saturating_sub(*foreign))
                }
                (Fact::Unknown(why), _) | (_, Fact::Unknown(why)) => Fact::Unknown(why.clone()),
            };
        }
    }

    /// What its devices moved, and no rank caused.
    fn others(&self) -> OtherTraffic {
        let moved = |at: usize| self.moved.values().map(|bytes| bytes[at]).sum::<u64>();
        let foreign = |at: usize| match &self.own[at] {
            Fact::Known(own) => Fact::Known(moved(at).saturating_sub(*own)),
            Fact::Unknown(why) => Fact::Unknown(why.clone()),
        };
        let (read_bytes, written_bytes) = (foreign(0), foreign(1));
        let all = moved(0) + moved(1);
        let share = match (&read_bytes, &written_bytes) {
            (Fact::Unknown(why), _) => Fact::Unknown(why.clone()),
            _ if all == 0 => Fact::Known(0.0),
            (Fact::Known(read), written) => {
                Fact::Known((read + written.get().unwrap_or(0)) as f64 / all as f64)
            }
        };
        OtherTraffic { read_bytes, written_bytes, share }
    }
}

/// The finding on others' traffic, if it is one.
fn judged(other_traffic: OtherTraffic) -> Option<Finding> {
    let ledger = Ledger { other_traffic, ..Ledger::default() };
    iosonde_witness::judge(&ledger).into_iter().find(|finding| finding.id == OTHER_TRAFFIC)
}

/// The conclusion of a result without the finding that [`Machines::add`] took from it.
pub(super) fn without_finding(report: &Report, stored: &Conclusion) -> Conclusion {
    match stored.outcome {
        Outcome::Completed => conclude(report, &RunEnding::of_jobs(&report.jobs)),
        _ => stored.clone(),
    }
}

fn sectors(disk: &DiskReport) -> u64 {
    let requests = disk.counts.ios.iter().sum();
    disk.counts.sectors.map_or(requests, |both| both.iter().sum())
}
