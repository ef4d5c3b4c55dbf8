//! The SSH host key that a server showed, and what a person needs to judge it.
//!
//! In: the key of libgit2's certificate callback. Out: its fingerprint and its known hosts line.
//!
//! Trust is not decided here: libssh2 compares the key with the known hosts file.

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD};
use git2::cert::CertHostkey;
use sha2::{Digest, Sha256};

use super::access::Server;

/// Holds a host key as the server sent it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct HostKey {
    algorithm: &'static str,
    key: Vec<u8>,
}

impl HostKey {
    /// Copies the key out of the callback; `None` when libssh2 did not give it.
    pub(crate) fn read(certificate: &CertHostkey<'_>) -> Option<Self> {
        let key = certificate.hostkey()?.to_vec();
        Some(Self { algorithm: certificate.hostkey_type()?.name(), key })
    }

    /// Returns the fingerprint as `ssh-keygen -l` prints it.
    pub(crate) fn fingerprint(&self) -> String {
        format!("SHA256:{}", STANDARD_NO_PAD.encode(Sha256::digest(&self.key)))
    }

    /// Returns the line for the known hosts file (sshd(8), SSH_KNOWN_HOSTS FILE FORMAT).
    pub(crate) fn line(&self, server: &Server) -> String {
        format!("{} {} {}", host_pattern(server), self.algorithm, STANDARD.encode(&self.key))
    }
}

/// Returns how the known hosts file names a server.
fn host_pattern(server: &Server) -> String {
    if server.port == 22 {
        server.host.clone()
    } else {
        format!("[{}]:{}", server.host, server.port)
    }
}

/// True when the file names the host in clear, with whatever key.
///
/// Hashed names are not recognised: a changed key of such a host is reported as unknown.
pub(crate) fn names_host(known_hosts: &str, server: &Server) -> bool {
    let pattern = host_pattern(server);
    known_hosts
        .lines()
        .filter(|line| !line.trim_start().starts_with('#'))
        .filter_map(|line| line.split_whitespace().find(|word| !word.starts_with('@')))
        .any(|hosts| hosts.split(',').any(|host| host == pattern))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn server(port: u16) -> Server {
        Server { host: "git.example".to_owned(), port, user: None }
    }

    #[test]
    fn a_host_on_another_port_is_written_in_brackets() {
        let key = HostKey { algorithm: "ssh-ed25519", key: b"abc".to_vec() };
        assert_eq!(key.line(&server(22)), "git.example ssh-ed25519 YWJj");
        assert_eq!(key.line(&server(2222)), "[git.example]:2222 ssh-ed25519 YWJj");
        // echo -n abc | sha256sum | xxd -r -p | base64
        assert_eq!(key.fingerprint(), "SHA256:ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0");
    }

    #[test]
    fn a_host_is_found_among_the_names_of_a_line() {
        let file = "# git.example\n@revoked other x y\nfoo,git.example ssh-rsa AAAA\n";
        assert!(names_host(file, &server(22)));
        assert!(!names_host(file, &server(2222)));
        assert!(!names_host("# git.example x", &server(22)));
    }
}
