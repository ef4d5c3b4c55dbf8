//! One file: its objects, or everything that is wrong with it.

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::Arc;

use sha2::{Digest, Sha256};

use super::envelope::{API_VERSION, Envelope, GROUP, KINDS, Metadata, Seed};
use super::mistake::{Mistake, Source};
use super::object::{Object, Spec};
use super::yaml::{self, Document, Node};
use super::{annotations, check, name, references, salvage, schema, words};
use crate::model::{Finding, Key, ObjectKind, Problem, Severity};

/// The most documents that one file may hold.
const MOST_DOCUMENTS: usize = 256;

/// The most problems that are told of one file.
const MOST_PROBLEMS: usize = 200;

/// Holds what one file declares, and what is wrong with it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Parsed {
    /// The objects; none when a problem is an error, for a file is taken whole or not at all.
    pub objects: Vec<Arc<Object>>,
    /// The problems, in the order of the file.
    pub problems: Vec<Problem>,
    /// The keys that the file names, in their order, whether or not their documents are good.
    pub named: Box<[Key]>,
    /// True when some document cannot be read far enough to say which key it names.
    pub unsure: bool,
}

impl Parsed {
    /// Tells whether the file is not taken.
    pub fn is_broken(&self) -> bool {
        self.problems.iter().any(|problem| problem.severity == Severity::Error)
    }
}

/// The byte order mark with which some editors begin a file.
const BOM: char = '\u{feff}';

/// Reads one file; `path` is relative to the root of the repository.
pub fn parse(path: &str, bytes: &[u8]) -> Parsed {
    let path: Arc<str> = path.into();
    let text = match std::str::from_utf8(bytes) {
        Ok(text) => text.strip_prefix(BOM).unwrap_or(text),
        Err(error) => return not_utf8(path, bytes, error.valid_up_to()),
    };
    let source = Source::new(Arc::clone(&path), text);
    let documents = yaml::documents(text);
    let mut file = File::new(source);
    for document in documents.iter().take(MOST_DOCUMENTS) {
        file.take(*document);
    }
    if let Some(next) = documents.get(MOST_DOCUMENTS) {
        let message = format!("the file has more than {MOST_DOCUMENTS} documents");
        let span = next.content..next.content;
        file.unsure = true;
        file.mistakes.push(
            Mistake::error(span, "TooManyDocuments", message).hint("split it into several files"),
        );
    }
    file.finish()
}

fn not_utf8(path: Arc<str>, bytes: &[u8], valid: usize) -> Parsed {
    let text = String::from_utf8_lossy(bytes);
    let hint = if bytes.starts_with(&[0xff, 0xfe]) || bytes.starts_with(&[0xfe, 0xff]) {
        "it looks like UTF-16: save it as UTF-8"
    } else {
        "save it as UTF-8"
    };
    // A byte order mark is no column of the first line.
    let (text, at) = match text.strip_prefix(BOM) {
        Some(rest) => (rest, valid.saturating_sub(BOM.len_utf8())),
        None => (&*text, valid),
    };
    let mistake = Mistake::error(at..at, "NotUtf8", "the file is not UTF-8 text").hint(hint);
    let problem = Source::new(path, text).problem(mistake);
    Parsed { problems: vec![problem], unsure: true, ..Parsed::default() }
}

/// Returns what is told of a file that was not read.
pub(super) fn refused(path: &str, reason: &str) -> Parsed {
    let mistake = Mistake::error(0..0, "FileRefused", reason)
        .hint("the objects of its last good version stay in force");
    let problem = Source::new(path.into(), "").problem(mistake);
    Parsed { problems: vec![problem], unsure: true, ..Parsed::default() }
}

/// Returns what is told of a file whose reading panicked; the log says where.
pub(super) fn failed(path: &str) -> Parsed {
    let message = "reading this file failed inside Levelset; its last good objects stay in force";
    let mistake = Mistake::error(0..0, "InternalError", message)
        .hint("report it, with this file and what the log says of the panic");
    let problem = Source::new(path.into(), "").problem(mistake);
    Parsed { problems: vec![problem], unsure: true, ..Parsed::default() }
}

