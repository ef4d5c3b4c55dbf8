//! Which commit of a branch is applied when commits have to be signed.
//!
//! In: the mirror with its history, and the tip. Out: a [`Ruling`]: the newest commit that may be applied,
//! and why the tip may not, if it may not.
//!
//! A commit is good when it is signed by a listed key and one of its parents is good; it begins with the
//! last good commit, or the one that the settings name (`since`). So a signature vouches for what a merge
//! brings in, whoever wrote that; a signed commit on top of one that is not does not vouch for it, since
//! nobody was asked; and no older commit is ever gone back to, however well it is signed.
//!
//! What is not good is joined by a signed merge with the last good commit, which needs no force push.
//! Where nothing was good yet and no commit is named, the tip is where it begins, and has to be signed.
//!
//! Invariants: the last good commit is on the disk before it is delivered; what cannot be verified is
//! never applied, and takes nothing away from what is.

use std::collections::BTreeMap;
use std::path::PathBuf;

use git2::{Oid, Repository, Sort};

use super::record::Record;
use super::{Doubt, Keys, Signatures};
use crate::source::error::Unverified;
use crate::source::{Access, Location, SourceError};

/// More commits than this are not verified at once: the settings then have to name a later one.
const MOST: usize = 10_000;

/// Decides for one branch.
#[derive(Debug, Clone)]
pub(crate) struct Gate {
    signatures: Signatures,
    record: PathBuf,
    url: String,
}

/// Says what is applied.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Ruling {
    /// The newest good commit; `None` when none is known.
    pub(crate) good: Option<Oid>,
    /// Why the tip is not it.
    pub(crate) refused: Option<Unverified>,
}

/// Says why a reading of the history ended.
pub(crate) enum Failure {
    /// The mirror cannot be read.
    Git(git2::Error),
    /// Anything else.
    Known(SourceError),
}

impl From<git2::Error> for Failure {
    fn from(error: git2::Error) -> Self {
        Self::Git(error)
    }
}

impl Gate {
    /// Makes the gate of a branch, if its commits have to be signed.
    pub(crate) fn of(location: &Location, access: &Access) -> Option<Self> {
        Some(Self {
            signatures: access.signatures.clone()?,
            record: access.state.join("verified").join(location.mirror_name()),
            url: location.shown().to_owned(),
        })
    }

    /// Returns the commit that has to survive in the mirror, if it is known.
    pub(crate) fn kept(&self) -> Option<String> {
        Record::load(&self.record).ok().flatten().map(|record| record.revision)
    }

    /// Decides about a tip, and remembers what was decided.
    pub(crate) fn rule(&self, repository: &Repository, tip: Oid) -> Result<Ruling, Failure> {
        let record = Record::load(&self.record).map_err(Failure::Known)?;
        let anchor = self.anchor(repository, record.as_ref())?;
        let ruling = match anchor {
            Some(anchor) if anchor == tip => Ruling { good: Some(tip), refused: None },
            Some(anchor) => self.follow(repository, anchor, tip)?,
            None => self.begin(repository, tip)?,
        };
        if let Some(good) = ruling.good {
            let since = self.signatures.since.clone();
            let now = Record { revision: good.to_string(), since };
            if record.as_ref() != Some(&now) {
                now.save(&self.record).map_err(Failure::Known)?;
            }
        }
        Ok(ruling)
    }

    /// Returns the commit from which on others have to be signed: the last good one, unless the
    /// settings were changed to name one that it does not come after.
    fn anchor(
        &self,
        repository: &Repository,
        record: Option<&Record>,
    ) -> Result<Option<Oid>, git2::Error> {
        let since = self.signatures.since.as_ref();
        let Some(record) = record else { return since.map(|id| Oid::from_str(id)).transpose() };
        let last = Oid::from_str(&record.revision)?;
        let Some(since) = since.filter(|since| record.since.as_ref() != Some(since)) else {
            return Ok(Some(last));
        };
        let since = Oid::from_str(since)?;
        Ok(Some(if comes_after(repository, last, since) { last } else { since }))
    }

    fn begin(&self, repository: &Repository, tip: Oid) -> Result<Ruling, Failure> {
        let keys = Keys::load(&self.signatures).map_err(Failure::Known)?;
        let doubt = judge(&keys, repository, tip)?.err();
        let remedy = || {
            "nothing is applied; sign a commit on top with a listed key, or name the commit to begin \
             with as repository.signatures.since"
                .to_owned()
        };
        let refused = doubt.map(|why| self.refused(tip, tip, why, remedy()));
        Ok(Ruling { good: refused.is_none().then_some(tip), refused })
    }

