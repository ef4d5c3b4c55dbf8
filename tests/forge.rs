//! Git hosts: what they tell the agent, and what the agent tells them.

mod beside;
mod calls;
mod carrying;
mod hooks;
mod host;
mod issues;
mod push;
mod schema;
mod stage;
mod telling;
