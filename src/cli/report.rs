//! `levelset report`: what a pull request would do to the live cloud; it changes nothing.
//!
//! Base and head are merged in memory; what the merge touches is planned before and after, with the
//! stages of the agent. In a pipeline the text can be posted as a comment by whatever posts there.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;

use clap::ValueEnum;
use jiff::{SignedDuration, Timestamp};
use tokio_util::sync::CancellationToken;

use super::clock::chosen;
use super::engine::{OnlyLooks, engine, guard};
use super::error::Error;
use super::output::Output;
use super::saved::{assume, memory, saved};
use super::settings::Flags;
use super::{Exit, cloud, runtime};
use crate::aws::Budgets;
use crate::config::Config;
use crate::desired::{Cache, Changes, Snapshot};
use crate::model::review::{Look, Safety, Trouble};
use crate::model::webhook::Host;
use crate::model::{ChangeSet, Cloud, Review, Revision};
use crate::observe::Once;
use crate::reconcile::engine::{Engine, Ports};
use crate::reconcile::review::{Proposed, review, troubled};
use crate::report::markdown::markdown;
use crate::report::{html, json, review as report};
use crate::source::{Checkout, Merged, Proposal, propose};

/// How long a list may be shared: longer than any report takes.
const FRESH: SignedDuration = SignedDuration::from_hours(1);

