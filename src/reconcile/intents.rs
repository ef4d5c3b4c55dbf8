//! The creates that were recorded before they were sent.
//!
//! In: an object, and what a look at its resources saw. Out: the creates whose outcome is not known.

use std::collections::BTreeMap;

use jiff::Timestamp;

use super::engine::Engine;
use super::sight::Sighting;
use crate::model::{Key, ResourceId};
use crate::status::StoreError;

/// The creates whose outcome is not known: when each was sent, and its client token if it had one.
pub(super) type OpenIntents = (BTreeMap<ResourceId, Timestamp>, BTreeMap<ResourceId, String>);

/// Returns the creates whose outcome is not known; those whose resource is there are resolved.
pub(super) async fn open_intents(
    engine: &Engine,
    key: &Key,
    sightings: &[Sighting],
) -> Result<OpenIntents, StoreError> {
    let (mut open, mut tokens) = OpenIntents::default();
    for intent in engine.store.intents(key).await? {
        let is_there =
            sightings.iter().any(|seen| *seen.id() == intent.resource && seen.is_present());
        match is_there {
            true => engine.store.resolve(key, &intent.resource, engine.token()?).await?,
            false => {
                let token = intent.operation.split_once(' ').map(|(_, token)| token.to_owned());
                tokens.extend(token.map(|token| (intent.resource.clone(), token)));
                open.insert(intent.resource, intent.at);
            }
        }
    }
    Ok((open, tokens))
}
