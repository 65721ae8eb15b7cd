//! JSON documents of commands: their text, and objects whose keys are data.

use serde::{Serialize, Serializer};

/// The document as text, indented, with a line end.
pub fn text(document: &impl Serialize) -> String {
    let text = serde_json::to_string_pretty(document);
    text.expect("a document of plain data whose keys are strings") + "\n"
}

/// An object whose keys differ from document to document, in this order.
#[derive(Clone, Debug, PartialEq)]
pub struct Members<V>(pub Vec<(String, V)>);

impl<V: Serialize> Serialize for Members<V> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(key, value)| (key, value)))
    }
}
