//! The manifests that the demo plays with: the files of `manifests-example`, built in, so that the
//! program needs no checkout.

/// Names a file by its place in the repository and holds its text.
macro_rules! file {
    ($path:literal) => {
        ($path, include_str!(concat!("../../../manifests-example/", $path)))
    };
}

/// Every manifest of the example but one, which makes a VPC: path and text.
pub(super) const FILES: [(&str, &str); 9] = [
    file!("networks/analytics-vpc.yaml"),
    file!("networks/shared-prod-vpc.yaml"),
    file!("teams/analytics/warehouse.yaml"),
    file!("teams/payments/prod.yaml"),
    file!("teams/payments/staging.yaml"),
    file!("teams/platform/keycloak.yaml"),
    file!("teams/platform/sandboxes.yaml"),
    file!("teams/search/catalog.yaml"),
    file!("teams/search/prod.yaml"),
];

/// The network that makes a VPC, which the cloud of the demo does not do over HTTP.
#[cfg(test)]
const LEFT_OUT: &str = "networks/shop-vpc.yaml";

/// The instances that the files ask for in production, one suspended workspace left out.
pub(super) const PRODUCTION: [&str; 6] = [
    "team-analytics-warehouse",
    "team-payments-prod",
    "team-search-catalog-a",
    "team-search-catalog-b",
    "team-search-catalog-reports",
    "team-search-prod",
];

/// The instances that the files ask for in staging.
pub(super) const STAGING: [&str; 3] = ["sandbox-blue", "sandbox-green", "team-payments-staging"];

/// The workspaces that ask for them.
pub(super) const WORKSPACES: [&str; 7] = [
    "team-analytics-warehouse",
    "team-payments-prod",
    "team-search-catalog",
    "team-search-prod",
    "sandbox-blue",
    "sandbox-green",
    "team-payments-staging",
];

/// The workspace that the demo follows.
pub(super) const SEARCH: &str = "team-search-prod";
/// Where it is declared.
pub(super) const SEARCH_FILE: &str = "teams/search/prod.yaml";

/// Another team's workspace.
pub(super) const PAYMENTS: &str = "team-payments-prod";
/// Where it is declared.
pub(super) const PAYMENTS_FILE: &str = "teams/payments/prod.yaml";

/// The name tags of the VPCs that the files count on: in production, and in staging.
pub(super) const PRODUCTION_VPCS: [&str; 2] = ["shared-prod-vpc", "Analytics / Production"];
/// See [`PRODUCTION_VPCS`].
pub(super) const STAGING_VPC: &str = "staging-vpc";

/// A line that is replaced by another one; several lines count as one.
pub(super) type Edit = (&'static str, &'static str);

/// Looks often enough for a spectator; the example says every five minutes.
pub(super) const IMPATIENT: Edit = ("resyncIntervalSeconds: 300", "resyncIntervalSeconds: 10");
/// Keeps backups longer.
pub(super) const LONGER_BACKUPS: Edit = ("retentionDays: 14", "retentionDays: 21");
/// Asks for a database that is not encrypted: AWS would have to make another one.
pub(super) const UNENCRYPTED: Edit = ("encrypted: true", "encrypted: false");
/// Pays from another budget, which is harmless.
pub(super) const OTHER_BUDGET: Edit = ("cost-centre: \"4711\"", "cost-centre: \"4712\"");
/// Asks for a major upgrade without saying that it may be one.
pub(super) const MAJOR_UPGRADE: Edit = ("version: \"15\"", "version: \"16\"");
/// Misspells a field.
pub(super) const TYPO: Edit = ("multiAz: true", "multiAZ: true");

/// Returns an edit that takes another one back.
pub(super) const fn back(edit: Edit) -> Edit {
    (edit.1, edit.0)
}

/// Makes an edit in a text; `None` when the text does not hold its lines exactly once.
pub(super) fn edited(text: &str, (from, to): Edit) -> Option<String> {
    (text.matches(from).count() == 1).then(|| text.replacen(from, to, 1))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::path::Path;

    use super::*;

    fn collect(folder: &Path, root: &Path, found: &mut BTreeSet<String>) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                collect(&path, root, found);
            } else if path.extension().is_some_and(|ending| ending == "yaml") {
                found.insert(path.strip_prefix(root).unwrap().to_string_lossy().into_owned());
            }
        }
    }

    #[test]
    fn every_manifest_of_the_example_is_built_in() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("manifests-example");
        let mut there = BTreeSet::new();
        collect(&root, &root, &mut there);
        let built_in = FILES.iter().map(|(path, _)| *path).chain([LEFT_OUT]);
        assert_eq!(built_in.map(str::to_owned).collect::<BTreeSet<_>>(), there);
    }

    #[test]
    fn every_edit_fits_the_example_and_can_be_taken_back() {
        let text = |path: &str| FILES.iter().find(|(known, _)| *known == path).unwrap().1;
        let of_search = [IMPATIENT, LONGER_BACKUPS, UNENCRYPTED, OTHER_BUDGET, TYPO];
        let edits = of_search.map(|edit| (SEARCH_FILE, edit));
        for (path, edit) in edits.into_iter().chain([(PAYMENTS_FILE, MAJOR_UPGRADE)]) {
            let after = edited(text(path), edit).unwrap();
            assert_ne!(after, text(path));
            assert_eq!(edited(&after, back(edit)).unwrap(), text(path));
        }
    }

    #[test]
    fn an_edit_of_lines_that_are_not_there_or_there_twice_is_none() {
        assert_eq!(edited("a: 1", ("b: 1", "b: 2")), None);
        assert_eq!(edited("a: 1, a: 1", ("a: 1", "a: 2")), None);
    }
}
