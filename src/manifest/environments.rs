//! Objects of an environment that nobody has configured.
//!
//! In: an object in force, the bytes of its file, the names that the settings hold. Out: a problem at
//! the name, with the one that is probably meant. Pure. A manifest is good without it: which
//! environments there are is the agent's to know.

use super::object::Object;
use super::placed::at_finding;
use super::words;
use crate::model::{Finding, Problem};

/// Returns the problem of an object whose environment is none of the known ones.
pub fn unknown_environment(object: &Object, bytes: &[u8], known: &[&str]) -> Option<Problem> {
    let name = object.environment();
    if known.contains(&name) {
        return None;
    }
    let message = format!("the settings hold no environment \"{name}\"");
    let finding = Finding::error("/spec/environment", "UnknownEnvironment", message);
    at_finding(&object.path, bytes, &object.key, finding.hint(words::known(name, known)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::manifest::parse;

    const TWO: &str = "apiVersion: platform.kby.io/v1alpha1
kind: Workspace
metadata: {name: one}
spec:
  environment: production
  resources: {network: {vpcRef: core}}
---
apiVersion: platform.kby.io/v1alpha1
kind: Network
metadata: {name: two}
spec: {environment: stagin}
";

    #[test]
    fn a_name_that_is_not_configured_is_told_where_it_stands_with_the_nearest_one() {
        let objects = parse("a.yaml", TWO.as_bytes()).objects;
        assert_eq!(objects.len(), 2);
        let of = |known: &[&str]| {
            let found = objects.iter().map(|it| unknown_environment(it, TWO.as_bytes(), known));
            found.flatten().collect::<Vec<_>>()
        };
        assert_eq!(of(&["production", "stagin"]), []);
        let found = of(&["production", "staging"]);
        assert_eq!(found.len(), 1);
        let Problem { position, code, hint, .. } = &found[0];
        assert_eq!(
            (&*code.clone(), position.line, position.column),
            ("UnknownEnvironment", 11, 21)
        );
        assert!(hint.as_ref().unwrap().contains("did you mean \"staging\"?"), "{hint:?}");
    }
}
