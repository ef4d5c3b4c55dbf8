//! What is imported is declared as it is, whatever that is: the draft of a kind is the inverse of its
//! expansion, and nothing has to be taken out of it.

use std::sync::Arc;

use levelset::import::render::render;
use levelset::import::{Wishes, compose, survey};
use levelset::manifest::expand::{Alone, expand};
use levelset::manifest::parse;
use levelset::model::desired::OWNER_TAG;
use levelset::model::{Input, ResourceId};

use super::*;

/// Imports one resource as nobody's, and returns how it differs from what is declared then.
pub(super) fn imported(
    kind: &'static dyn Kind,
    id: &ResourceId,
    actual: &Observed,
) -> Result<Diff, String> {
    let mut actual = actual.clone();
    actual.tags.get_or_insert_default().remove(OWNER_TAG);
    let seen = [(kind, id.clone(), Arc::new(actual.clone()))];
    let wishes = Wishes {
        environment: "staging".to_owned(),
        agent: "levelset".to_owned(),
        ..Wishes::default()
    };
    let survey = survey(&seen, &wishes);
    let (documents, left) = compose(&survey.found, &wishes);
    let [document] = documents.as_slice() else {
        return Err(format!("{documents:?} {left:?} {:?}", survey.left));
    };
    let text = render(document).text;
    let parsed = parse("import.yaml", text.as_bytes());
    if parsed.is_broken() {
        return Err(format!("{:?}\n{text}", parsed.problems));
    }
    let resources = expand(&parsed.objects[0], &place(), &Alone);
    let found = resources.iter().find(|resource| resource.id.name == id.name);
    let resource = found.ok_or_else(|| format!("it is not {id}\n{text}"))?;
    let known = |input: &Input| match input {
        Input::Known(value) => Some(value.clone()),
        _ => None,
    };
    let fields = resource.fields.iter();
    let desired = Bound {
        id: id.clone(),
        fields: fields.filter_map(|(field, it)| Some((field.clone(), known(it)?))).collect(),
        initial: resource.initial.clone(),
        owner: resource.owner.clone(),
        adopt: resource.adopt,
    };
    if !desired.adopt {
        return Err(format!("it is not taken over\n{text}"));
    }
    Ok(diff(kind.rules(), &desired, &actual, &Readiness::Ready, &[]))
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 256,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn any_database_is_imported_as_it_is(database in database()) {
        let bound = bound(&database);
        let instance = created(&bound);
        let found = imported(KIND, &bound.id, &instance.seen);
        let found = found.map_err(TestCaseError::fail)?;
        prop_assert!(found.is_settled(), "{found:?}");
    }
}