    fn follow(&self, repository: &Repository, anchor: Oid, tip: Oid) -> Result<Ruling, Failure> {
        if repository.find_commit(anchor).is_err() {
            let why = format!("does not come after the last good commit {anchor}");
            let remedy = format!(
                "nothing is applied, since {anchor} is not in the repository any more: push a branch with it, or name \
                 another commit as repository.signatures.since"
            );
            return Ok(Ruling { good: None, refused: Some(self.refused(tip, tip, why, remedy)) });
        }
        if !comes_after(repository, tip, anchor) {
            let why = format!("does not come after the last good commit {}", short(anchor));
            let remedy = format!(
                "{}; {}",
                stays(anchor),
                joining(tip, &format!("git merge -S -s ours {anchor}"))
            );
            let refused = Some(self.refused(tip, tip, why, remedy));
            return Ok(Ruling { good: Some(anchor), refused });
        }
        let keys = Keys::load(&self.signatures).map_err(Failure::Known)?;
        let trail = Trail::find(&keys, repository, anchor, tip)?;
        let refused = trail.doubt.map(|(commit, why)| {
            let good = trail.good;
            let merge = format!("git merge -S --no-ff {tip}");
            self.refused(tip, commit, why, format!("{}; {}", stays(good), joining(good, &merge)))
        });
        Ok(Ruling { good: Some(trail.good), refused })
    }

    fn refused(&self, tip: Oid, commit: Oid, why: Doubt, remedy: String) -> Unverified {
        Unverified {
            url: self.url.clone(),
            tip: tip.to_string(),
            commit: commit.to_string(),
            why,
            remedy,
        }
    }
}

fn stays(good: Oid) -> String {
    format!("{} stays in force", short(good))
}

/// Tells how a person vouches for what is not good.
fn joining(from: Oid, merge: &str) -> String {
    format!(
        "to vouch for it, look at it and push a merge that you sign: git checkout {} && {merge}",
        short(from)
    )
}

fn short(id: Oid) -> String {
    id.to_string().chars().take(12).collect()
}

fn comes_after(repository: &Repository, later: Oid, earlier: Oid) -> bool {
    later == earlier || repository.graph_descendant_of(later, earlier).unwrap_or(false)
}

fn judge(keys: &Keys, repository: &Repository, id: Oid) -> Result<Result<(), Doubt>, git2::Error> {
    let odb = repository.odb()?;
    let object = odb.read(id)?;
    Ok(keys.judge(object.data()))
}

/// Holds how far good commits lead to a tip.
struct Trail {
    good: Oid,
    /// The first commit that ends it, and why.
    doubt: Option<(Oid, Doubt)>,
}

impl Trail {
    fn find(keys: &Keys, repository: &Repository, anchor: Oid, tip: Oid) -> Result<Self, Failure> {
        let mut walk = repository.revwalk()?;
        walk.set_sorting(Sort::TOPOLOGICAL | Sort::REVERSE)?;
        walk.push(tip)?;
        walk.hide(anchor)?;
        // True for good commits; parents come before their children.
        let mut seen: BTreeMap<Oid, bool> = BTreeMap::from([(anchor, true)]);
        let mut doubts = BTreeMap::new();
        let mut first = None;
        for id in walk {
            let id = id?;
            if seen.len() > MOST {
                let detail = format!(
                    "more than {MOST} commits come after {anchor}; name a later one as repository.signatures.since"
                );
                let path = PathBuf::from("repository.signatures.since");
                return Err(Failure::Known(SourceError::KeysUnusable { path, detail }));
            }
            let mut parents =
                repository.find_commit(id)?.parent_ids().collect::<Vec<_>>().into_iter();
            let is_reached = parents.any(|parent| seen.get(&parent) == Some(&true));
            let verdict = if is_reached { judge(keys, repository, id)? } else { Ok(()) };
            seen.insert(id, is_reached && verdict.is_ok());
            if let Err(why) = verdict {
                first.get_or_insert(id);
                doubts.insert(id, why);
            }
        }
        Self::along(repository, &seen, doubts, (anchor, tip), first)
    }

    /// Goes back along first parents, which is what the branch was at, to the newest good commit.
    fn along(
        repository: &Repository,
        seen: &BTreeMap<Oid, bool>,
        mut doubts: BTreeMap<Oid, Doubt>,
        (anchor, tip): (Oid, Oid),
        first: Option<Oid>,
    ) -> Result<Self, Failure> {
        let (mut at, mut after) = (tip, None);
        while seen.get(&at) == Some(&false) {
            after = Some(at);
            match repository.find_commit(at)?.parent_ids().next() {
                Some(parent) => at = parent,
                None => break,
            }
        }
        let good = if seen.get(&at) == Some(&true) { at } else { anchor };
        if good == tip {
            return Ok(Self { good, doubt: None });
        }
        let culprit = after.filter(|id| doubts.contains_key(id)).or(first).unwrap_or(tip);
        let why = doubts.remove(&culprit);
        let why = why.unwrap_or_else(|| "is not joined to it by signed commits".to_owned());
        Ok(Self { good, doubt: Some((culprit, why)) })
    }
}
