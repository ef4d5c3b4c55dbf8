//! Reads Rust source as text: what is production code, what it names, how long its functions are.
//!
//! It relies on rustfmt's layout (an item ends with a brace at the indentation that it began with)
//! and does not parse the language.

/// One file of `src/`, tests and comments taken out.
pub(super) struct Source {
    /// The path from `src/`, for example `kinds/vpc/sdk.rs`.
    pub(super) path: String,
    /// The production lines with their numbers in the file; comments and blank lines are gone.
    pub(super) lines: Vec<(usize, String)>,
    /// True when the file begins with `//!`.
    pub(super) documented: bool,
    /// How many lines the file has up to its tests, comments and blank lines included.
    pub(super) length: usize,
}

/// One function: its name, the line it begins on, and how many lines of code its body has.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Function {
    pub(super) name: String,
    pub(super) line: usize,
    pub(super) body: usize,
}

impl Source {
    /// Reads the text of the file at `path`.
    pub(super) fn read(path: &str, text: &str) -> Self {
        let kept = without_tests(text);
        let lines = kept
            .iter()
            .map(|(number, line)| (*number, without_comment(line).to_owned()))
            .filter(|(_, line)| !line.trim().is_empty())
            .collect();
        let documented = text.lines().next().is_some_and(|line| line.starts_with("//!"));
        Self { path: path.to_owned(), lines, documented, length: kept.len() }
    }

    /// Returns the module that the file is, for example `["kinds", "vpc", "sdk"]`.
    pub(super) fn module(&self) -> Vec<String> {
        let stem = self.path.trim_end_matches(".rs");
        let stem = stem.strip_suffix("/mod").unwrap_or(stem);
        match stem {
            "lib" | "main" => Vec::new(),
            _ => stem.split('/').map(str::to_owned).collect(),
        }
    }

    /// Returns every path into this crate that the code names, from the crate's root.
    pub(super) fn references(&self) -> Vec<Vec<String>> {
        let code = self.code();
        let mut found = Vec::new();
        for start in ["crate::", "super::"].iter().flat_map(|word| positions(&code, word)) {
            let paths = expand(&code[start..]);
            found.extend(paths.into_iter().filter_map(|path| self.resolve(path)));
        }
        found
    }

    /// Returns the other crates that the code names: a word, followed by `::`.
    pub(super) fn names(&self, word: &str) -> bool {
        !positions(&self.code(), &format!("{word}::")).is_empty()
    }

    /// Returns every function of the file.
    pub(super) fn functions(&self) -> Vec<Function> {
        let mut found = Vec::new();
        for (index, (number, line)) in self.lines.iter().enumerate() {
            let Some(name) = function_name(line) else { continue };
            if let Some(body) = body_length(&self.lines[index..], indent(line)) {
                found.push(Function { name, line: *number, body });
            }
        }
        found
    }

    /// Returns the production code as one text.
    pub(super) fn code(&self) -> String {
        self.lines.iter().map(|(_, line)| line.as_str()).collect::<Vec<_>>().join("\n")
    }

    /// Makes a path absolute; `None` when it does not leave the module.
    fn resolve(&self, path: Vec<String>) -> Option<Vec<String>> {
        let supers = path.iter().take_while(|part| *part == "super").count();
        let rest = path.into_iter().skip(supers).skip_while(|part| part == "crate");
        let base = if supers == 0 { Vec::new() } else { self.module() };
        let kept = base.len().saturating_sub(supers);
        let resolved: Vec<String> = base.into_iter().take(kept).chain(rest).collect();
        (!resolved.is_empty()).then_some(resolved)
    }
}

/// Returns the lines that are not part of an item under `#[cfg(test)]`, with their numbers.
fn without_tests(text: &str) -> Vec<(usize, &str)> {
    let mut kept = Vec::new();
    let mut lines = text.lines().zip(1..).map(|(line, number)| (number, line));
    while let Some((number, line)) = lines.next() {
        if line.trim() != "#[cfg(test)]" {
            kept.push((number, line));
            continue;
        }
        let item = lines.by_ref().find(|(_, line)| !line.trim_start().starts_with("#["));
        match item {
            Some((_, item)) if item.ends_with(';') => {}
            // The tests of a module are the last thing in its file.
            Some((_, item)) if item.trim_start().starts_with("mod ") => break,
            _ => {
                let closing = format!("{}}}", " ".repeat(indent(line)));
                let _ = lines.by_ref().find(|(_, line)| *line == closing);
            }
        }
    }
    kept
}

/// Cuts a comment off a line; a `//` within a text (an address) stays.
fn without_comment(line: &str) -> &str {
    if line.trim_start().starts_with("//") {
        return "";
    }
    line.find(" // ").map_or(line, |at| &line[..at])
}

/// Returns where a word begins, other than in the middle of a longer word.
fn positions(code: &str, word: &str) -> Vec<usize> {
    let continues = |c: char| c.is_alphanumeric() || c == '_' || c == ':';
    code.match_indices(word)
        .map(|(at, _)| at)
        .filter(|at| !code[..*at].chars().next_back().is_some_and(continues))
        .collect()
}

/// Expands the path that a text begins with: `crate::{a::b, c}` is two paths.
fn expand(text: &str) -> Vec<Vec<String>> {
    let mut path = Vec::new();
    let mut rest = text;
    loop {
        if let Some(group) = rest.strip_prefix('{') {
            let members = members(group).into_iter().flat_map(|member| expand(member.trim()));
            return members.map(|tail| [path.clone(), tail].concat()).collect();
        }
        let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
        if end == 0 {
            break;
        }
        path.push(rest[..end].to_owned());
        let Some(next) = rest[end..].strip_prefix("::") else { break };
        rest = next;
    }
    vec![path]
}

/// Splits the inside of a brace group at its own commas.
fn members(group: &str) -> Vec<&str> {
    let (mut depth, mut start, mut found) = (0_usize, 0, Vec::new());
    for (at, c) in group.char_indices() {
        match c {
            '{' => depth += 1,
            '}' if depth == 0 => {
                found.push(&group[start..at]);
                break;
            }
            '}' => depth -= 1,
            ',' if depth == 0 => {
                found.push(&group[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    found.into_iter().filter(|member| !member.trim().is_empty()).collect()
}

/// Returns the name of the function that a line declares.
fn function_name(line: &str) -> Option<String> {
    const BEFORE: [&str; 6] = ["pub", "pub(crate)", "pub(super)", "const", "async", "unsafe"];
    let mut words = line.split_whitespace().skip_while(|word| BEFORE.contains(word));
    if words.next()? != "fn" {
        return None;
    }
    let name = words.next()?;
    name.split(['(', '<']).next().map(str::to_owned)
}

/// Counts the lines between a function's opening and closing brace; `None` without a body.
fn body_length(lines: &[(usize, String)], indentation: usize) -> Option<usize> {
    let opens = lines.iter().position(|(_, line)| line.ends_with('{') || line.ends_with(';'))?;
    if lines[opens].1.ends_with(';') {
        return None;
    }
    let closing = format!("{}}}", " ".repeat(indentation));
    lines[opens + 1..].iter().position(|(_, line)| *line == closing)
}

/// Counts the spaces that a line begins with.
fn indent(line: &str) -> usize {
    line.len() - line.trim_start().len()
}
