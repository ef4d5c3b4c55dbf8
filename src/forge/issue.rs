//! The one issue about an object: found, edited, closed, opened again, or added.
//!
//! It is known by its number, or else by its author and a marker that its text holds, which people do
//! not see. One that is closed is opened again rather than made a second time.

use serde::{Deserialize, Serialize};

use super::api::{Api, Issue};
use super::comment::own;
use super::refusal::Refusal;
use crate::model::Key;

/// Returns the marker that the text of an issue about an object has to hold.
pub fn marker(agent: &str, object: &Key) -> String {
    format!("<!-- levelset:{agent}/issue/{object} -->")
}

/// Holds what an issue says: what is kept in the outbox. Nothing is kept of one that is to be closed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Content {
    /// The title.
    pub title: String,
    /// The text, with the marker.
    pub body: String,
}

impl Content {
    /// Writes it as the outbox keeps it.
    pub fn to_text(&self) -> String {
        // A struct of two texts is always written.
        serde_json::to_string(self).unwrap_or_default()
    }

    /// Reads what the outbox keeps.
    pub fn from_text(text: &str) -> Option<Self> {
        serde_json::from_str(text).ok()
    }
}

/// Makes an issue stand, or none; returns the number of the issue, if there is one.
///
/// # Errors
///
/// What the host refuses.
pub(super) async fn stand(
    api: &dyn Api,
    marker: &str,
    known: Option<&str>,
    content: &str,
) -> Result<Option<String>, Refusal> {
    let wanted = Content::from_text(content).map(|Content { title, body }| Issue { title, body });
    if let Some(id) = known {
        match change(api, id, wanted.as_ref()).await {
            Err(Refusal::Missing { .. }) => {}
            changed => return changed.map(|()| Some(id.to_owned())),
        }
    }
    let written = api.own_issues().await?;
    match (own(api, &written, &[marker.to_owned()]).await?, wanted) {
        (Some(id), wanted) => change(api, &id, wanted.as_ref()).await.map(|()| Some(id)),
        (None, Some(new)) => api.add_issue(&new).await.map(Some),
        (None, None) => Ok(None),
    }
}

async fn change(api: &dyn Api, id: &str, wanted: Option<&Issue>) -> Result<(), Refusal> {
    match wanted {
        Some(issue) => api.edit_issue(id, issue).await,
        None => api.close_issue(id).await,
    }
}
