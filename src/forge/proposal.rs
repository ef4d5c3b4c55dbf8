//! A pull request of our own: one changed file, proposed once.
//!
//! In: an [`Edit`], whose branch is named after what it changes. Out: where people look at it. The same
//! edit again leads to the pull request that is open already.

use super::api::{Api, Edit};
use super::refusal::Refusal;

/// Makes the branch and the pull request, or finds the one that is open; returns where it is.
///
/// # Errors
///
/// What the host refuses; for example that the file is another one by now.
pub async fn propose(api: &dyn Api, edit: &Edit) -> Result<String, Refusal> {
    match api.push(edit).await {
        Ok(()) => api.open_pull_request(edit).await,
        // A branch of this name may be there, with a pull request or without.
        Err(refusal @ Refusal::Refused { .. }) => {
            let open = api.pull_requests().await?;
            let ours = open.into_iter().find(|it| it.head_branch == edit.branch && !it.is_fork);
            ours.map(|it| it.link).ok_or(refusal)
        }
        Err(refusal) => Err(refusal),
    }
}
