//! Which requests fail, and how: rules whose dice come from a seed.

use crate::Dice;
use crate::forge::HeaderField;
use std::collections::HashMap;

/// What a rule applies to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Target {
    /// Reads of data.
    Read,
    /// Writes of data.
    Write,
    /// fsync, fdatasync.
    Sync,
    /// open(2), also of a file that it creates.
    Open,
    /// stat(2).
    Attributes,
    /// ftruncate(2).
    Resize,
    /// fallocate(2).
    Reserve,
    /// close(2) of a descriptor that may write.
    Close,
}

/// A way to fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Fault {
    /// The request ends with EIO and does nothing.
    InputOutputError,
    /// The request ends with ENOSPC and does nothing.
    NoSpace,
    /// The request ends with EINTR several times in a row, then is done.
    Interrupted,
    /// Half of the request is done and reported.
    Short,
    /// The request is done some milliseconds later.
    Delay,
    /// The request is done after more than a second.
    Hang,
    /// One bit of what is read or stored is inverted.
    BitFlip,
    /// A write is acknowledged and not stored.
    LostWrite,
    /// A write is stored in another block of the file.
    MisdirectedWrite,
    /// Of a write, only the first sectors are stored.
    TornWrite,
    /// A write is stored with one field of its block's header changed.
    Forged(HeaderField),
    /// A sync is acknowledged and does nothing.
    LyingSync,
}

/// A fault and how often it happens.
#[derive(Clone, Copy, Debug)]
pub struct Rule {
    /// Which requests it is for.
    pub target: Target,
    /// What happens to them.
    pub fault: Fault,
    /// To how many of 1000.
    pub per_mille: u64,
}

/// The rules of a mount and the state that they need.
#[derive(Debug)]
pub struct Script {
    seed: u64,
    rules: Vec<Rule>,
    /// How often each request has come before.
    visits: HashMap<(Target, u64), u64>,
    /// How many interruptions of a request are still to come.
    storms: HashMap<(Target, u64), u64>,
}

/// How many times in a row a request is interrupted at most.
const INTERRUPTIONS_MOST: u64 = 5;

impl Script {
    /// These rules, with the dice of `seed`.
    pub fn new(seed: u64, rules: Vec<Rule>) -> Script {
        Script { seed, rules, visits: HashMap::new(), storms: HashMap::new() }
    }

    /// What happens to this request, and the dice for the details.
    pub fn decide(&mut self, target: Target, offset: u64) -> (Option<Fault>, Dice) {
        if let Some(left) = self.storms.get_mut(&(target, offset)) {
            *left -= 1;
            if *left == 0 {
                self.storms.remove(&(target, offset));
            }
            return (Some(Fault::Interrupted), Dice::new(self.seed));
        }
        let visit = self.visits.entry((target, offset)).or_default();
        let mut dice = Dice::of(self.seed, &[target as u64, offset, *visit]);
        *visit += 1;
        let rules = self.rules.iter().filter(|rule| rule.target == target);
        let fault = rules.into_iter().find(|rule| dice.happens(rule.per_mille));
        let fault = fault.map(|rule| rule.fault);
        if fault == Some(Fault::Interrupted) {
            let more = dice.below(INTERRUPTIONS_MOST);
            if more > 0 {
                self.storms.insert((target, offset), more);
            }
        }
        (fault, dice)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decided(seed: u64, offsets: &[u64]) -> HashMap<u64, Option<Fault>> {
        let rule = Rule { target: Target::Write, fault: Fault::LostWrite, per_mille: 300 };
        let mut script = Script::new(seed, vec![rule]);
        offsets.iter().map(|offset| (*offset, script.decide(Target::Write, *offset).0)).collect()
    }

    #[test]
    fn a_seed_decides_the_same_in_any_order() {
        let ahead: Vec<u64> = (0..100).collect();
        let back: Vec<u64> = (0..100).rev().collect();
        let faults = decided(3, &ahead);
        assert_eq!(faults, decided(3, &back));
        assert_ne!(faults, decided(4, &ahead));
        let count = faults.values().flatten().count();
        assert!((10..60).contains(&count), "{count}");
    }

    #[test]
    fn an_interrupted_request_is_done_in_the_end() {
        let rule = Rule { target: Target::Read, fault: Fault::Interrupted, per_mille: 500 };
        for seed in 0..50 {
            let mut script = Script::new(seed, vec![rule]);
            // Each visit draws again; the chance of 60 in a row is none.
            assert!((0..60).any(|_| script.decide(Target::Read, 0).0.is_none()), "{seed}");
        }
    }

    #[test]
    fn a_rule_is_for_its_target_only() {
        let rule = Rule { target: Target::Sync, fault: Fault::LyingSync, per_mille: 1000 };
        let mut script = Script::new(1, vec![rule]);
        assert_eq!(script.decide(Target::Write, 0).0, None);
        assert_eq!(script.decide(Target::Sync, 0).0, Some(Fault::LyingSync));
    }
}
