//! The real SDK over HTTP against third-party AWS emulators.
