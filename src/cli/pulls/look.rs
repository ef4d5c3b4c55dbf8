//! One look at one pull request.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::{Following, Trouble, reference};
use crate::desired::Cache;
use crate::forge::api::{PullRequest, State};
use crate::forge::commit::{Content, context};
use crate::model::outbox::{Topic, Wanted};
use crate::model::review::{Look, Safety, Trouble as Cannot};
use crate::model::webhook::Host;
use crate::model::{ChangeSet, Review, Revision};
use crate::reconcile::review::{Proposed, review, troubled};
use crate::report::review::{page, verdict};
use crate::source::{Checkout, Heads, Merged, Proposal, merge, propose};

const FORK: &str = "it comes from a fork; `forge.planForks` compares those too";

impl Following {
    /// Reads what the tip declares, unless that is known.
    pub(super) async fn take_base(&mut self, heads: &Heads) -> Result<(), Trouble> {
        if self.base.as_ref().is_some_and(|(tip, _)| *tip == heads.tip) {
            return Ok(());
        }
        let (checkout, tip, guard) = (heads.checkout.clone(), heads.tip.clone(), self.manner.guard);
        let read = move || {
            let proposal = propose(&checkout, tip.as_str(), tip.as_str())?;
            let mut cache = Cache::new(guard);
            // Which objects are new is the agent's interest.
            let _ = cache.apply(&proposal.base);
            Ok::<_, Trouble>((tip, cache))
        };
        self.base = Some(blocking(read).await??);
        Ok(())
    }

    /// Looks at a pull request, and wants what it found.
    pub(super) async fn look(
        &mut self,
        heads: &Heads,
        request: &PullRequest,
    ) -> Result<(), Trouble> {
        let name = reference(self.ports.host, request);
        let is_foreign = request.is_fork && self.ports.host == Host::Bitbucket;
        let Some(head) = heads.heads.get(&name).filter(|_| !is_foreign) else { return Ok(()) };
        let proposal = merged(&heads.checkout, &heads.tip, head).await?;
        let Some(review) = self.review(request, &proposal, &heads.tip).await? else {
            return Ok(());
        };
        if is_worth_telling(&review) || self.has_told(request.number).await? {
            let keys = review.objects.iter().map(|object| object.key.clone()).collect();
            self.touched.insert(request.number, keys);
            let status = self.status(request, head, &review);
            self.want(vec![status], request.number, &page(&review)).await?;
        }
        Ok(())
    }

    /// Reviews a merge; nothing for one that concerns no manifest.
    async fn review(
        &self,
        request: &PullRequest,
        proposal: &Proposal,
        tip: &Revision,
    ) -> Result<Option<Review>, Trouble> {
        let onto = &self.manner.branch;
        let cannot = |why| Ok(Some(troubled(onto, tip, &proposal.head, why)));
        match &proposal.merged {
            Merged::Conflicts(paths) => cannot(Cannot::Conflicts(paths.clone())),
            Merged::Refused(why) => cannot(Cannot::Refused(why.to_string())),
            Merged::Files(files) => self.reviewed(request, proposal, files).await,
        }
    }

    async fn reviewed(
        &self,
        request: &PullRequest,
        proposal: &Proposal,
        files: &ChangeSet,
    ) -> Result<Option<Review>, Trouble> {
        let Some((_, base)) = &self.base else { return Ok(None) };
        let before = base.snapshot();
        let mut cache = base.fork();
        let changes = cache.apply(files);
        let engine = (self.ports.looker)(cache.reader());
        let paths: BTreeSet<Arc<str>> =
            files.changed.keys().chain(&files.removed).cloned().collect();
        let is_withheld = request.is_fork && !self.manner.forks;
        let proposed = Proposed {
            onto: &self.manner.branch,
            head: &proposal.head,
            base: &before,
            merged: &cache.snapshot(),
            changes: &changes,
            files: &paths,
            look: if is_withheld { Look::Withheld(FORK.to_owned()) } else { Look::Live },
        };
        Ok(Some(review(&engine, &proposed, &|| {}).await?))
    }

    /// Says on the head what the comment says in its first line.
    fn status(&self, request: &PullRequest, head: &Revision, review: &Review) -> Wanted {
        let state = match review.safety() {
            Safety::Broken => State::Failure,
            Safety::Safe | Safety::Care => State::Success,
        };
        let context = context(&self.ports.agent.agent, "plan");
        let content = Content {
            branch: Some(request.head_branch.clone()),
            link: (!request.link.is_empty()).then(|| request.link.clone()),
            ..Content::new(state, verdict(review))
        };
        let topic = Topic::Status { revision: head.clone(), context };
        Wanted { topic, content: content.to_text(), at: self.now() }
    }
}

/// Tells whether a merge concerns the agent at all.
fn is_worth_telling(review: &Review) -> bool {
    let is_manifest = |path: &Arc<str>| path.ends_with(".yaml") || path.ends_with(".yml");
    match &review.trouble {
        Some(Cannot::Conflicts(paths)) => paths.iter().any(is_manifest),
        Some(Cannot::Refused(_)) => true,
        None => !review.objects.is_empty() || !review.problems.is_empty(),
    }
}

/// Merges in memory, away from the tasks.
pub(super) async fn merged(
    checkout: &Checkout,
    tip: &Revision,
    head: &Revision,
) -> Result<Proposal, Trouble> {
    let (checkout, tip, head) = (checkout.clone(), tip.clone(), head.clone());
    Ok(blocking(move || merge(&checkout, tip.as_str(), head.as_str())).await??)
}

async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, Trouble> {
    tokio::task::spawn_blocking(work).await.map_err(|_| Trouble::Lost)
}
