//! Git hosts: what they tell the agent.

mod push;
mod stage;
