//! Signatures made here, of keys that no program makes without a token; the others are made by
//! `ssh-keygen` and `gpg` in the integration tests.

use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::signature::{
    ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, Ed25519KeyPair, KeyPair as _,
};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use jiff::Timestamp;
use sha2::{Digest as _, Sha256, Sha512};

use super::allowed::AllowedSigners;
use super::wire::put;

const MESSAGE: &[u8] = b"tree 1\n\nmessage\n";
const APPLICATION: &[u8] = b"ssh:";

fn fields(fields: &[&[u8]]) -> Vec<u8> {
    let mut out = Vec::new();
    fields.iter().for_each(|field| put(&mut out, field));
    out
}

type Sign = Box<dyn Fn(&[u8]) -> Vec<u8>>;

/// A key on a token, which signs with flags and a counter.
struct Token {
    name: &'static str,
    blob: Vec<u8>,
    sign: Sign,
}

fn ed25519() -> Token {
    let pair = Ed25519KeyPair::generate().unwrap();
    let name = "sk-ssh-ed25519@openssh.com";
    let blob = fields(&[name.as_bytes(), pair.public_key().as_ref(), APPLICATION]);
    Token { name, blob, sign: Box::new(move |data| pair.sign(data).as_ref().to_vec()) }
}

fn ecdsa() -> Token {
    let pair = EcdsaKeyPair::generate(&ECDSA_P256_SHA256_FIXED_SIGNING).unwrap();
    let name = "sk-ecdsa-sha2-nistp256@openssh.com";
    let point = pair.public_key().as_ref();
    let blob = fields(&[name.as_bytes(), b"nistp256", point, APPLICATION]);
    let sign = move |data: &[u8]| {
        let fixed = pair.sign(&SystemRandom::new(), data).unwrap();
        // A leading zero keeps a number from being negative.
        let numbers = fixed.as_ref().chunks(32).map(|half| [&[0], half].concat());
        let numbers: Vec<Vec<u8>> = numbers.collect();
        fields(&[&numbers[0], &numbers[1]])
    };
    Token { name, blob, sign: Box::new(sign) }
}

impl Token {
    fn signers(&self) -> AllowedSigners {
        let key = STANDARD.encode(&self.blob);
        AllowedSigners::parse(&format!("ann {} {key}", self.name)).unwrap()
    }

    fn armored(&self, flags: u8, namespace: &[u8], version: u8) -> String {
        let hash = Sha512::digest(MESSAGE);
        let data = [b"SSHSIG", &fields(&[namespace, b"", b"sha512", &hash])[..]].concat();
        let more = [flags, 0, 0, 0, 7];
        let hashes = [Sha256::digest(APPLICATION), Sha256::digest(&data)];
        let assembled = [&hashes[0][..], &more, &hashes[1]].concat();
        let value = fields(&[self.name.as_bytes(), &(self.sign)(&assembled)]);
        let value = [&value[..], &more].concat();
        let inner = fields(&[&self.blob, namespace, b"", b"sha512", &value]);
        let whole = [b"SSHSIG\0\0\0", &[version][..], &inner].concat();
        let text = STANDARD.encode(whole);
        format!("-----BEGIN SSH SIGNATURE-----\n{text}\n-----END SSH SIGNATURE-----\n")
    }
}

#[test]
fn a_key_on_a_token_counts_when_somebody_touched_it() {
    for token in [ed25519(), ecdsa()] {
        let signers = token.signers();
        let judge =
            |message: &[u8], armored: &str| signers.judge(message, armored, Timestamp::UNIX_EPOCH);
        let touched = token.armored(1, b"git", 1);
        assert_eq!(judge(MESSAGE, &touched), Ok(()), "{}", token.name);
        assert!(judge(b"another", &touched).unwrap_err().contains("is not what"));
        let untouched = token.armored(0, b"git", 1);
        assert!(judge(MESSAGE, &untouched).unwrap_err().contains("is not what"));
        let other = token.armored(1, b"file", 1);
        assert!(judge(MESSAGE, &other).unwrap_err().contains("made for \"file\""));
        let future = token.armored(1, b"git", 2);
        assert!(judge(MESSAGE, &future).unwrap_err().contains("damaged"));
    }
}

#[test]
fn no_byte_of_a_signature_can_be_changed_or_left_out() {
    let token = ed25519();
    let signers = token.signers();
    let armored = token.armored(1, b"git", 1);
    let lines: Vec<&str> = armored.lines().collect();
    let bytes = STANDARD.decode(lines[1]).unwrap();
    let judge = |bytes: &[u8]| {
        let text = STANDARD.encode(bytes);
        signers.judge(
            MESSAGE,
            &format!("{}\n{text}\n{}", lines[0], lines[2]),
            Timestamp::UNIX_EPOCH,
        )
    };
    assert_eq!(judge(&bytes), Ok(()));
    for at in 0..bytes.len() {
        let mut changed = bytes.clone();
        changed[at] ^= 0x10;
        assert!(judge(&changed).is_err(), "byte {at}");
        assert!(judge(&bytes[..at]).is_err(), "cut at {at}");
    }
    assert!(judge(&[&bytes[..], &[0]].concat()).is_err(), "something behind it");
}

#[test]
fn a_list_of_keys_that_is_a_pipe_or_without_end_is_refused_and_not_waited_for() {
    let folder = tempfile::tempdir().unwrap();
    let (pipe, long) = (folder.path().join("pipe"), folder.path().join("long"));
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    std::fs::File::create(&long).unwrap().set_len(super::LONGEST + 1).unwrap();
    assert_eq!(super::read(&pipe).unwrap_err(), "it is no regular file");
    assert_eq!(super::read(folder.path()).unwrap_err(), "it is no regular file");
    assert_eq!(super::read(&long).unwrap_err(), "it has more than 1048576 bytes");
}