/// Show what merging a pull request would do to the live cloud; changes nothing
///
/// Base and head are merged in memory, and everything that the merge touches is planned as it is now
/// and as it would be. Exit code 0: nothing would be done; 2: something would; 1: an error, a
/// conflict, a mistake in a manifest or a change that is refused.
#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// The folder that holds the manifests, in a checkout of the repository
    #[arg(default_value = ".")]
    path: PathBuf,
    /// What the pull request is to be merged into: a branch, a tag or a commit
    #[arg(long, value_name = "REV")]
    base: String,
    /// What is to be merged
    #[arg(long, value_name = "REV", default_value = "HEAD")]
    head: String,
    /// Plan against saved AWS CLI answers instead of the cloud, as `levelset plan` does
    #[arg(long, value_name = "FILE")]
    observed: Option<PathBuf>,
    /// The time to plan for, for example 2026-12-01T03:00:00Z [default: now]
    #[arg(long, value_name = "TIME")]
    at: Option<Timestamp>,
    /// The form of the report
    #[arg(long, short, value_name = "FORMAT", default_value = "markdown")]
    output: Form,
    /// Whose Markdown it is, and how long it may be
    #[arg(long, value_name = "HOST", default_value = "github")]
    host: HostName,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Form {
    /// For a comment in the pull request
    Markdown,
    /// A document of its own
    Html,
    /// For programs
    Json,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum HostName {
    Github,
    Gitlab,
    Gitea,
    Bitbucket,
}

impl From<HostName> for Host {
    fn from(name: HostName) -> Self {
        match name {
            HostName::Github => Self::GitHub,
            HostName::Gitlab => Self::GitLab,
            HostName::Gitea => Self::Gitea,
            HostName::Bitbucket => Self::Bitbucket,
        }
    }
}

pub(super) fn run(
    arguments: &Arguments,
    flags: &Flags,
    output: &mut Output,
) -> Result<Exit, Error> {
    let checkout = Checkout::of(&arguments.path).map_err(Error::Source)?;
    let proposal = propose(&checkout, &arguments.base, &arguments.head).map_err(Error::Source)?;
    let config = settings(flags, &checkout, &arguments.base)?;
    let review = match &proposal.merged {
        Merged::Conflicts(paths) => {
            trouble(arguments, &proposal, Trouble::Conflicts(paths.clone()))
        }
        Merged::Refused(why) => trouble(arguments, &proposal, Trouble::Refused(why.to_string())),
        Merged::Files(files) => look(arguments, &config, &proposal, files, output)?,
    };
    output.print(&render(&review, arguments))?;
    Ok(match (review.safety(), review.has_differences()) {
        (Safety::Broken, _) => Exit::Wrong,
        (_, true) => Exit::Different,
        (_, false) => Exit::Done,
    })
}

/// Reads the settings; those in the checkout have to be those of the base: what is merged never
/// chooses accounts, roles or addresses.
fn settings(flags: &Flags, checkout: &Checkout, base: &str) -> Result<Config, Error> {
    if let Some(file) = flags.found_file()
        && checkout.differs(base, &file).map_err(Error::Source)?
    {
        return Err(Error::SettingsOfHead { file });
    }
    flags.load(&[])
}

fn trouble(arguments: &Arguments, proposal: &Proposal, trouble: Trouble) -> Review {
    troubled(onto(&arguments.base), &proposal.base.revision, &proposal.head, trouble)
}

/// Returns what is merged into, as people call it: a commit by its first digits.
fn onto(base: &str) -> &str {
    let is_commit = base.len() == 40 && base.bytes().all(|byte| byte.is_ascii_hexdigit());
    if is_commit { &base[..8] } else { base }
}

/// Holds what Git declares before and after a merge.
struct Sides {
    base: Arc<Snapshot>,
    changes: Changes,
    cache: Cache,
    files: BTreeSet<Arc<str>>,
}

impl Sides {
    fn of(config: &Config, base: &ChangeSet, files: &ChangeSet) -> Result<Self, Error> {
        if base.changed.is_empty() && files.changed.is_empty() {
            return Err(Error::NoManifests { path: PathBuf::from(".") });
        }
        let mut cache = Cache::new(guard(config));
        let _ = cache.apply(base);
        let base = cache.snapshot();
        let changes = cache.apply(files);
        let files = files.changed.keys().chain(&files.removed).cloned().collect();
        Ok(Self { base, changes, cache, files })
    }
}

fn look(
    arguments: &Arguments,
    config: &Config,
    proposal: &Proposal,
    files: &ChangeSet,
    output: &mut Output,
) -> Result<Review, Error> {
    let sides = Sides::of(config, &proposal.base, files)?;
    let clock = chosen(arguments.at);
    let is_offline = arguments.observed.is_some();
    let cloud: Arc<dyn Cloud> = match &arguments.observed {
        Some(path) => Arc::new(saved(path)?),
        None => cloud::guarded(cloud::aws(config, &clock), Budgets::default()).0,
    };
    let cloud = Arc::new(Once::new(cloud));
    runtime()?.block_on(async {
        let store = memory(config, is_offline).await?;
        let ports = Ports { cloud, store, fence: Arc::new(OnlyLooks), clock };
        let stopping = CancellationToken::new();
        let mut engine = engine(config, sides.cache.reader(), ports, FRESH, stopping);
        if is_offline {
            assume(&mut engine, &sides.base, output);
            assume(&mut engine, &sides.cache.snapshot(), output);
        }
        let look = if is_offline { Look::Saved } else { Look::Live };
        reviewed(&engine, &sides, (onto(&arguments.base), &proposal.head, look), output).await
    })
}

async fn reviewed(
    engine: &Engine,
    sides: &Sides,
    (onto, head, look): (&str, &Revision, Look),
    output: &Output,
) -> Result<Review, Error> {
    let merged = sides.cache.snapshot();
    let (base, changes, files) = (&*sides.base, &sides.changes, &sides.files);
    let proposed = Proposed { onto, head, base, merged: &merged, changes, files, look };
    let progress = output.progress("reading AWS", changes.keys.len());
    let review = review(engine, &proposed, &|| progress.advance()).await.map_err(Error::Store)?;
    progress.finish();
    Ok(review)
}

fn render(review: &Review, arguments: &Arguments) -> String {
    match arguments.output {
        Form::Json => json::review(review),
        Form::Html => html::html(&report::page(review)),
        Form::Markdown => markdown(&report::page(review), arguments.host.into(), None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_commit_is_called_by_its_first_digits_and_a_branch_by_its_name() {
        assert_eq!(onto("origin/main"), "origin/main");
        assert_eq!(onto("0123456789012345678901234567890123456789"), "01234567");
    }
}