/// Returns the key that a document names, if it is one of ours.
pub(super) fn key_of(root: &Node) -> Option<Key> {
    let kind = kind_of(root).ok()?;
    let name = root.at(&["metadata", "name"])?.text()?;
    Some(Key::new(kind, name))
}

struct File<'a> {
    source: Source<'a>,
    objects: Vec<(Object, Document<'a>)>,
    mistakes: Vec<Mistake>,
    named: BTreeSet<Key>,
    unsure: bool,
}

impl<'a> File<'a> {
    fn new(source: Source<'a>) -> Self {
        let (objects, mistakes) = (Vec::new(), Vec::new());
        Self { source, objects, mistakes, named: BTreeSet::new(), unsure: false }
    }

    /// Reads one document: once when it is good, twice when something is to be told of it.
    fn take(&mut self, document: Document<'a>) {
        let read = yaml::read(document.text, Seed::default()).ok();
        let object = read.and_then(|envelope| self.good(envelope, document));
        if let Some(object) = object {
            self.add(object, document);
            return;
        }
        let found = Inspection::of(document.text);
        let broken = found.mistakes.iter().any(|mistake| mistake.severity == Severity::Error);
        self.unsure |= broken && found.key.is_none();
        self.named.extend(found.key);
        let mistakes = found.mistakes.into_iter();
        self.mistakes.extend(mistakes.map(|mistake| mistake.shifted(document.offset)));
        if let (Some(envelope), false) = (found.envelope, broken) {
            let object = self.object(envelope, document);
            self.add(object, document);
        }
    }

    /// Returns the object of a document of which nothing is to be told.
    fn good(&self, envelope: Envelope, document: Document<'_>) -> Option<Object> {
        let findings = findings(&envelope.metadata, &envelope.spec, document.text);
        let clean = !envelope.has_status && findings.is_empty();
        let shape = schema::shape(envelope.spec.kind()).member("spec")?;
        let value = envelope.spec.to_value();
        (clean && shape.admits(&value)).then(|| self.object(envelope, document))
    }

    fn object(&self, envelope: Envelope, document: Document<'_>) -> Object {
        let Envelope { metadata, spec, .. } = envelope;
        let position = self.source.position(document.content);
        let line = |at: usize| self.source.position(document.offset + at).line;
        let holds = annotations::holds(&metadata.annotations, document.text).into_iter();
        Object {
            hold_lines: holds.map(|(annotation, at)| (annotation, line(at))).collect(),
            key: Key::new(spec.kind(), metadata.name),
            digest: digest(&spec).into(),
            mentions: match references::may_be_in(document.text) {
                true => references::mentions(&spec),
                false => Vec::new(),
            },
            spec,
            annotations: metadata.annotations.into_iter().collect(),
            path: position.path,
            line: position.line,
        }
    }

    fn add(&mut self, object: Object, document: Document<'a>) {
        let first = self.objects.iter().find(|(known, _)| known.key == object.key);
        if let Some((_, first)) = first {
            let message = format!("{} is declared twice in this file", object.key);
            let first = name_of(*first).start;
            let mistake = Mistake::error(name_of(document), "DuplicateObject", message);
            self.mistakes.push(mistake.after(first));
        }
        self.named.insert(object.key.clone());
        self.objects.push((object, document));
    }

    fn finish(mut self) -> Parsed {
        self.mistakes.sort_by(|a, b| (a.span.start, a.code).cmp(&(b.span.start, b.code)));
        self.mistakes.dedup();
        self.mistakes.truncate(MOST_PROBLEMS);
        let Self { source, objects, mistakes, named, unsure } = self;
        let problems = mistakes.into_iter().map(|mistake| source.problem(mistake)).collect();
        let named = named.into_iter().collect();
        let mut parsed = Parsed { objects: Vec::new(), problems, named, unsure };
        if !parsed.is_broken() {
            parsed.objects = objects.into_iter().map(|(object, _)| Arc::new(object)).collect();
            // It took over the room of the objects themselves, and is kept as long as the file.
            parsed.objects.shrink_to_fit();
        }
        parsed
    }
}

