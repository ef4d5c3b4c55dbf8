//! Git hosts: what they tell us, and what we tell them.
//!
//! In: the webhooks of GitHub, GitLab, Gitea and Bitbucket ([`webhook`]); what is to stand at a host, in
//! an [`Outbox`](crate::model::outbox::Outbox). Out: rings of a
//! [`Bell`](crate::model::webhook::Bell); calls of a host's API ([`api`]), made by the [`courier`].
//!
//! Whoever has something to tell wants it in the outbox and rings the courier's `news`; it never
//! calls a host to write. A status is a [`commit::Content`] under
//! [`Topic::Status`](crate::model::outbox::Topic); a comment is its text, which holds the
//! [`comment::markers`], under `Topic::Comment`; an issue is an [`issue::Content`] with its
//! [`issue::marker`]; a [`hook`] is told an [`Alert`](crate::model::alert::Alert).
//!
//! Invariants: nothing that a host says is believed before it is proven, and nothing that it says
//! travels further than "look again"; no secret is printed by any type, and none is kept.
//!
//! It does not know who follows the repository, nor where HTTP is served.

pub mod api;
pub mod app;
pub mod comment;
pub mod commit;
pub mod courier;
pub mod credentials;
pub mod hook;
pub mod http;
pub mod issue;
mod pace;
pub mod peer;
pub mod proposal;
pub mod pulls;
pub mod refusal;
pub mod webhook;
pub mod wire;
