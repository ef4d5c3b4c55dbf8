//! One row for each object that a merge touches.

use super::words::{deed, disrupts_when, mark};
use crate::model::Review;
use crate::model::review::{ObjectReview, When};
use crate::report::page::{Block, Line};

/// So many objects have a row; all of them have a fold.
const MOST: usize = 15;

/// So many times stand in a row.
const TIMES: usize = 2;

/// Makes the table; one object has its fold and no table.
pub(super) fn table(review: &Review) -> Option<Block> {
    let objects = &review.objects;
    if objects.len() < 2 {
        return None;
    }
    let mut rows: Vec<Vec<Line>> = objects.iter().take(MOST).map(row).collect();
    if objects.len() > MOST {
        let rest = format!("and {} more, below", objects.len() - MOST);
        rows.push(vec![Line::new().faint(rest), Line::new(), Line::new()]);
    }
    let head = ["Object", "What the merge does", "When"];
    let head = head.map(|word| Line::new().text(word)).to_vec();
    Some(Block::Table { head, rows })
}

fn row(object: &ObjectReview) -> Vec<Line> {
    let name = Line::new().mark(mark(object.safety())).code(object.key.to_string());
    vec![name, Line::new().text(deed(object)), Line::new().text(times(object))]
}

/// Says when the merge takes effect, what disrupts most first.
fn times(object: &ObjectReview) -> String {
    let mut times = Vec::new();
    for effect in object.effects.iter().filter(|effect| effect.proposed) {
        let own = effect.fields.iter().filter(|field| field.is_proposed());
        let mut found: Vec<_> = own.map(|field| (field.disruption, &field.when)).collect();
        if found.is_empty() {
            found.push((Default::default(), &effect.when));
        }
        times.extend(found.into_iter().filter(|(_, when)| **when != When::Nothing));
    }
    times.sort_by_key(|(disruption, _)| std::cmp::Reverse(*disruption));
    let mut told: Vec<String> = Vec::new();
    for (disruption, when) in times {
        let text = disrupts_when(disruption, when);
        if !told.contains(&text) {
            told.push(text);
        }
    }
    let more = if told.len() > TIMES { "; and more" } else { "" };
    told.truncate(TIMES);
    told.join("; ") + more
}
