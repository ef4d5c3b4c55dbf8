//! SSH signatures over data: the format `SSHSIG` and the keys that make them.
//!
//! In: an armored signature and the data. Out: the key that made it, once it is verified.
//!
//! Invariants: the namespace is the one that is asked for, so that a signature of a file or an e-mail is
//! none of a commit; SHA-1 and keys of RSA with less than 2048 bits are refused; a key on a token counts
//! only if somebody touched it (flag 0x01, OpenSSH's PROTOCOL.u2f).

use aws_lc_rs::signature::{
    ECDSA_P256_SHA256_FIXED, ECDSA_P384_SHA384_FIXED, ECDSA_P521_SHA512_FIXED, ED25519,
    RSA_PKCS1_2048_8192_SHA256, RSA_PKCS1_2048_8192_SHA512, RsaParameters, RsaPublicKeyComponents,
    UnparsedPublicKey, VerificationAlgorithm,
};
use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD};
use sha2::{Digest as _, Sha256, Sha512};

use super::wire::{Wire, padded, put};

pub(super) const BEGIN: &str = "-----BEGIN SSH SIGNATURE-----";
const END: &str = "-----END SSH SIGNATURE-----";
const MAGIC: &[u8] = b"SSHSIG";
/// The flag of a token that was touched.
const TOUCHED: u8 = 0x01;

/// Holds a public key, taken apart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Key {
    /// The key as it is sent.
    pub(super) blob: Vec<u8>,
    kind: Kind,
    point: Vec<u8>,
    /// The application of a key on a token.
    token: Option<Vec<u8>>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Kind {
    Ed25519,
    /// With the bytes of a coordinate.
    Ecdsa(usize),
    Rsa {
        exponent: Vec<u8>,
        modulus: Vec<u8>,
    },
}

impl Key {
    /// Takes a public key apart.
    ///
    /// # Errors
    ///
    /// When its type is not supported, or it is none.
    pub(super) fn parse(blob: &[u8]) -> Result<Self, String> {
        let name = Wire(blob).string().unwrap_or_default();
        let name = String::from_utf8_lossy(name);
        if name.contains("-cert-v") {
            return Err("it is a certificate; give the key itself".to_owned());
        }
        let known = matches!(
            &*name,
            "ssh-ed25519"
                | "ssh-rsa"
                | "ecdsa-sha2-nistp256"
                | "ecdsa-sha2-nistp384"
                | "ecdsa-sha2-nistp521"
                | "sk-ssh-ed25519@openssh.com"
                | "sk-ecdsa-sha2-nistp256@openssh.com"
        );
        if !known {
            let name = name.escape_debug();
            return Err(format!(
                "keys of the type \"{name}\" are not supported; use one of ed25519, ECDSA or RSA"
            ));
        }
        let key = Self::read(&name, blob).ok_or_else(|| "the key is damaged".to_owned())?;
        match &key.kind {
            Kind::Rsa { modulus, .. } if modulus.len() < 256 => {
                Err("a key of RSA needs at least 2048 bits".to_owned())
            }
            _ => Ok(key),
        }
    }

    fn read(name: &str, blob: &[u8]) -> Option<Self> {
        let mut wire = Wire(blob);
        wire.string()?;
        let mut point = Vec::new();
        let kind = if name.contains("ed25519") {
            point = wire.string()?.to_vec();
            Kind::Ed25519
        } else if name == "ssh-rsa" {
            let (exponent, modulus) = (wire.integer()?.to_vec(), wire.integer()?.to_vec());
            Kind::Rsa { exponent, modulus }
        } else {
            let length = match wire.string()? {
                b"nistp256" if name.contains("256") => 32,
                b"nistp384" if name.ends_with("384") => 48,
                b"nistp521" if name.ends_with("521") => 66,
                _ => return None,
            };
            point = wire.string()?.to_vec();
            Kind::Ecdsa(length)
        };
        let token = if name.starts_with("sk-") { Some(wire.string()?.to_vec()) } else { None };
        wire.end()?;
        Some(Self { blob: blob.to_vec(), kind, point, token })
    }

    /// Returns `SHA256:` and the hash, as `ssh-keygen -l` prints it.
    pub(super) fn fingerprint(&self) -> String {
        format!("SHA256:{}", STANDARD_NO_PAD.encode(Sha256::digest(&self.blob)))
    }

