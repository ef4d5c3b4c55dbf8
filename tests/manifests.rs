//! The manifests of the repository, and bad ones.
