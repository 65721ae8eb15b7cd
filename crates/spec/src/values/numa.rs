//! Where on a NUMA machine memory is taken: `bind:0-1`, `prefer:0`, `local`.

use iosonde_options::{Choice, Context, CpuSet, Kind, OptionValue, ValueError, words};

words! {
    /// A policy of memory placement (set_mempolicy(2)).
    pub enum PolicyKind {
        /// The system's.
        Default = "default" : "the system's policy",
        /// Near a node if there is room.
        Prefer = "prefer" : "near one node, if it has room",
        /// On the nodes listed only.
        Bind = "bind" : "on the nodes listed only",
        /// Page by page over the nodes listed.
        Interleave = "interleave" : "page by page over the nodes listed",
        /// On the node that runs the job.
        Local = "local" : "on the node that runs the job",
    }
}

/// The value of `numa_mem_policy`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct MemoryPolicy {
    /// The policy.
    pub kind: PolicyKind,
    /// The nodes it names.
    pub nodes: CpuSet,
}

impl OptionValue for MemoryPolicy {
    const KIND: Kind = Kind::Form;
    const CHOICES: &'static [Choice] = PolicyKind::WORDS;
    fn parse(text: &str, context: &mut Context) -> Result<Self, ValueError> {
        let (word, nodes) = text.split_once(':').unwrap_or((text, ""));
        let kind = PolicyKind::parse(word, context)?;
        let nodes = CpuSet::parse(nodes, context)
            .map_err(|_| ValueError::new("nodes such as bind:0-1", text))?;
        let wanted = match kind {
            PolicyKind::Prefer => nodes.0.len() == 1,
            PolicyKind::Bind | PolicyKind::Interleave => !nodes.0.is_empty(),
            PolicyKind::Default | PolicyKind::Local => true,
        };
        let want = || ValueError::new(format!("nodes such as {word}:0"), text);
        if wanted { Ok(MemoryPolicy { kind, nodes }) } else { Err(want()) }
    }
    fn show(&self) -> String {
        match self.nodes.show().as_str() {
            "" => self.kind.word().into(),
            nodes => format!("{}:{nodes}", self.kind.word()),
        }
    }
}
