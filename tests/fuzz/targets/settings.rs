//! The settings file.

use std::path::PathBuf;

use levelset::config::{Overrides, Source, load};

use super::{files, root};

pub(super) fn seeds() -> Vec<Vec<u8>> {
    let whole = include_bytes!("../../../deploy/emulator/levelset.yaml").to_vec();
    let examples = files(&root().join("manifests-example"), "levelset.yaml");
    examples.into_iter().map(|path| std::fs::read(path).unwrap()).chain([whole]).collect()
}

/// Whatever the bytes are: they are settings, or every problem names a place in the file.
pub(super) fn run(bytes: &[u8]) {
    let path = file();
    std::fs::write(&path, bytes).unwrap();
    let loaded = load(&Overrides::new(), &|_| None, Some(&path));
    let Err(problems) = loaded else { return };
    assert!(!problems.is_empty(), "refused without a reason");
    let text = String::from_utf8_lossy(bytes);
    let lines = text.split(['\n', '\r', '\u{85}', '\u{2028}', '\u{2029}']).count();
    for problem in problems {
        assert!(!problem.message.is_empty(), "{problem:?}");
        if let Source::File { line, column, .. } = problem.source {
            assert!(line >= 1 && column >= 1, "{problem:?}");
            assert!(line as usize <= lines, "line {line} of {lines}: {problem:?}");
        }
    }
}

/// The reader takes a path; each process and thread has a file of its own.
fn file() -> PathBuf {
    let thread = format!("{:?}", std::thread::current().id());
    let number: String = thread.chars().filter(char::is_ascii_digit).collect();
    std::env::temp_dir().join(format!("levelset-fuzz-{}-{number}.yaml", std::process::id()))
}