/// Returns where the name of a good document stands in its file.
fn name_of(document: Document<'_>) -> Range<usize> {
    let span = yaml::tree(document.text).map_or(0..0, |root| root.locate("/metadata/name"));
    span.start + document.offset..span.end + document.offset
}

/// Returns the SHA-256 of what a spec means, in hexadecimal.
fn digest(spec: &Spec) -> String {
    let shape = schema::shape(spec.kind()).member("spec");
    let value = spec.to_value();
    let value = shape.map_or(value.clone(), |shape| shape.canonical(&value));
    hex::encode(Sha256::digest(format!("{}\n{value}", spec.kind())))
}

/// Holds what a close look at a document found.
struct Inspection {
    /// The manifest, when it could be read.
    envelope: Option<Envelope>,
    /// The key that the document names, good or not.
    key: Option<Key>,
    /// What is to be told of it.
    mistakes: Vec<Mistake>,
}

impl Inspection {
    fn of(text: &str) -> Self {
        let root = match yaml::tree(text) {
            Ok(root) => root,
            Err(fault) => {
                let mistake = foreign_text(text, &fault).unwrap_or(fault);
                return Self::failed(vec![mistake]);
            }
        };
        match kind_of(&root) {
            Ok(kind) => Self::of_kind(kind, &root, text),
            Err(mistakes) => Self::failed(mistakes),
        }
    }

    fn failed(mistakes: Vec<Mistake>) -> Self {
        Self { envelope: None, key: None, mistakes }
    }

    fn of_kind(kind: ObjectKind, root: &Node, text: &str) -> Self {
        let mut mistakes = check::check(schema::shape(kind), root, text);
        if let Some(status) = root.entry("status") {
            let message = "the status in Git is ignored: it is what the agent reports";
            let mut notice = Mistake::error(status.span.clone(), "StatusIgnored", message);
            notice.severity = Severity::Notice;
            mistakes.push(notice.hint("remove it"));
        }
        let read = yaml::read(text, Seed { kind: Some(kind) });
        let findings = match &read {
            Ok(envelope) => findings(&envelope.metadata, &envelope.spec, text),
            Err(_) => salvage::findings(kind, root, &mistakes),
        };
        for finding in findings {
            let mistake = Mistake::found(finding, root, text);
            // A range that the schema and the section's check both know is told once.
            let known = |other: &Mistake| other.span == mistake.span && other.code == mistake.code;
            if !mistakes.iter().any(known) {
                mistakes.push(mistake);
            }
        }
        let told = mistakes.iter().any(|mistake| mistake.severity == Severity::Error);
        let key = key_of(root);
        match read {
            Ok(envelope) => Self { envelope: Some(envelope), key, mistakes },
            Err(fault) => {
                mistakes.extend((!told).then_some(fault));
                Self { envelope: None, key, mistakes }
            }
        }
    }
}

/// Returns what the meaning of a manifest gives reason to tell; `text` is its document.
fn findings(metadata: &Metadata, spec: &Spec, text: &str) -> Vec<Finding> {
    let mut found = of_metadata(metadata);
    found.extend(spec.check(&metadata.name));
    if references::may_be_in(text) {
        let key = Key::new(spec.kind(), metadata.name.as_str());
        found.extend(references::check(spec, &key, true));
    }
    found
}

/// Does the same for `metadata` alone.
pub(super) fn of_metadata(metadata: &Metadata) -> Vec<Finding> {
    let mut found = annotations::check(&metadata.annotations);
    found.extend(name::check(&metadata.name));
    found
}

