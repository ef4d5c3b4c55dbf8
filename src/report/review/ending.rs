//! What became of a pull request, as the page that takes the place of its review.

use super::words::they;
use crate::model::Key;
use crate::model::review::{Ending, Standing};
use crate::report::page::{Block, Line, Mark, Page};

/// So many objects are named.
const MOST: usize = 50;

/// Makes the page of a pull request that is over.
pub fn ending(ending: &Ending) -> Page {
    match ending {
        Ending::Closed => told("Closed without a merge: nothing of it happens"),
        Ending::Elsewhere => told("It goes into a branch that this agent does not follow"),
        Ending::Merged(objects) => merged(objects),
    }
}

fn told(words: &str) -> Page {
    Page { title: Line::new().mark(Mark::Note).text(words), ..Page::default() }
}

fn merged(objects: &[(Key, Standing)]) -> Page {
    let count = |standing: &Standing| objects.iter().filter(|(_, it)| it == standing).count();
    let done = count(&Standing::Converged);
    let stuck = objects.iter().filter(|(_, it)| matches!(it, Standing::Stuck(_))).count();
    let (mark, words) = match (objects.len() - done, stuck) {
        (0, _) => (Mark::Good, "Merged: everything that it touches is as declared".to_owned()),
        (_, 0) => {
            let so_far = they(done, "object", "is", "are");
            (Mark::Later, format!("Merged: {so_far} as declared so far, of {}", objects.len()))
        }
        (_, stuck) => {
            let told = they(stuck, "object", "does", "do");
            (Mark::Look, format!("Merged: {told} not become as declared without a person"))
        }
    };
    let mut rows: Vec<Vec<Line>> = objects.iter().take(MOST).map(row).collect();
    if objects.len() > MOST {
        let rest = format!("and {} more", objects.len() - MOST);
        rows.push(vec![Line::new().faint(rest), Line::new()]);
    }
    let head = vec![Line::new().text("Object"), Line::new().text("How it stands")];
    let table = (!rows.is_empty()).then_some(Block::Table { head, rows });
    Page {
        title: Line::new().mark(mark).text(words),
        head: table.into_iter().collect(),
        ..Page::default()
    }
}

fn row((key, standing): &(Key, Standing)) -> Vec<Line> {
    let (mark, words) = match standing {
        Standing::Converged => (Mark::Good, Line::new().text("as declared")),
        Standing::Working(reason) => (Mark::Later, Line::new().text(reason)),
        Standing::Stuck(reason) => {
            let command = format!("levelset explain {key}");
            (Mark::Look, Line::new().text(reason).text(": ").code(command).text(" says why"))
        }
    };
    vec![Line::new().mark(mark).code(key.to_string()), words]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::webhook::Host;
    use crate::report::markdown::markdown;

    fn told(standings: &[Standing]) -> String {
        let objects = standings.iter().enumerate();
        let objects = objects.map(|(n, it)| (Key::workspace(format!("team-{n}")), it.clone()));
        markdown(&ending(&Ending::Merged(objects.collect())), Host::GitHub, None)
    }

    #[test]
    fn a_merge_is_told_until_all_of_it_is_so() {
        let working = Standing::Working("Deferred".to_owned());
        let expected = "\
### 🕓\u{a0}Merged: 1 object is as declared so far, of 2

| Object | How it stands |
|:--|:--|
| ✅\u{a0}`Workspace/team-0` | as declared |
| 🕓\u{a0}`Workspace/team-1` | Deferred |

";
        assert_eq!(told(&[Standing::Converged, working.clone()]), expected);
        let all = told(&[Standing::Converged, Standing::Converged]);
        assert!(all.starts_with("### ✅\u{a0}Merged: everything that it touches is as declared\n"));
        let stuck = told(&[working, Standing::Stuck("Failed".to_owned())]);
        assert!(stuck.contains("1 object does not become as declared without a person"), "{stuck}");
        assert!(stuck.contains("| Failed: `levelset explain Workspace/team-1` says why |"));
    }

    #[test]
    fn what_is_closed_or_goes_elsewhere_is_one_line() {
        for end in [Ending::Closed, Ending::Elsewhere] {
            assert_eq!(markdown(&ending(&end), Host::GitHub, None).lines().count(), 2);
        }
    }
}
