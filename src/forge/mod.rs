//! Git hosts: what they tell us, and what we tell them.
//!
//! In: the webhooks of GitHub, GitLab, Gitea and Bitbucket ([`webhook`]); what is to stand at a host.
//! Out: rings of a [`Bell`](crate::model::webhook::Bell); calls of a host's API ([`api`]).
//!
//! Invariants: nothing that a host says is believed before it is proven, and nothing that it says
//! travels further than "look again"; no secret is printed by any type, and none is kept.
//!
//! It does not know who follows the repository, nor where HTTP is served.

pub mod api;
pub mod app;
pub mod credentials;
pub mod http;
pub mod refusal;
pub mod webhook;
pub mod wire;
