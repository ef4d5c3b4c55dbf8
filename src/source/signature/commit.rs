//! The two parts of a signed commit object: what was signed, and the signature.
//!
//! In: the bytes of the object. Out: [`Parts`].
//!
//! Invariants: every byte of the object is in one of the two; only the one header of the signature is
//! left out of what has to be signed (Git, "gitformat-signature").

/// Holds a commit object, taken apart.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Parts {
    /// Everything but the signature.
    pub(super) payload: Vec<u8>,
    /// The signature in its armor; `None` for a commit without one.
    pub(super) signature: Option<String>,
}

const HEADER: &[u8] = b"gpgsig ";

/// Takes a commit object apart.
///
/// # Errors
///
/// When it has several signatures, or one that is no text.
pub(super) fn split(raw: &[u8]) -> Result<Parts, String> {
    let (mut payload, mut signature) = (Vec::with_capacity(raw.len()), None::<Vec<u8>>);
    let (mut in_headers, mut in_signature) = (true, false);
    for line in raw.split_inclusive(|byte| *byte == b'\n') {
        in_signature = in_headers
            && match (line.strip_prefix(HEADER), in_signature) {
                (Some(first), _) => {
                    if signature.replace(first.to_vec()).is_some() {
                        return Err("has more than one signature".to_owned());
                    }
                    true
                }
                // A header goes on in lines that begin with a space.
                (None, true) => line.strip_prefix(b" ").is_some_and(|more| {
                    signature.get_or_insert_default().extend_from_slice(more);
                    true
                }),
                (None, false) => false,
            };
        if !in_signature {
            payload.extend_from_slice(line);
        }
        in_headers &= line != b"\n";
    }
    let signature = signature.map(String::from_utf8).transpose();
    let signature = signature.map_err(|_| "has a signature that is no text".to_owned())?;
    Ok(Parts { payload, signature })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(raw: &str) -> (String, Option<String>) {
        let parts = split(raw.as_bytes()).unwrap();
        (String::from_utf8(parts.payload).unwrap(), parts.signature)
    }

    #[test]
    fn only_the_header_of_the_signature_is_left_out_of_what_is_signed() {
        let raw =
            "tree t\nauthor a\ngpgsig -----BEGIN\n \n abc\n -----END\nencoding x\n\ngpgsig b\n c\n";
        let payload = "tree t\nauthor a\nencoding x\n\ngpgsig b\n c\n";
        let signature = "-----BEGIN\n\nabc\n-----END\n";
        assert_eq!(parts(raw), (payload.to_owned(), Some(signature.to_owned())));
        assert_eq!(parts(payload), (payload.to_owned(), None));
    }

    #[test]
    fn a_second_signature_is_refused() {
        assert!(
            split(b"tree t\ngpgsig a\n b\ngpgsig c\n\nx").unwrap_err().contains("more than one")
        );
    }

    #[test]
    fn continued_lines_of_other_headers_stay_in_what_is_signed() {
        let raw = "tree t\nmergetag object x\n gpgsig y\ngpgsig z\n\nm";
        assert_eq!(
            parts(raw),
            ("tree t\nmergetag object x\n gpgsig y\n\nm".to_owned(), Some("z\n".to_owned()))
        );
    }
}
