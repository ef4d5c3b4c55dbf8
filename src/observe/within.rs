//! Reads resources by what they are in: one list per container, shared by all that is in it.
//!
//! In: a kind that states how ([`Within`]) and a resource's name. Out: an [`Observation`]. The list of
//! containers is read as every other list; what is in one is read when somebody asks for it.
//!
//! Invariants: a container is absent only when a complete list lacks it; what several pages were read
//! for is absent only when a read of its own lacks it too, since a page and the next may be of
//! different times; after a write, the whole container is read again.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::Value;

use super::{Item, Listing, Observer, Slot, doubt, lock, observed, target};
use crate::model::within::{Choice, Surroundings, Within};
use crate::model::{Call, Cause, Doubt, Kind, Observation, Observed, ResourceId, Target};

/// No container that is read here has more pages; a longer list goes in circles.
const PAGES: usize = 10_000;

/// Holds what was last read of one container.
#[derive(Default)]
pub(super) struct Shelf {
    listing: tokio::sync::Mutex<Option<Content>>,
}

struct Content {
    listing: Listing,
    /// What the list of containers says of it.
    container: Option<Arc<Observed>>,
    /// True when its list had several pages.
    is_paged: bool,
}

/// Says which resource is looked for, and how.
#[derive(Clone, Copy)]
pub(super) struct Sought<'a> {
    pub(super) kind: &'a dyn Kind,
    pub(super) within: &'a dyn Within,
    pub(super) id: &'a ResourceId,
}

impl Sought<'_> {
    fn container(&self) -> &str {
        self.within.container(&self.id.name)
    }

    fn target(&self, cause: Cause) -> Target {
        target(self.id, cause)
    }
}

impl Observer {
    pub(super) async fn look_within(&self, sought: Sought<'_>) -> Observation {
        let slot = self.slot(&sought.id.scope, &sought.id.kind);
        let shelf = slot.shelf(sought.container());
        let mut content = shelf.listing.lock().await;
        let current = match self.fill(sought, &slot, &mut content).await {
            Ok(current) => current,
            Err(doubt) => return Observation::Unknown(doubt),
        };
        if let Ok(resources) = &current.listing.resources
            && let Some(found) = resources.get(&sought.id.name)
        {
            return Observation::Present(found.observed.clone());
        }
        match &current.container {
            Some(container) if current.is_paged => self.prove(sought, container).await,
            _ => Observation::Absent,
        }
    }

    /// Returns what a resource that is to be made finds around it.
    ///
    /// # Errors
    ///
    /// The doubt when nothing can be said now.
    pub async fn surroundings(
        &self,
        kind: &dyn Kind,
        within: &dyn Within,
        id: &ResourceId,
    ) -> Result<Surroundings, Doubt> {
        let sought = Sought { kind, within, id };
        let slot = self.slot(&id.scope, &id.kind);
        let shelf = slot.shelf(sought.container());
        let mut content = shelf.listing.lock().await;
        let current = self.fill(sought, &slot, &mut content).await?;
        let mut around =
            Surroundings { container: current.container.clone(), ..Surroundings::default() };
        if let Ok(resources) = &current.listing.resources {
            for start in within.beside(&id.name) {
                let start: Arc<str> = start.into();
                let same = resources.range(start.clone()..);
                let same = same.take_while(|(name, _)| name.starts_with(&*start));
                around.beside.extend(same.map(|(name, it)| (name.clone(), it.observed.clone())));
            }
        }
        Ok(around)
    }

