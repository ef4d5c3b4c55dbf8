//! The one comment on a pull request: found, edited, or added.
//!
//! It is known by its id, or else by its author and a marker that its text holds, which people do not
//! see. So it is found again when the outbox was lost, and added again when somebody deleted it.

use super::api::{Api, Comment};
use super::refusal::Refusal;

/// Returns the markers of which the text of a comment has to hold one: an HTML comment with the agent's
/// name, or for a host that has no HTML the definition of a link that nobody uses.
pub fn markers(agent: &str) -> [String; 2] {
    [format!("<!-- levelset:{agent} -->"), format!("[levelset:{agent}]: ")]
}

/// Makes the text stand on a pull request, once; returns the id of the comment.
///
/// # Errors
///
/// What the host refuses.
pub(super) async fn stand(
    api: &dyn Api,
    number: u64,
    markers: &[String],
    known: Option<&str>,
    body: &str,
) -> Result<String, Refusal> {
    if let Some(id) = known {
        match api.edit_comment(number, id, body).await {
            Err(Refusal::Missing { .. }) => {}
            edited => return edited.map(|()| id.to_owned()),
        }
    }
    let comments = api.comments(number).await?;
    match own(api, &comments, markers).await? {
        Some(id) => api.edit_comment(number, &id, body).await.map(|()| id),
        None => api.add_comment(number, body).await,
    }
}

/// Finds what we wrote ourselves and marked.
pub(super) async fn own(
    api: &dyn Api,
    texts: &[Comment],
    markers: &[String],
) -> Result<Option<String>, Refusal> {
    let is_marked = |body: &str| markers.iter().any(|marker| body.contains(marker));
    let marked: Vec<_> = texts.iter().filter(|it| is_marked(&it.body)).collect();
    if marked.is_empty() {
        return Ok(None);
    }
    let myself = api.myself().await?;
    Ok(marked.into_iter().find(|it| it.author == myself).map(|it| it.id.clone()))
}
