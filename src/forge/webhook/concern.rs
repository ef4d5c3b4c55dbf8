//! Whether a webhook is about the branch that is followed.

use super::event::{Move, Push, Repository};

/// Names the branch of a repository that is followed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Followed {
    repository: Option<String>,
    branch: Option<String>,
}

impl Followed {
    /// Names what is followed: the repository by its path at the host, as its URL has it (`None` when
    /// it has no host), and the branch (`None` for the default branch of the repository).
    pub fn new(repository: Option<&str>, branch: Option<&str>) -> Self {
        Self { repository: repository.map(plain), branch: branch.map(str::to_owned) }
    }

    /// Tells whether the repository may be ours.
    ///
    /// A host may serve below a path of its own, which its payloads leave out.
    pub(super) fn is_repository(&self, told: &Repository) -> bool {
        let (Some(ours), Some(theirs)) = (&self.repository, &told.path) else { return true };
        let theirs = plain(theirs);
        *ours == theirs || ours.ends_with(&format!("/{theirs}"))
    }

    /// Tells whether the branch may have moved.
    pub(super) fn is_moved_by(&self, push: &Push) -> bool {
        self.is_repository(&push.repository)
            && (push.moves.is_empty() || push.moves.iter().any(|it| self.is_branch(it, push)))
    }

    fn is_branch(&self, it: &Move, push: &Push) -> bool {
        let Move::Branch(moved) = it else { return false };
        let ours = self.branch.as_ref().or(push.repository.default_branch.as_ref());
        ours.is_none_or(|ours| ours == moved)
    }
}

/// Hosts do not tell names of repositories apart by their case.
fn plain(path: &str) -> String {
    let path = path.trim_matches('/');
    path.strip_suffix(".git").unwrap_or(path).to_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn push(path: Option<&str>, moves: &[&str], default: Option<&str>) -> Push {
        Push {
            repository: Repository {
                path: path.map(str::to_owned),
                default_branch: default.map(str::to_owned),
            },
            moves: moves.iter().map(|branch| Move::Branch((*branch).to_owned())).collect(),
        }
    }

    #[test]
    fn the_repository_is_known_by_the_end_of_its_path() {
        let ours = Followed::new(Some("/git/Acme/Environments.git"), None);
        let is_ours = |path: Option<&str>| ours.is_moved_by(&push(path, &[], None));
        assert!(is_ours(Some("acme/environments")));
        assert!(is_ours(Some("git/acme/environments")));
        assert!(is_ours(None), "doubt wakes");
        assert!(!is_ours(Some("acme/other")));
        assert!(!is_ours(Some("cme/environments")));
        assert!(!is_ours(Some("x/git/acme/environments")));
        let local = Followed::new(None, None);
        assert!(local.is_moved_by(&push(Some("acme/other"), &[], None)));
    }

    #[test]
    fn only_the_branch_that_is_followed_counts() {
        let main = Followed::new(None, Some("main"));
        assert!(main.is_moved_by(&push(None, &["dev", "main"], Some("trunk"))));
        assert!(!main.is_moved_by(&push(None, &["dev"], Some("main"))));
        assert!(main.is_moved_by(&push(None, &[], None)), "doubt wakes");
        let nothing = Push { moves: vec![Move::Nothing], ..Push::unknown() };
        assert!(!main.is_moved_by(&nothing));
    }

    #[test]
    fn without_a_branch_the_default_branch_of_the_payload_counts() {
        let default = Followed::new(None, None);
        assert!(default.is_moved_by(&push(None, &["trunk"], Some("trunk"))));
        assert!(!default.is_moved_by(&push(None, &["dev"], Some("trunk"))));
        assert!(default.is_moved_by(&push(None, &["dev"], None)), "doubt wakes");
    }
}