    /// Reads the container, unless what was read of it may still be shared.
    async fn fill<'a>(
        &self,
        sought: Sought<'_>,
        slot: &Slot,
        content: &'a mut Option<Content>,
    ) -> Result<&'a Content, Doubt> {
        let is_fresh = self.is_fresh(content.as_ref().map(|content| &content.listing));
        let was_written = slot.forget_writes_in(sought.within, sought.container());
        if !is_fresh || was_written {
            *content = None;
        }
        let current = match content.take() {
            Some(current) => current,
            None => self.read_container(sought, slot).await,
        };
        let current = content.insert(current);
        match &current.listing.resources {
            Ok(_) => Ok(current),
            Err(doubt) => Err(doubt.clone()),
        }
    }

    async fn read_container(&self, sought: Sought<'_>, slot: &Slot) -> Content {
        let begun = self.clock.now();
        let (mut container, mut is_paged) = (None, false);
        let read = async {
            container = self.container(sought, slot).await?;
            let Some(container) = &container else { return Ok(BTreeMap::new()) };
            let (items, pages) = self.items(sought, container).await?;
            is_paged = pages > 1;
            let sorted = sought.within.sort(sought.container(), container, items);
            let item = |(name, members): (String, _)| {
                (Arc::from(name), Item::from(Arc::new(observed(members, begun))))
            };
            Ok(sorted.into_iter().map(item).collect())
        };
        let resources: Result<BTreeMap<Arc<str>, Item>, Doubt> = read.await;
        Content { listing: self.listing(begun, resources), container, is_paged }
    }

    /// Finds the container; `None` where a complete list has no such one.
    async fn container(
        &self,
        sought: Sought<'_>,
        slot: &Slot,
    ) -> Result<Option<Arc<Observed>>, Doubt> {
        let all = self.containers(sought, slot).await?;
        let name = sought.container();
        let mut candidates = sought.within.candidates(name, &all);
        for candidate in &mut candidates {
            if let Some(call) = sought.within.proof(name, candidate) {
                let answer = self.ask_within(sought, &call, Cause::Detail).await?;
                let mut more = (**candidate).clone();
                more.members.extend(answer.as_object().cloned().unwrap_or_default());
                *candidate = Arc::new(more);
            }
        }
        match sought.within.choose(name, &candidates) {
            Choice::None => Ok(None),
            Choice::This(at) => Ok(candidates.get(at).cloned()),
            Choice::Several(why) => Err(Doubt::Failed(why)),
        }
    }

    /// Lists everything in the container of a name.
    pub(super) async fn contents(
        &self,
        sought: Sought<'_>,
        slot: &Slot,
    ) -> Result<Vec<(Arc<str>, Arc<Observed>)>, Doubt> {
        let shelf = slot.shelf(sought.container());
        let mut content = shelf.listing.lock().await;
        let current = self.fill(sought, slot, &mut content).await?;
        let resources = current.listing.resources.as_ref().map_err(Clone::clone)?;
        Ok(resources.iter().map(|(name, item)| (name.clone(), item.observed.clone())).collect())
    }

    pub(super) async fn containers(
        &self,
        sought: Sought<'_>,
        slot: &Slot,
    ) -> Result<Vec<Arc<Observed>>, Doubt> {
        let mut listing = slot.listing.lock().await;
        if !self.is_fresh(listing.as_ref()) {
            *listing = Some(self.list(sought.kind, &sought.target(Cause::List)).await);
            self.drop_stale();
        }
        match listing.as_ref().map(|listing| &listing.resources) {
            Some(Ok(all)) => Ok(all.values().map(|item| item.observed.clone()).collect()),
            Some(Err(doubt)) => Err(doubt.clone()),
            None => Err(Doubt::Failed("nothing was read".to_owned())),
        }
    }

    /// Reads everything that is in a container, and returns in how many pages.
    async fn items(
        &self,
        sought: Sought<'_>,
        container: &Observed,
    ) -> Result<(Vec<Value>, usize), Doubt> {
        let mut call = sought.within.first(container);
        let mut items = Vec::new();
        for page in 1..=PAGES {
            let answer = self.ask_within(sought, &call, Cause::List).await?;
            let read = sought.within.page(&call, &answer);
            let (more, next) = read.map_err(|why| incomplete(&call, &why))?;
            items.extend(more);
            match next {
                None => return Ok((items, page)),
                Some(next) if next == call => return Err(incomplete(&call, "repeats itself")),
                Some(next) => call = next,
            }
        }
        Err(incomplete(&call, "has no end"))
    }

    /// Reads one resource by itself, which the pages of the list lacked.
    async fn prove(&self, sought: Sought<'_>, container: &Observed) -> Observation {
        let call = sought.within.look(container, &sought.id.name);
        let answer = match self.ask_within(sought, &call, Cause::Confirm).await {
            Ok(answer) => answer,
            Err(doubt) => return Observation::Unknown(doubt),
        };
        if let Err(why) = sought.within.page(&call, &answer) {
            return Observation::Unknown(incomplete(&call, &why));
        }
        match sought.within.shows(&sought.id.name, &answer) {
            false => Observation::Absent,
            true => {
                // The next look is at a new list.
                self.written(sought.id);
                let text = format!("{} exists, and the list does not show it yet", sought.id);
                Observation::Unknown(Doubt::Failed(text))
            }
        }
    }

    async fn ask_within(
        &self,
        sought: Sought<'_>,
        call: &Call,
        cause: Cause,
    ) -> Result<Value, Doubt> {
        self.cloud.call(&sought.target(cause), call).await.map_err(doubt)
    }
}

impl Slot {
    fn shelf(&self, container: &str) -> Arc<Shelf> {
        lock(&self.shelves).entry(container.to_owned()).or_default().clone()
    }

    /// Forgets what was written in a container; tells whether anything was.
    fn forget_writes_in(&self, within: &dyn Within, container: &str) -> bool {
        let mut written = lock(&self.written);
        let before = written.len();
        written.retain(|name| within.container(name) != container);
        written.len() < before
    }

    /// Drops what was read of containers and may no longer be shared.
    pub(super) fn drop_stale_shelves(&self, is_fresh: impl Fn(&Listing) -> bool) {
        lock(&self.shelves).retain(|_, shelf| match shelf.listing.try_lock() {
            Ok(content) => content.as_ref().is_some_and(|content| is_fresh(&content.listing)),
            // One that is in use is fresh, or about to be.
            Err(_) => true,
        });
    }
}

fn incomplete(call: &Call, what: &str) -> Doubt {
    Doubt::Failed(format!("the answer of {} {what}", call.operation))
}
