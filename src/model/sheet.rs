//! A part of a manifest that is being written: members in the order in which a person reads them, each
//! with what is to be said about it.
//!
//! Paths are names with dots between, as `storage.sizeGiB`. A value may be a mapping itself (tags, a
//! policy document); its keys may hold dots, so what is left of a path there is one key.

use serde_json::Value;

/// Holds the members of one mapping.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Sheet {
    /// What is to be said before the first member.
    pub remarks: Vec<String>,
    /// The members, in order.
    pub entries: Vec<Entry>,
}

/// Is one member.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    /// Its name.
    pub key: String,
    /// Its value.
    pub node: Node,
}

/// Is the value of a member.
#[derive(Debug, Clone, PartialEq)]
pub enum Node {
    /// A value.
    Value(Value),
    /// Further members.
    Sheet(Sheet),
}

impl Sheet {
    /// Tells whether there is neither a member nor a remark.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty() && self.remarks.is_empty()
    }

    /// Puts a value at a path; what stands there is replaced in its place.
    pub fn put(&mut self, path: &str, value: impl Into<Value>) {
        let (parent, last) = split_last(path);
        let sheet = match parent {
            Some(parent) => self.sheet(parent),
            None => self,
        };
        let node = Node::Value(value.into());
        match sheet.entries.iter_mut().find(|entry| entry.key == last) {
            Some(entry) => entry.node = node,
            None => sheet.entries.push(Entry { key: last.to_owned(), node }),
        }
    }

    /// Says something about the mapping at a path, once; the empty path is the sheet itself.
    pub fn remark(&mut self, path: &str, text: impl Into<String>) {
        let sheet = if path.is_empty() { self } else { self.sheet(path) };
        let text = text.into();
        if !sheet.remarks.contains(&text) {
            sheet.remarks.push(text);
        }
    }

    /// Returns the mapping at a path, made if it is not there.
    pub fn sheet(&mut self, path: &str) -> &mut Self {
        path.split('.').fold(self, Self::below)
    }

    /// Returns the mapping of a member; a value in its place gives way to it.
    fn below(&mut self, key: &str) -> &mut Self {
        let is_it = |entry: &Entry| entry.key == key && matches!(entry.node, Node::Sheet(_));
        let at = self.entries.iter().position(is_it).unwrap_or_else(|| {
            self.entries.retain(|entry| entry.key != key);
            self.entries.push(Entry { key: key.to_owned(), node: Node::Sheet(Self::default()) });
            self.entries.len() - 1
        });
        let mut sheets = self.entries[at..].iter_mut().filter_map(|entry| match &mut entry.node {
            Node::Sheet(below) => Some(below),
            Node::Value(_) => None,
        });
        match sheets.next() {
            Some(below) => below,
            None => unreachable!("a mapping stands there"),
        }
    }

    /// Returns what stands at a path.
    pub fn get(&self, path: &str) -> Option<&Node> {
        let (key, rest) = split_first(path);
        let node = &self.entries.iter().find(|entry| entry.key == key)?.node;
        match (node, rest) {
            (node, None) => Some(node),
            (Node::Sheet(below), Some(rest)) => below.get(rest),
            (Node::Value(_), Some(_)) => None,
        }
    }

    /// Returns the value at a path, to be changed.
    pub fn value_mut(&mut self, path: &str) -> Option<&mut Value> {
        let (key, rest) = split_first(path);
        let node = &mut self.entries.iter_mut().find(|entry| entry.key == key)?.node;
        match (node, rest) {
            (Node::Value(value), None) => Some(value),
            (Node::Sheet(below), Some(rest)) => below.value_mut(rest),
            _ => None,
        }
    }

    /// Takes away what stands at a path, or at the longest beginning of it that is there and names no
    /// mapping of members. Returns what was taken away; `None` where nothing but mappings is there.
    pub fn remove(&mut self, path: &str) -> Option<String> {
        let (key, rest) = split_first(path);
        let at = self.entries.iter().position(|entry| entry.key == key)?;
        let removed = match (&mut self.entries[at].node, rest) {
            (Node::Sheet(below), Some(rest)) => {
                let removed = below.remove(rest)?;
                if below.entries.is_empty() {
                    let remarks = std::mem::take(&mut below.remarks);
                    self.entries.remove(at);
                    self.remarks.extend(remarks);
                }
                return Some(format!("{key}.{removed}"));
            }
            (Node::Value(Value::Object(members)), Some(rest)) if members.contains_key(rest) => {
                members.remove(rest);
                (members.is_empty(), format!("{key}.{rest}"))
            }
            (Node::Value(_), _) | (Node::Sheet(_), None) => (true, key.to_owned()),
        };
        if removed.0 {
            self.entries.remove(at);
        }
        Some(removed.1)
    }

    /// Adds the members of another sheet; what is there already stays. Returns the paths of values that
    /// the two do not agree about.
    pub fn merge(&mut self, other: Self) -> Vec<String> {
        let mut conflicts = Vec::new();
        for remark in other.remarks {
            self.remark("", remark);
        }
        for entry in other.entries {
            let Some(there) = self.entries.iter_mut().find(|it| it.key == entry.key) else {
                self.entries.push(entry);
                continue;
            };
            match (&mut there.node, entry.node) {
                (Node::Sheet(below), Node::Sheet(more)) => {
                    let found = below.merge(more).into_iter();
                    conflicts.extend(found.map(|path| format!("{}.{path}", there.key)));
                }
                (one, other) if *one == other => {}
                _ => conflicts.push(there.key.clone()),
            }
        }
        conflicts
    }

    /// Lists the paths of its values, in order.
    pub fn paths(&self) -> Vec<String> {
        let of = |entry: &Entry| match &entry.node {
            Node::Value(_) => vec![entry.key.clone()],
            Node::Sheet(below) => {
                below.paths().into_iter().map(|path| format!("{}.{path}", entry.key)).collect()
            }
        };
        self.entries.iter().flat_map(of).collect()
    }

    /// Visits every text in it, in the order of the sheet.
    pub fn each_text(&mut self, visit: &mut dyn FnMut(&mut String, bool)) {
        for entry in &mut self.entries {
            match &mut entry.node {
                Node::Value(value) => texts(value, false, visit),
                Node::Sheet(below) => below.each_text(visit),
            }
        }
    }
}

