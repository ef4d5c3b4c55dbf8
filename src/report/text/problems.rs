//! Problems as a compiler shows them: the line, a mark under the place, and what to do.
//!
//! In: problems. Out: one block for each and a line that counts.

use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};

use crate::model::{Problem, Severity};
use crate::report::style::{Ink, Style};

/// Renders problems in the order in which they come, and counts them.
pub fn problems(problems: &[Problem], style: Style) -> String {
    format!("{}{}\n", blocks(problems, style), count(problems, style))
}

/// Renders what a check of manifests found, and says how much it looked at.
pub fn checked(objects: usize, files: usize, problems: &[Problem], style: Style) -> String {
    let looked = format!("{} in {}", plural(objects, "object"), plural(files, "file"));
    format!("{}{looked}: {}\n", blocks(problems, style), count(problems, style))
}

fn blocks(problems: &[Problem], style: Style) -> String {
    let renderer = match style {
        Style::Plain => Renderer::plain(),
        Style::Coloured => Renderer::styled(),
    };
    let mut text = String::new();
    for problem in problems {
        text.push_str(&renderer.render(&groups(problem)));
        text.push_str("\n\n");
    }
    text
}

fn groups(problem: &Problem) -> Vec<Group<'_>> {
    let level = match problem.severity {
        Severity::Error => Level::ERROR,
        Severity::Notice => Level::NOTE,
    };
    let snippet = Snippet::source(problem.source_line.as_str())
        .path(problem.position.path.as_ref())
        .line_start(problem.position.line as usize)
        .annotation(AnnotationKind::Primary.span(span(problem)));
    let title = level.primary_title(problem.message.as_str()).id(problem.code.as_str());
    let mut group = title.element(snippet);
    if let Some(hint) = &problem.hint {
        group = group.element(Level::HELP.message(hint.as_str()));
    }
    vec![group]
}

/// Returns the bytes of the line that the problem covers; a place past its end is its end.
fn span(problem: &Problem) -> std::ops::Range<usize> {
    let line = &problem.source_line;
    let first = problem.position.column.saturating_sub(1) as usize;
    let byte =
        |character: usize| line.char_indices().nth(character).map_or(line.len(), |(byte, _)| byte);
    byte(first)..byte(first + problem.length.max(1) as usize)
}

fn count(problems: &[Problem], style: Style) -> String {
    let errors = problems.iter().filter(|problem| problem.severity == Severity::Error).count();
    let notices = problems.len() - errors;
    let ink = if errors > 0 { Ink::Bad } else { Ink::Added };
    let counts = format!("{}, {}", plural(errors, "error"), plural(notices, "notice"));
    style.paint(ink, counts)
}

fn plural(count: usize, word: &str) -> String {
    match count {
        1 => format!("1 {word}"),
        _ => format!("{count} {word}s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::text::sample;

    #[test]
    fn a_problem_shows_its_line_its_place_and_what_to_do() {
        let expected = "\
error[UnknownField]: unknown field `sizeclass` in `database`
 --> teams/payments.yaml:9:7
  |
9 |       sizeclass: db.r6g.large
  |       ^^^^^^^^^
  |
  = help: did you mean `sizeClass`?

note[StatusIgnored]: `status` belongs to the agent and is ignored
  --> teams/payments.yaml:20:1
   |
20 | status: {}
   | ^^^^^^

1 error, 1 notice
";
        assert_eq!(problems(&sample::problems(), Style::Plain), expected);
    }

    #[test]
    fn a_mark_stands_under_its_characters_and_not_under_its_bytes() {
        let mut problem = sample::problems().remove(0);
        problem.source_line = "näme: größe".to_owned();
        (problem.position.column, problem.length) = (7, 5);
        let text = problems(&[problem.clone()], Style::Plain);
        assert!(text.contains("9 | näme: größe\n  |       ^^^^^\n"), "{text}");
        (problem.position.column, problem.length) = (500, 500);
        assert!(problems(&[problem], Style::Plain).contains("näme"));
    }

    #[test]
    fn no_problem_is_told_as_such() {
        assert_eq!(problems(&[], Style::Plain), "0 errors, 0 notices\n");
    }
}
