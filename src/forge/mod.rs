//! Git hosts: what they tell us, and what we tell them.
//!
//! In: the webhooks of GitHub, GitLab, Gitea and Bitbucket. Out: rings of a
//! [`Bell`](crate::model::webhook::Bell).
//!
//! Invariants: nothing that a host says is believed before it is proven, and nothing that it says
//! travels further than "look again"; no secret is printed by any type.
//!
//! It does not know who follows the repository, nor where HTTP is served.

pub mod webhook;
