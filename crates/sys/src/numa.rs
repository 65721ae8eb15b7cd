//! NUMA nodes: their processors, and where a thread's memory is taken from.

use std::io;
use std::path::{Path, PathBuf};

use crate::cpu::CpuList;
use crate::platform;
use iosonde_direct::sysfs;

/// Where memory comes from (set_mempolicy(2)).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MemoryPolicy {
    /// As the system does by itself.
    Default,
    /// From this node if it has room, else from others.
    Preferred(u32),
    /// From these nodes only.
    Bind(Vec<u32>),
    /// Page by page from these nodes in turn.
    Interleave(Vec<u32>),
    /// From the node that the thread runs on.
    Local,
}

impl MemoryPolicy {
    /// Let the calling thread's memory be taken so from now on. Memory that
    /// is there already stays where it is.
    ///
    /// # Errors
    /// If a node has no memory or the thread may not use it, or the kernel
    /// knows no nodes.
    pub fn set(&self) -> io::Result<()> {
        // The kernel's numbers: include/uapi/linux/mempolicy.h.
        match self {
            MemoryPolicy::Default => platform::set_memory_policy(0, &[]),
            MemoryPolicy::Preferred(node) => platform::set_memory_policy(1, &[*node]),
            MemoryPolicy::Bind(nodes) => platform::set_memory_policy(2, nodes),
            MemoryPolicy::Interleave(nodes) => platform::set_memory_policy(3, nodes),
            MemoryPolicy::Local => platform::set_memory_policy(4, &[]),
        }
    }

    /// The nodes it names.
    pub fn nodes(&self) -> &[u32] {
        match self {
            MemoryPolicy::Default | MemoryPolicy::Local => &[],
            MemoryPolicy::Preferred(node) => std::slice::from_ref(node),
            MemoryPolicy::Bind(nodes) | MemoryPolicy::Interleave(nodes) => nodes,
        }
    }
}

/// The nodes of this machine, as /sys shows them or as a test lays them out.
#[derive(Clone, Debug)]
pub struct Nodes(PathBuf);

impl Nodes {
    /// Those of this machine.
    pub fn here() -> Nodes {
        Nodes::at(&sysfs::root().join("sys/devices/system/node"))
    }

    /// Those that a folder shows.
    pub fn at(folder: &Path) -> Nodes {
        Nodes(folder.to_owned())
    }

    /// Their numbers, ascending.
    ///
    /// # Errors
    /// If the kernel was built without NUMA.
    pub fn online(&self) -> io::Result<Vec<u32>> {
        Ok(self.list("online")?.as_slice().to_vec())
    }

    /// The processors of these nodes; `None` if they have none.
    ///
    /// # Errors
    /// If there is no such node.
    pub fn processors(&self, nodes: &[u32]) -> io::Result<Option<CpuList>> {
        let mut all = Vec::new();
        for node in nodes {
            let text = self.read(&format!("node{node}/cpulist"))?;
            // A node of memory only has an empty list.
            if !text.is_empty() {
                all.extend_from_slice(parse(&text)?.as_slice());
            }
        }
        Ok(CpuList::from_numbers(all).ok())
    }

    fn list(&self, name: &str) -> io::Result<CpuList> {
        parse(&self.read(name)?)
    }

    fn read(&self, name: &str) -> io::Result<String> {
        Ok(std::fs::read_to_string(self.0.join(name))?.trim().to_owned())
    }
}

/// Nodes are listed as processors are.
fn parse(text: &str) -> io::Result<CpuList> {
    CpuList::parse(text).map_err(io::Error::other)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processors_of_nodes_are_taken_together() {
        let folder = std::env::temp_dir().join(format!("iosonde-nodes-{}", std::process::id()));
        for (node, cpus) in [("node0", "0-1,4\n"), ("node1", "2-3\n"), ("node2", "\n")] {
            std::fs::create_dir_all(folder.join(node)).unwrap();
            std::fs::write(folder.join(node).join("cpulist"), cpus).unwrap();
        }
        std::fs::write(folder.join("online"), "0-2\n").unwrap();
        let nodes = Nodes::at(&folder);
        assert_eq!(nodes.online().unwrap(), [0, 1, 2]);
        let cpus = |list: &[u32]| nodes.processors(list).unwrap().map(|l| l.as_slice().to_vec());
        assert_eq!(cpus(&[0, 1]), Some(vec![0, 1, 2, 3, 4]));
        assert_eq!(cpus(&[1, 2]), Some(vec![2, 3]));
        assert_eq!(cpus(&[2]), None, "a node of memory only");
        assert!(nodes.processors(&[3]).is_err());
        std::fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn a_thread_takes_memory_from_the_first_node() {
        let Ok(online) = Nodes::here().online() else {
            iosonde_testing::skip!("this kernel knows no NUMA nodes");
        };
        let first = online[0];
        std::thread::spawn(move || {
            MemoryPolicy::Bind(vec![first]).set().unwrap();
            MemoryPolicy::Interleave(vec![first]).set().unwrap();
            MemoryPolicy::Preferred(first).set().unwrap();
            MemoryPolicy::Local.set().unwrap();
            MemoryPolicy::Default.set().unwrap();
            let none = online[online.len() - 1] + 1;
            assert!(MemoryPolicy::Bind(vec![none]).set().is_err());
            assert!(MemoryPolicy::Bind(vec![u32::MAX]).set().is_err());
        })
        .join()
        .unwrap();
    }
}
