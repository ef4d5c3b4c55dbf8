//! The built program: arguments, exit codes, messages.
