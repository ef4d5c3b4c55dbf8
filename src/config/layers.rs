//! The layers, and the one way in which a value is taken from them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use secrecy::SecretString;

use super::keys;
use super::setting::{ConfigProblem, Secret, Setting, Source};
use super::yaml::{self, Data, Node, Place};

/// Holds what flags say, by the dotted name of the setting.
#[derive(Debug, Clone, Default)]
pub struct Overrides {
    values: BTreeMap<String, (String, String)>,
}

impl Overrides {
    /// Makes overrides that change nothing.
    pub fn new() -> Self {
        Self::default()
    }

    /// Says that `flag` (for example `--listen`) gave the setting (for example `listen`) a value.
    pub fn set(&mut self, setting: &str, flag: &str, value: impl Into<String>) -> &mut Self {
        self.values.insert(setting.to_owned(), (flag.to_owned(), value.into()));
        self
    }
}

/// Holds the text of a value from the highest layer that has it.
#[derive(Debug, Clone)]
pub(super) struct Text {
    pub(super) text: String,
    pub(super) source: Source,
    /// True when it stands in the file without quotes.
    pub(super) plain: bool,
}

/// Gives out values and collects what is wrong with them.
pub(super) struct Layers<'a> {
    overrides: &'a Overrides,
    env: &'a dyn Fn(&str) -> Option<String>,
    file: Option<File>,
    pub(super) problems: Vec<ConfigProblem>,
}

struct File {
    path: Arc<str>,
    folder: PathBuf,
    root: Node,
}

impl File {
    fn source(&self, place: Place) -> Source {
        Source::File { path: self.path.clone(), line: place.line, column: place.column }
    }
}

impl<'a> Layers<'a> {
    /// Reads the file; without it nothing else can be judged, so its own failure comes alone.
    pub(super) fn open(
        overrides: &'a Overrides,
        env: &'a dyn Fn(&str) -> Option<String>,
        path: Option<&Path>,
    ) -> Result<Self, Vec<ConfigProblem>> {
        let file = path.map(read).transpose().map_err(|problem| vec![problem])?;
        let problems = file.as_ref().map_or_else(Vec::new, |file| {
            keys::check(&file.root, |setting, node, message| {
                ConfigProblem::new(setting, file.source(node.place), message)
            })
        });
        Ok(Self { overrides, env, file, problems })
    }

    /// Takes a setting that has a default.
    pub(super) fn setting<T>(
        &mut self,
        name: &str,
        default: T,
        parse: impl FnOnce(&Text) -> Result<T, String>,
    ) -> Setting<T> {
        self.optional(name, parse).unwrap_or_else(|| Setting::default_of(default))
    }

    /// Takes a setting that may be absent.
    pub(super) fn optional<T>(
        &mut self,
        name: &str,
        parse: impl FnOnce(&Text) -> Result<T, String>,
    ) -> Option<Setting<T>> {
        let text = self.text(name)?;
        match parse(&text) {
            Ok(value) => Some(Setting { value, source: text.source }),
            Err(message) => {
                self.problems.push(ConfigProblem::new(name, text.source, message));
                None
            }
        }
    }

    /// Takes a path; a relative one in the file starts at the file's folder.
    pub(super) fn path(&mut self, name: &str) -> Option<Setting<PathBuf>> {
        let setting = self.optional(name, |text| Ok(PathBuf::from(&text.text)))?;
        let folder = match (&setting.source, &self.file) {
            (Source::File { .. }, Some(file)) => file.folder.clone(),
            _ => PathBuf::new(),
        };
        Some(setting.map(|path| folder.join(path)))
    }

    /// Takes a variable of the environment that no other layer can set.
    pub(super) fn variable(&self, name: &str) -> Option<Setting<String>> {
        let name = variable_name(name);
        let value = (self.env)(&name).filter(|value| !value.is_empty())?;
        Some(Setting { value, source: Source::Environment(name) })
    }

    /// Takes a secret from the environment, or else the file that a layer names.
    pub(super) fn secret(&mut self, name: &str) -> Option<Setting<Secret>> {
        let value = self.variable(name);
        let file = self.path(&format!("{name}File"));
        match value {
            Some(value) => Some(value.map(|text| Secret::Value(SecretString::from(text)))),
            None => file.map(|path| path.map(Secret::File)),
        }
    }

    /// Returns the names below a section of the file, with their places.
    pub(super) fn names(&self, section: &str) -> Vec<(String, Source)> {
        let Some(file) = &self.file else { return Vec::new() };
        let entries = file.root.at(section).map_or(&[][..], Node::entries);
        entries.iter().map(|(name, place, _)| (name.clone(), file.source(*place))).collect()
    }

    /// Returns where a section of the file is, also one that is empty.
    pub(super) fn place(&self, section: &str) -> Option<Source> {
        let file = self.file.as_ref()?;
        file.root.at(section).map(|node| file.source(node.place))
    }

    /// Reports a problem with a setting.
    pub(super) fn report(&mut self, name: &str, source: &Source, message: impl Into<String>) {
        self.problems.push(ConfigProblem::new(name, source.clone(), message));
    }

    fn text(&mut self, name: &str) -> Option<Text> {
        if let Some((flag, value)) = self.overrides.values.get(name) {
            let source = Source::Flag(flag.clone());
            return Some(Text { text: value.clone(), source, plain: false });
        }
        if let Some(found) = self.variable(name) {
            return Some(Text { text: found.value, source: found.source, plain: false });
        }
        self.in_file(name)
    }

    fn in_file(&mut self, name: &str) -> Option<Text> {
        let file = self.file.as_ref()?;
        let node = file.root.at(name)?;
        let source = file.source(node.place);
        match &node.data {
            Data::Scalar { text, quoted } => {
                Some(Text { text: text.clone(), source, plain: !quoted })
            }
            Data::Nothing => {
                self.report(name, &source, "it has no value; remove the line to use the default");
                None
            }
            Data::List | Data::Map(_) => {
                self.report(name, &source, "it takes one value");
                None
            }
        }
    }
}

fn read(path: &Path) -> Result<File, ConfigProblem> {
    let shown: Arc<str> = path.display().to_string().into();
    let at =
        |place: Place| Source::File { path: shown.clone(), line: place.line, column: place.column };
    let text = std::fs::read_to_string(path).map_err(|error| {
        let message = format!("the file cannot be read: {error}");
        ConfigProblem::new("", at(Place { line: 1, column: 1 }), message)
    })?;
    let root = yaml::parse(&text)
        .map_err(|broken| ConfigProblem::new("", at(broken.place), broken.message))?;
    let folder = path.parent().map(Path::to_owned).unwrap_or_default();
    Ok(File { path: shown, folder, root })
}

/// Turns `repository.pollIntervalSeconds` into `LEVELSET_REPOSITORY_POLL_INTERVAL_SECONDS`.
fn variable_name(setting: &str) -> String {
    let mut name = String::from("LEVELSET_");
    for letter in setting.chars() {
        match letter {
            '.' => name.push('_'),
            upper if upper.is_ascii_uppercase() => name.extend(['_', upper]),
            other => name.push(other.to_ascii_uppercase()),
        }
    }
    name
}
