//! Real repositories over file, http and ssh.
