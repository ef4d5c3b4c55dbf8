//! `levelset accept OBJECT [FIELD]`: what AWS has becomes what Git declares, as a pull request or a patch.
//!
//! The value that AWS has takes the place of the declared one in the manifest, comments and layout
//! kept. The result is planned against the same cloud and has to leave nothing to do for these fields;
//! what cannot be put into place safely is left, with the reason. It changes nothing in AWS.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use git2::{ObjectType, Oid};
use jiff::SignedDuration;
use serde_json::Value;
use similar::TextDiff;
use tokio_util::sync::CancellationToken;

use super::clock::system_clock;
use super::engine::{OnlyLooks, engine};
use super::error::Error;
use super::forge::{Told, told};
use super::output::Output;
use super::repository::remote;
use super::saved::{assume, memory, saved};
use super::settings::Flags;
use super::{Exit, cloud, manifests, runtime, store};
use crate::aws::Budgets;
use crate::config::Config;
use crate::desired::{Cache, Entry, Guard, Reader};
use crate::forge::api::Edit;
use crate::forge::proposal::propose;
use crate::manifest::edit::edit;
use crate::model::tree::{self, Content};
use crate::model::{ChangeSet, Cloud, Delta, Key, Origin, Plan, Problem, Severity};
use crate::observe::Once;
use crate::reconcile::engine::{Engine, Environment, Ports};
use crate::reconcile::preview::preview;
use crate::report::alert::accepted;
use crate::report::markdown::markdown;
use crate::report::text;
use crate::source::Checkout;
use crate::status::Store;

/// How long a list may be shared: longer than any plan takes.
const FRESH: SignedDuration = SignedDuration::from_hours(1);

/// Accept drift: propose, or print, a patch that declares what AWS has; changes nothing in AWS
///
/// With a Git host in the settings (`forge`) it makes a branch and a pull request, and prints where that
/// is; without one, or with --dry-run, it prints the patch for `git apply`.
/// Exit code 0: every field that was asked for is in the patch; 1: an error, or a field that cannot be
/// put into the manifest safely, which is said.
#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// The object: its name, or Workspace/NAME where the name is not enough
    object: String,
    /// The field, for example backups.retentionDays [default: every field that has drifted]
    field: Option<String>,
    /// The folder that holds the manifests, or one file
    #[arg(long = "in", value_name = "PATH", default_value = ".")]
    path: PathBuf,
    /// Take what AWS has from saved AWS CLI answers, as `levelset plan` does
    #[arg(long, value_name = "FILE", requires = "field")]
    observed: Option<PathBuf>,
    /// Print the patch, whatever the settings say
    #[arg(long, conflicts_with = "write")]
    dry_run: bool,
    /// Change the file instead
    #[arg(long)]
    write: bool,
}

pub(super) fn run(
    arguments: &Arguments,
    flags: &Flags,
    output: &mut Output,
) -> Result<Exit, Error> {
    let read = manifests::read(&arguments.path)?;
    if read.is_broken() {
        output.note(text::problems(&read.problems, output.note_style()).trim_end());
        return Ok(Exit::Wrong);
    }
    let snapshot = read.snapshot();
    let entry = store::named(snapshot.objects.values(), |it| &it.object.key, &arguments.object);
    let entry = entry.map_err(|error| match error {
        Error::UnknownObject { name } => Error::NotDeclared { name },
        other => other,
    })?;
    let config = flags.load(&[])?;
    let put = runtime()?.block_on(async {
        let looks = Looks::new(arguments, &config).await?;
        let plan = looks.plan(&read.desired, entry, output).await?;
        let asked = asked(&plan, arguments.field.as_deref());
        let mut put = put(&arguments.path, entry, &asked)?;
        put.hold_against(&looks, output).await?;
        Ok::<_, Error>(put)
    })?;
    for (member, why) in &put.left {
        output.note(&format!("{member}: {why}"));
    }
    let Some(after) = &put.after else {
        if put.left.is_empty() {
            output.note(if arguments.field.is_some() { SAME } else { NOTHING });
        }
        return Ok(Exit::Wrong);
    };
    let done = Delivery { arguments, config: &config, put: &put, after };
    done.deliver(output)?;
    Ok(if put.left.is_empty() { Exit::Done } else { Exit::Wrong })
}

const NOTHING: &str = "nothing of it has drifted, as far as the agent on this machine remembers; name \
                       the field to take what AWS has anyway";

const SAME: &str = "AWS has this field as Git declares it, or there is none of this name; `levelset plan` \
                    shows what differs";

/// Holds one field that is to be accepted: its place in the manifest, and the difference.
type Asked = (String, Delta);

/// Returns the differences that are meant: those of the field, or else all that are drift.
fn asked(plan: &Plan, field: Option<&str>) -> Vec<Asked> {
    let mut found = Vec::new();
    for step in &plan.steps {
        for delta in &step.deltas {
            let member = format!("{}.{}", step.section, delta.field);
            let is_meant = match field {
                Some(field) => field == member || field == delta.field,
                None => delta.origin == Origin::Drift,
            };
            found.extend(is_meant.then(|| (member, delta.clone())));
        }
    }
    found
}