fn texts(value: &mut Value, is_inside: bool, visit: &mut dyn FnMut(&mut String, bool)) {
    match value {
        Value::String(text) => visit(text, is_inside),
        Value::Array(items) => items.iter_mut().for_each(|item| texts(item, is_inside, visit)),
        Value::Object(members) => {
            members.values_mut().for_each(|member| texts(member, true, visit));
        }
        _ => {}
    }
}

fn split_first(path: &str) -> (&str, Option<&str>) {
    path.split_once('.').map_or((path, None), |(key, rest)| (key, Some(rest)))
}

fn split_last(path: &str) -> (Option<&str>, &str) {
    path.rsplit_once('.').map_or((None, path), |(parent, key)| (Some(parent), key))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn sheet() -> Sheet {
        let mut sheet = Sheet::default();
        sheet.put("database.engine", "postgres");
        sheet.put("database.storage.sizeGiB", 20);
        sheet.put("database.tags", json!({"a.b": "1", "c": "2"}));
        sheet
    }

    #[test]
    fn what_is_put_stands_in_order_and_is_found_by_its_path() {
        let sheet = sheet();
        assert_eq!(sheet.get("database.storage.sizeGiB"), Some(&Node::Value(json!(20))));
        assert_eq!(sheet.get("database.storage.type"), None);
        let Some(Node::Sheet(database)) = sheet.get("database") else { panic!("no mapping") };
        let keys: Vec<&str> = database.entries.iter().map(|entry| entry.key.as_str()).collect();
        assert_eq!(keys, ["engine", "storage", "tags"]);
    }

    #[test]
    fn a_value_is_taken_away_with_mappings_that_are_empty_then() {
        let mut sheet = sheet();
        assert_eq!(sheet.remove("database.storage.sizeGiB").unwrap(), "database.storage.sizeGiB");
        assert_eq!(sheet.get("database.storage"), None);
        assert_eq!(sheet.remove("database.tags.a.b").unwrap(), "database.tags.a.b");
        assert_eq!(sheet.remove("database.tags.c").unwrap(), "database.tags.c");
        assert_eq!(sheet.get("database.tags"), None);
        assert_eq!(sheet.remove("database.engine.of.old").unwrap(), "database.engine");
        assert_eq!(sheet.remove("database.engine"), None);
    }

    #[test]
    fn two_sheets_are_one_where_they_agree() {
        let mut sheet = sheet();
        let mut other = Sheet::default();
        other.put("database.engine", "mysql");
        other.put("database.storage.type", "gp2");
        other.remark("database", "a remark");
        assert_eq!(sheet.merge(other), ["database.engine"]);
        assert_eq!(sheet.get("database.engine"), Some(&Node::Value(json!("postgres"))));
        assert_eq!(sheet.get("database.storage.type"), Some(&Node::Value(json!("gp2"))));
    }
}
