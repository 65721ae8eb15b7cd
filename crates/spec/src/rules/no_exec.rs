//! `--no-exec`: job files that somebody else wrote may not run anything.

use crate::JobSpec;
use crate::values::EngineName;
use iosonde_options::{Diagnostic, Origin};

/// The errors of `--no-exec` for a job: one for each option that would start a program, or
/// load an object into this one.
pub fn refuse_programs(spec: &JobSpec) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    let mut refuse = |name: &str, origin: &Origin, what: &str| {
        let message = format!("{what}, which --no-exec does not allow");
        let help = "leave out --no-exec only if you trust who wrote this";
        found.push(Diagnostic::error(message).about(name, origin).help(help));
    };
    let job = &spec.job;
    for (name, command) in [("exec_prerun", &job.exec_prerun), ("exec_postrun", &job.exec_postrun)]
    {
        if command.get().is_some() {
            refuse(name, command.origin(), "it starts a program");
        }
    }
    let engine = &spec.engine.ioengine;
    match engine.get() {
        EngineName::External(_) => {
            refuse("ioengine", engine.origin(), "it loads an object and runs its code");
        }
        EngineName::Known("exec") => refuse("ioengine", engine.origin(), "it starts a program"),
        EngineName::Known(_) => {}
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use iosonde_options::Level;

    fn refused(options: &[&str]) -> Vec<String> {
        let mut spec = JobSpec::default();
        for option in options {
            let (name, value) = option.split_once('=').unwrap();
            spec.set(name, Some(value), Origin::Default).unwrap();
        }
        let found = refuse_programs(&spec);
        assert!(found.iter().all(|diagnostic| diagnostic.level == Level::Error));
        found.into_iter().map(|diagnostic| diagnostic.message).collect()
    }

    #[test]
    fn each_way_to_run_something_is_refused() {
        assert_eq!(refused(&["rw=read", "ioengine=libaio"]), Vec::<String>::new());
        assert_eq!(refused(&["exec_prerun=true", "exec_postrun=true"]).len(), 2);
        assert!(refused(&["ioengine=exec"])[0].starts_with("it starts a program"));
        assert!(refused(&["ioengine=external:/tmp/x.so"])[0].starts_with("it loads an object"));
    }
}