/// Looks at the cloud, for any state of Git.
struct Looks<'a> {
    config: &'a Config,
    cloud: Arc<dyn Cloud>,
    store: Arc<dyn Store>,
    is_saved: bool,
    /// The places of saved answers, once they were told.
    assumed: RefCell<Option<BTreeMap<String, Environment>>>,
}

impl<'a> Looks<'a> {
    async fn new(arguments: &Arguments, config: &'a Config) -> Result<Self, Error> {
        let (is_saved, clock) = (arguments.observed.is_some(), system_clock());
        let cloud: Arc<dyn Cloud> = match &arguments.observed {
            Some(path) => Arc::new(saved(path)?),
            None => {
                let aws = cloud::guarded(cloud::aws(config, &clock), Budgets::default()).0;
                Arc::new(Once::new(aws))
            }
        };
        let store = memory(config, is_saved).await?;
        Ok(Self { config, cloud, store, is_saved, assumed: RefCell::default() })
    }

    /// Plans an object as a state of Git declares it.
    async fn plan(
        &self,
        desired: &Reader,
        entry: &Entry,
        output: &mut Output,
    ) -> Result<Plan, Error> {
        let engine = self.engine(desired, output);
        let record = self.store.get(&entry.object.key).await.map_err(Error::Store)?;
        preview(&engine, entry, record).await.map_err(Error::Plan)
    }

    fn engine(&self, desired: &Reader, output: &mut Output) -> Engine {
        let ports = Ports {
            cloud: Arc::clone(&self.cloud),
            store: Arc::clone(&self.store),
            fence: Arc::new(OnlyLooks),
            clock: system_clock(),
        };
        let stopping = CancellationToken::new();
        let mut engine = engine(self.config, desired.clone(), ports, FRESH, stopping);
        match self.assumed.take() {
            Some(known) => engine.environments = known,
            None if self.is_saved => assume(&mut engine, &desired.snapshot(), output),
            None => {}
        }
        self.assumed.replace(Some(engine.environments.clone()));
        engine
    }
}

/// Holds what was put into the file of an object, and what was left.
struct Put {
    key: Key,
    path: Arc<str>,
    /// Every file as it was read, but for the edited one.
    changes: ChangeSet,
    before: Vec<u8>,
    /// Nothing when nothing was put into it.
    after: Option<Vec<u8>>,
    /// What was put into it, with what Git declared and what AWS has.
    members: Vec<(String, Value, Value)>,
    left: Vec<(String, String)>,
}

/// Puts what AWS has into the file of an object.
fn put(path: &Path, entry: &Entry, asked: &[Asked]) -> Result<Put, Error> {
    let changes = manifests::commit(path)?;
    let (key, path) = (entry.object.key.clone(), Arc::clone(&entry.object.path));
    let before = match changes.changed.get(&path).map(|it| &it.content) {
        Some(Content::Bytes(bytes)) => bytes.to_vec(),
        _ => Vec::new(),
    };
    let (mut after, mut members, mut left) = (before.clone(), Vec::new(), Vec::new());
    for (member, delta) in asked {
        match edit(&after, &key, member, &delta.from) {
            Ok(edited) => {
                after = edited;
                members.push((member.clone(), delta.to.clone(), delta.from.clone()));
            }
            Err(why) => left.push((member.clone(), why.to_string())),
        }
    }
    let after = (after != before).then_some(after);
    Ok(Put { key, path, changes, before, after, members, left })
}

impl Put {
    /// Plans the result; a field that would still be changed takes everything with it.
    async fn hold_against(&mut self, looks: &Looks<'_>, output: &mut Output) -> Result<(), Error> {
        let Some(after) = &self.after else { return Ok(()) };
        let blob: Arc<str> = "accepted".into();
        let entry = tree::Entry { blob, content: Content::Bytes(after.as_slice().into()) };
        self.changes.changed.insert(Arc::clone(&self.path), entry);
        let mut cache = Cache::new(Guard::default());
        // Which objects are new is the agent's interest.
        let _ = cache.apply(&self.changes);
        let snapshot = cache.snapshot();
        let is_error = |problem: &&Problem| problem.severity == Severity::Error;
        let mistake = snapshot.problems.values().flatten().filter(is_error).min();
        let why = match (snapshot.get(&self.key), mistake) {
            (Some(entry), None) => {
                let plan = looks.plan(&cache.reader(), entry, output).await?;
                self.members.iter().find_map(|(member, ..)| still(&plan, member))
            }
            (_, Some(problem)) => Some(problem.message.clone()),
            (None, None) => Some("the manifest does not hold the object any more".to_owned()),
        };
        if let Some(why) = why {
            self.after = None;
            self.left.extend(self.members.drain(..).map(|(member, ..)| (member, why.clone())));
        }
        Ok(())
    }
}

