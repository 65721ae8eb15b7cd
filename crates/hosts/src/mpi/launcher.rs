//! What started this program as one of several, by its environment.

/// A launcher of MPI programs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Launcher {
    /// Its name.
    pub name: &'static str,
    /// How many ranks it has started.
    pub ranks: usize,
    /// Libraries of MPI that go with it, the likeliest first.
    libraries: &'static [&'static str],
}

const OPEN_MPI: &[&str] = &["libmpi.so.40", "libmpi.so", "libmpi_abi.so.1", "libmpi_abi.so.0"];
const MPICH: &[&str] =
    &["libmpich.so.12", "libmpi.so.12", "libmpi_abi.so.1", "libmpi_abi.so.0", "libmpi.so"];
const EITHER: &[&str] = &["libmpi.so.40", "libmpich.so.12", "libmpi.so.12", "libmpi_abi.so.1"];

impl Launcher {
    /// The launcher, by variables that it sets.
    pub fn of(variable: impl Fn(&str) -> Option<String>) -> Option<Launcher> {
        let ranks = |name: &str| variable(name)?.parse::<usize>().ok();
        let is_step = variable("SLURM_PROCID").is_some();
        let tasks = || ranks("SLURM_STEP_NUM_TASKS").or_else(|| ranks("SLURM_NTASKS"));
        if let Some(ranks) = ranks("OMPI_COMM_WORLD_SIZE") {
            return Some(Launcher { name: "Open MPI", ranks, libraries: OPEN_MPI });
        }
        if let Some(ranks) = ranks("PMI_SIZE") {
            let name = if is_step { "srun with PMI" } else { "Hydra (MPICH)" };
            return Some(Launcher { name, ranks, libraries: MPICH });
        }
        let ranks = tasks().filter(|_| is_step)?;
        match variable("PMIX_RANK") {
            Some(_) => Some(Launcher { name: "srun with PMIx", ranks, libraries: OPEN_MPI }),
            None => Some(Launcher { name: "srun", ranks, libraries: EITHER }),
        }
    }

    /// Names of libraries to try; one that is named in the environment is the only one.
    pub fn libraries(&self, named: Option<String>) -> Vec<String> {
        match named {
            Some(name) => vec![name],
            None => self.libraries.iter().map(|&name| name.to_owned()).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(variables: &[(&str, &str)]) -> Option<(&'static str, usize)> {
        let find = |name: &str| {
            let found = variables.iter().find(|(known, _)| *known == name);
            found.map(|(_, value)| (*value).to_owned())
        };
        Launcher::of(find).map(|launcher| (launcher.name, launcher.ranks))
    }

    #[test]
    fn a_launcher_is_known_by_its_environment() {
        assert_eq!(of(&[]), None);
        assert_eq!(of(&[("OMPI_COMM_WORLD_SIZE", "4")]), Some(("Open MPI", 4)));
        assert_eq!(of(&[("PMI_SIZE", "2")]), Some(("Hydra (MPICH)", 2)));
        // mpirun within an allocation of Slurm, whose tasks are another number.
        let inside = [("SLURM_NTASKS", "16"), ("OMPI_COMM_WORLD_SIZE", "2")];
        assert_eq!(of(&inside), Some(("Open MPI", 2)));
        // An allocation without a step has started nothing.
        assert_eq!(of(&[("SLURM_NTASKS", "16")]), None);
        let step = [("SLURM_PROCID", "0"), ("SLURM_STEP_NUM_TASKS", "8"), ("PMIX_RANK", "0")];
        assert_eq!(of(&step), Some(("srun with PMIx", 8)));
    }
}
