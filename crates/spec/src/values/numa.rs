//! Where on a NUMA machine memory is taken: `bind:0-1`, `prefer:0`, `local`.

use iosonde_options::{Choice, CpuSet, OptionValue, ParseContext, ValueError, ValueKind, words};

words! {
    /// A policy of memory placement (set_mempolicy(2)).
    pub enum PolicyKind {
        Default = "default" : "the system's policy",
        Prefer = "prefer" : "prefer one node",
        Bind = "bind" : "only the nodes listed",
        Interleave = "interleave" : "interleave pages over the nodes listed",
        Local = "local" : "the node that runs the job",
    }
}

/// Nodes by number, `0,2-3`, or `all`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum NodeList {
    /// Those the machine has.
    All,
    /// These.
    Listed(CpuSet),
}

impl NodeList {
    /// How many it names; `None` for all.
    fn count(&self) -> Option<usize> {
        match self {
            NodeList::All => None,
            NodeList::Listed(nodes) => Some(nodes.0.len()),
        }
    }
}

impl OptionValue for NodeList {
    const KIND: ValueKind = ValueKind::List;
    // fio takes what it cannot read of it.
    const BAD: &'static [&'static str] = &[];
    fn parse(text: &str, context: &mut ParseContext) -> Result<Self, ValueError> {
        if text.trim() == "all" {
            return Ok(NodeList::All);
        }
        let want = || ValueError::new("nodes such as 0,2-3, or all", text);
        CpuSet::parse(text, context).map(NodeList::Listed).map_err(|_| want())
    }
    fn show(&self) -> String {
        match self {
            NodeList::All => "all".into(),
            NodeList::Listed(nodes) => nodes.show(),
        }
    }
}

/// The value of `numa_mem_policy`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct NumaMemory {
    /// The policy.
    pub kind: PolicyKind,
    /// The nodes it names.
    pub nodes: NodeList,
}

impl OptionValue for NumaMemory {
    const KIND: ValueKind = ValueKind::Form;
    const CHOICES: &'static [Choice] = PolicyKind::WORDS;
    // fio takes what it cannot read of it.
    const BAD: &'static [&'static str] = &[];
    fn parse(text: &str, context: &mut ParseContext) -> Result<Self, ValueError> {
        let (word, nodes) = text.split_once(':').unwrap_or((text, ""));
        let kind = PolicyKind::parse(word, context)?;
        let nodes = NodeList::parse(nodes, context)
            .map_err(|_| ValueError::new("nodes such as bind:0-1", text))?;
        let wanted = match kind {
            PolicyKind::Prefer => nodes.count() == Some(1),
            PolicyKind::Bind | PolicyKind::Interleave => nodes.count() != Some(0),
            // These name none, and fio refuses a list.
            PolicyKind::Default | PolicyKind::Local => nodes.count() == Some(0),
        };
        let want = || match kind {
            PolicyKind::Default | PolicyKind::Local => ValueError::new(word, text),
            _ => ValueError::new(format!("nodes such as {word}:0"), text),
        };
        if wanted { Ok(NumaMemory { kind, nodes }) } else { Err(want()) }
    }
    fn show(&self) -> String {
        match self.nodes.show().as_str() {
            "" => self.kind.word().into(),
            nodes => format!("{}:{nodes}", self.kind.word()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_policy_has_the_nodes_it_needs_and_no_others() {
        let row = crate::lookup("numa_mem_policy").expect("an option");
        let taken = |text: &str| NumaMemory::parse(text, &mut ParseContext::new(row)).is_ok();
        for text in ["default", "local", "prefer:0", "bind:0-1", "bind:all", "interleave:0,2"] {
            assert!(taken(text), "{text}");
        }
        for text in ["local:0", "default:0", "prefer", "prefer:0,1", "bind", "interleave", "near"] {
            assert!(!taken(text), "{text}");
        }
    }
}