/// Says what would still be done for a member, if anything.
fn still(plan: &Plan, member: &str) -> Option<String> {
    plan.steps.iter().find_map(|step| {
        let field = member.strip_prefix(&*step.section)?.strip_prefix('.')?;
        let is_changed = step.deltas.iter().any(|delta| delta.field == field);
        let is_refused = step.refusals.iter().find(|refusal| refusal.field == field);
        match is_refused {
            Some(refusal) => Some(refusal.message.clone()),
            None => is_changed.then(|| format!("{member} would still be changed")),
        }
    })
}

/// Holds what is to be delivered, and how.
struct Delivery<'a> {
    arguments: &'a Arguments,
    config: &'a Config,
    put: &'a Put,
    after: &'a [u8],
}

impl Delivery<'_> {
    /// Writes the file, proposes it, or prints the patch.
    fn deliver(&self, output: &mut Output) -> Result<(), Error> {
        let path = &self.arguments.path;
        let root = match path.is_dir() {
            true => path.clone(),
            false => path.parent().map(Path::to_owned).unwrap_or_default(),
        };
        if self.arguments.write {
            return self.write(&root.join(&*self.put.path), output);
        }
        let path = in_repository(&root, &self.put.path);
        if !self.arguments.dry_run
            && let Some((told, onto)) = self.host()?
        {
            let edit = self.edit(&told, onto, path)?;
            let proposed = runtime()?.block_on(propose(&*told.api, &edit));
            let link = proposed.map_err(|refusal| Error::Propose { path: edit.path, refusal })?;
            return output.print(&format!("{link}\n"));
        }
        output.print(&patch(&path, &self.put.before, self.after))
    }

    fn write(&self, file: &Path, output: &mut Output) -> Result<(), Error> {
        std::fs::write(file, self.after)
            .map_err(|source| Error::Write { path: file.to_owned(), source })?;
        output.note(&format!("{} declares what AWS has", file.display()));
        Ok(())
    }

    /// Returns the host that the settings name, and the branch that is followed.
    fn host(&self) -> Result<Option<(Told, String)>, Error> {
        // Saved answers may be of another day.
        let is_offline = self.arguments.observed.is_some() || self.config.forge.is_none();
        let Some(repository) = self.config.repository.as_ref().filter(|_| !is_offline) else {
            return Ok(None);
        };
        let location = remote(repository, &self.config.state_directory.value)?.location;
        let Some(told) = told(self.config, &location)? else { return Ok(None) };
        let onto = location.branch().map(str::to_owned);
        Ok(onto.map(|onto| (told, onto)))
    }

    /// Makes the change; its branch is named after it, so that the same one is proposed once.
    fn edit(&self, told: &Told, onto: String, path: String) -> Result<Edit, Error> {
        let blob =
            |bytes: &[u8]| Oid::hash_object(ObjectType::Blob, bytes).map(|id| id.to_string());
        let id = |bytes| blob(bytes).map_err(|error| Error::Plan(error.message().to_owned()));
        let (object, members) = (&self.put.key, &self.put.members);
        let names: Vec<&str> = members.iter().map(|(member, ..)| member.as_str()).collect();
        let title = match names.as_slice() {
            [one] => format!("{object}: accept {one} as AWS has it"),
            several => format!("{object}: accept {} fields as AWS has them", several.len()),
        };
        let change = id(self.after)?;
        Ok(Edit {
            branch: format!("levelset/accept/{}-{}", object.name, &change[..8]),
            onto,
            path,
            blob: id(&self.put.before)?,
            before: self.put.before.clone(),
            after: self.after.to_vec(),
            title,
            body: markdown(&accepted(object, members), told.host, None),
        })
    }
}

/// Names a file from the root of its repository, as `git apply` takes it.
fn in_repository(root: &Path, path: &str) -> String {
    let root = if root.as_os_str().is_empty() { Path::new(".") } else { root };
    match Checkout::of(root).map(|checkout| checkout.folder) {
        Ok(folder) if !folder.is_empty() => format!("{folder}/{path}"),
        _ => path.to_owned(),
    }
}

/// Writes the change for `git apply`, to which a carriage return by itself ends no line.
fn patch(path: &str, before: &[u8], after: &[u8]) -> String {
    let (before, after) = (String::from_utf8_lossy(before), String::from_utf8_lossy(after));
    let lines = |text| str::split_inclusive(text, '\n').collect::<Vec<&str>>();
    let (before, after) = (lines(&before), lines(&after));
    let diff = TextDiff::configure().newline_terminated(true).diff_slices(&before, &after);
    let mut unified = diff.unified_diff();
    unified.header(&format!("a/{path}"), &format!("b/{path}")).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_patch_has_the_lines_of_git() {
        let patch = patch("a.yaml", b"x: 1\ry: 2\r\nz: 3", b"x: 1\ry: 4\r\nz: 3");
        assert_eq!(
            patch,
            "--- a/a.yaml\n+++ b/a.yaml\n@@ -1,2 +1,2 @@\n-x: 1\ry: 2\r\n+x: 1\ry: 4\r\n z: 3\n\\ No newline \
             at end of file\n"
        );
    }
}