    /// Verifies a signature in the form of SSH; `None` when it is not one of this key over the data.
    fn verify(&self, data: &[u8], signature: &[u8]) -> Option<()> {
        let mut wire = Wire(signature);
        let (name, value) = (wire.string()?, wire.string()?);
        let own = Wire(&self.blob).string()?;
        let assembled = match &self.token {
            None => data.to_vec(),
            Some(application) => {
                let flags = wire.bytes(1)?;
                let counter = wire.bytes(4)?;
                if flags[0] & TOUCHED == 0 {
                    return None;
                }
                let hashes = [Sha256::digest(application), Sha256::digest(data)];
                [&hashes[0][..], flags, counter, &hashes[1][..]].concat()
            }
        };
        wire.end()?;
        match &self.kind {
            Kind::Rsa { exponent, modulus } => {
                let how: &RsaParameters = match name {
                    b"rsa-sha2-256" => &RSA_PKCS1_2048_8192_SHA256,
                    b"rsa-sha2-512" => &RSA_PKCS1_2048_8192_SHA512,
                    _ => return None,
                };
                let value = padded(value, modulus.len())?;
                let key = RsaPublicKeyComponents { n: modulus, e: exponent };
                key.verify(how, &assembled, &value).ok()
            }
            Kind::Ed25519 if name == own => self.plain(&ED25519, &assembled, value),
            Kind::Ecdsa(length) if name == own => {
                let how: &dyn VerificationAlgorithm = match length {
                    32 => &ECDSA_P256_SHA256_FIXED,
                    48 => &ECDSA_P384_SHA384_FIXED,
                    _ => &ECDSA_P521_SHA512_FIXED,
                };
                let mut numbers = Wire(value);
                let (r, s) = (numbers.integer()?, numbers.integer()?);
                numbers.end()?;
                let value = [padded(r, *length)?, padded(s, *length)?].concat();
                self.plain(how, &assembled, &value)
            }
            Kind::Ed25519 | Kind::Ecdsa(_) => None,
        }
    }

    fn plain(
        &self,
        how: &'static dyn VerificationAlgorithm,
        data: &[u8],
        value: &[u8],
    ) -> Option<()> {
        UnparsedPublicKey::new(how, &self.point).verify(data, value).ok()
    }
}

/// Holds a signature, taken apart.
pub(super) struct SshSignature {
    /// The key that claims to have made it.
    pub(super) key: Key,
    /// What it was made for.
    pub(super) namespace: String,
    reserved: Vec<u8>,
    hash: Vec<u8>,
    value: Vec<u8>,
}

impl SshSignature {
    /// Takes an armored signature apart.
    ///
    /// # Errors
    ///
    /// A clause that says what is wrong with it.
    pub(super) fn parse(armored: &str) -> Result<Self, String> {
        let damaged = || "has a damaged SSH signature".to_owned();
        let inner = armored.trim().strip_prefix(BEGIN).and_then(|it| it.strip_suffix(END));
        let text: String = inner.ok_or_else(damaged)?.split_whitespace().collect();
        let bytes = STANDARD.decode(text).map_err(|_| damaged())?;
        let (key, namespace, reserved, hash, value) = fields(&bytes).ok_or_else(damaged)?;
        let key = Key::parse(key).map_err(|why| format!("is signed by a key of no use: {why}"))?;
        Ok(Self {
            key,
            namespace: String::from_utf8_lossy(namespace).into_owned(),
            reserved: reserved.to_vec(),
            hash: hash.to_vec(),
            value: value.to_vec(),
        })
    }

    /// Tells whether the key made this signature, over this message.
    pub(super) fn is_of(&self, message: &[u8]) -> bool {
        let hash = match self.hash.as_slice() {
            b"sha256" => Sha256::digest(message).to_vec(),
            b"sha512" => Sha512::digest(message).to_vec(),
            _ => return false,
        };
        let mut data = MAGIC.to_vec();
        for field in [self.namespace.as_bytes(), &self.reserved, &self.hash, &hash] {
            put(&mut data, field);
        }
        self.key.verify(&data, &self.value).is_some()
    }
}

type Fields<'a> = (&'a [u8], &'a [u8], &'a [u8], &'a [u8], &'a [u8]);

fn fields(bytes: &[u8]) -> Option<Fields<'_>> {
    let mut wire = Wire(bytes.strip_prefix(MAGIC)?);
    if wire.number()? != 1 {
        return None;
    }
    let mut next = || wire.string();
    let fields = (next()?, next()?, next()?, next()?, next()?);
    wire.end()?;
    Some(fields)
}
