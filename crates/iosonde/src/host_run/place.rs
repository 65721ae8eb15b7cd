//! A host's place among several: by flags, or by what launchers set.

use iosonde_hosts::member;
use iosonde_spec::cli::flags::HostFlags;

/// A host's name and place.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RankPlace {
    /// The host's name.
    pub name: String,
    /// From 0.
    pub rank: u32,
    /// How many hosts there are.
    pub ranks: u32,
    /// Names of all hosts, where they are known.
    pub names: Vec<String>,
}

impl RankPlace {
    /// By `--rank` and `--ranks`, else Slurm's or Kubernetes' variables.
    ///
    /// # Errors
    /// There is no place, or it is not among the hosts.
    pub fn of(
        flags: &HostFlags,
        variable: impl Fn(&str) -> Option<String>,
    ) -> Result<RankPlace, String> {
        let number = |name: &str| variable(name)?.parse::<u32>().ok();
        let rank = flags.rank.or_else(|| number("SLURM_PROCID"));
        let rank = rank.or_else(|| number("JOB_COMPLETION_INDEX"));
        let ranks = flags.ranks.or_else(|| {
            number("SLURM_PROCID")
                .and_then(|_| number("SLURM_STEP_NUM_TASKS").or(number("SLURM_NTASKS")))
        });
        let rank = rank.ok_or(
            "this host's place is not known: give --rank=I and --ranks=N (Slurm's SLURM_PROCID and Kubernetes' \
             JOB_COMPLETION_INDEX are taken as well)",
        )?;
        let ranks = ranks.ok_or("--ranks=N is missing: how many hosts there are")?;
        if rank >= ranks {
            return Err(format!("--rank={rank} is not below --ranks={ranks}: ranks count from 0"));
        }
        Ok(RankPlace { name: member::host_name(), rank, ranks, names: Vec::new() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(
        rank: Option<u32>,
        ranks: Option<u32>,
        set: &[(&str, &str)],
    ) -> Result<(u32, u32), String> {
        let find = |name: &str| {
            let found = set.iter().find(|(known, _)| *known == name);
            found.map(|(_, value)| (*value).to_owned())
        };
        let flags = HostFlags { rank, ranks, ..HostFlags::default() };
        RankPlace::of(&flags, find).map(|place| (place.rank, place.ranks))
    }

    #[test]
    fn a_place_is_that_of_the_flags_or_of_a_launcher() {
        assert_eq!(of(Some(1), Some(2), &[("SLURM_PROCID", "7")]), Ok((1, 2)));
        assert_eq!(of(None, None, &[("SLURM_PROCID", "3"), ("SLURM_NTASKS", "4")]), Ok((3, 4)));
        assert_eq!(of(None, Some(5), &[("JOB_COMPLETION_INDEX", "4")]), Ok((4, 5)));
        for (refused, words) in [
            (of(None, Some(2), &[]), "--rank=I"),
            (of(Some(0), None, &[]), "--ranks=N is missing"),
            (of(Some(2), Some(2), &[]), "not below --ranks=2"),
        ] {
            let why = refused.unwrap_err();
            assert!(why.contains(words), "{why}");
        }
    }
}
