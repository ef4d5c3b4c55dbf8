//! Comparisons that take as long for a wrong signature as for the right one.

use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::{Digest as _, Sha256};
use subtle::ConstantTimeEq as _;

/// Tells whether `signature` is the HMAC-SHA256 of the parts, one after the other, in hexadecimal.
pub(super) fn is_hex_of(signature: &str, key: &[u8], parts: &[&[u8]]) -> bool {
    hex::decode(signature).is_ok_and(|signature| is_of(&signature, key, parts))
}

/// Tells whether `signature` is the HMAC-SHA256 of the parts, one after the other.
pub(super) fn is_of(signature: &[u8], key: &[u8], parts: &[&[u8]]) -> bool {
    // HMAC takes a key of any length.
    let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(key) else { return false };
    parts.iter().for_each(|part| mac.update(part));
    mac.verify_slice(signature).is_ok()
}

/// Tells whether two secrets are the same, without telling how long they are.
pub(super) fn is_same(sent: &str, secret: &[u8]) -> bool {
    Sha256::digest(sent).ct_eq(&Sha256::digest(secret)).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Source: "Validating webhook deliveries" in GitHub's documentation.
    const KNOWN: &str = "757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17";

    #[test]
    fn the_example_of_githubs_documentation_is_right_and_nothing_else_is() {
        let key = b"It's a Secret to Everybody";
        assert!(is_hex_of(KNOWN, key, &[b"Hello, ", b"World!"]));
        let short = &KNOWN[..62];
        let other = KNOWN.replace('7', "8");
        for wrong in ["", short, &other, "zz", &format!("{KNOWN}00")] {
            assert!(!is_hex_of(wrong, key, &[b"Hello, World!"]), "{wrong}");
        }
        assert!(!is_hex_of(KNOWN, b"", &[b"Hello, World!"]));
    }

    #[test]
    fn a_secret_is_the_same_as_a_whole_or_not() {
        assert!(is_same("abc", b"abc"));
        for wrong in ["", "ab", "abcd", "ABC"] {
            assert!(!is_same(wrong, b"abc"), "{wrong}");
        }
    }
}