/// Says which kind a document is of, or why it is none of ours.
fn kind_of(root: &Node) -> Result<ObjectKind, Vec<Mistake>> {
    let start = root.entries().first().map_or(root.span.clone(), |entry| entry.span.clone());
    if !matches!(root.data, yaml::Data::Map(_)) {
        let message = "a manifest is a mapping with apiVersion, kind, metadata and spec";
        return Err(vec![Mistake::error(start, "WrongType", message)]);
    }
    let text = |key: &str| root.entry(key).and_then(|entry| entry.value.text());
    match text("apiVersion") {
        Some(version) if is_foreign(version) => {
            return Err(vec![foreign(root.locate("/apiVersion"))]);
        }
        None if ["apiVersion", "kind", "metadata", "spec"]
            .iter()
            .all(|key| root.entry(key).is_none()) =>
        {
            return Err(vec![foreign(start)]);
        }
        _ => {}
    }
    let mut mistakes: Vec<Mistake> = wrong_version(root, &start).into_iter().collect();
    let names = KINDS.map(ObjectKind::as_str);
    let kind = text("kind").and_then(|name| KINDS.into_iter().find(|kind| kind.as_str() == name));
    if let (Some(kind), true) = (kind, mistakes.is_empty()) {
        return Ok(kind);
    }
    if kind.is_none() {
        mistakes.push(match text("kind") {
            Some(name) => {
                let message = format!("kind is \"{name}\", and has to be {}", words::or(&names));
                let mut mistake = Mistake::error(root.locate("/kind"), "UnknownKind", message);
                mistake.hint =
                    words::nearest(name, &names).map(|name| format!("did you mean {name}?"));
                mistake
            }
            None => Mistake::error(start, "MissingField", "the manifest lacks the field \"kind\"")
                .hint(format!("add kind: {}", words::or(&names))),
        });
    }
    Err(mistakes)
}

fn wrong_version(root: &Node, start: &Range<usize>) -> Option<Mistake> {
    let add = format!("write apiVersion: {API_VERSION}");
    match root.entry("apiVersion").map(|entry| entry.value.text()) {
        Some(Some(API_VERSION)) => None,
        None => Some(
            Mistake::error(
                start.clone(),
                "MissingField",
                "the manifest lacks the field \"apiVersion\"",
            )
            .hint(add),
        ),
        Some(version) => {
            let name = version.map_or("no text".to_owned(), |version| format!("\"{version}\""));
            let message =
                format!("apiVersion is {name}, which this version of Levelset does not know");
            Some(Mistake::error(root.locate("/apiVersion"), "UnknownApiVersion", message).hint(add))
        }
    }
}

/// Tells whether an `apiVersion` is another tool's, and not ours with a slip of the pen.
fn is_foreign(version: &str) -> bool {
    let group = version.split_once('/').map_or(version, |(group, _)| group);
    group != GROUP && strsim::damerau_levenshtein(group, GROUP) > 3
}

fn foreign(span: Range<usize>) -> Mistake {
    let message = "this document is another tool's: Levelset leaves it alone";
    let mut notice = Mistake::error(span, "ForeignDocument", message);
    notice.severity = Severity::Notice;
    notice.hint(format!("a manifest starts with apiVersion: {API_VERSION}"))
}

/// Looks at the text of a document that cannot be read: another tool's may hold tags, merge keys and
/// templates.
fn foreign_text(text: &str, fault: &Mistake) -> Option<Mistake> {
    let mut ours = false;
    for line in yaml::lines(text) {
        let words = &text[line.clone()];
        if let Some(version) = words.strip_prefix("apiVersion:") {
            let version = version.split(" #").next().unwrap_or_default();
            let version = version.trim().trim_matches(['"', '\'']);
            return is_foreign(version)
                .then(|| foreign(line.start..line.start + "apiVersion".len()));
        }
        ours |= ["kind:", "metadata:", "spec:"].iter().any(|key| words.starts_with(key));
    }
    let start = yaml::documents(text).first().map_or(0, |document| document.content);
    (!ours && fault.code != "Syntax").then(|| foreign(start..start))
}
