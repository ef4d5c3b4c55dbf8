//! A block of addresses in the one spelling under which EC2 keeps it.
//!
//! Source: the API reference of `AuthorizeSecurityGroupIngress`: EC2 takes any spelling of a CIDR
//! block, clears the host bits and keeps the canonical form.

use core::net::{Ipv4Addr, Ipv6Addr};
use std::fmt;
use std::str::FromStr;

/// Holds a block of IPv4 or IPv6 addresses; host bits are zero.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Block {
    /// The network's address and the length of its prefix, 0 to 32.
    V4(Ipv4Addr, u8),
    /// The network's address and the length of its prefix, 0 to 128.
    V6(Ipv6Addr, u8),
}

/// Says that a text is no CIDR block.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("\"{0}\" is no CIDR block")]
pub struct InvalidBlock(pub String);

impl Block {
    /// Tells whether it holds every address of its family.
    pub fn is_everything(&self) -> bool {
        matches!(self, Self::V4(_, 0) | Self::V6(_, 0))
    }

    /// Reads a block, and tells whether the text had host bits that were cleared.
    ///
    /// # Errors
    ///
    /// [`InvalidBlock`] when it is none; an address without a prefix is none.
    pub fn read(text: &str) -> Result<(Self, bool), InvalidBlock> {
        let invalid = || InvalidBlock(text.to_owned());
        let (address, length) = text.split_once('/').ok_or_else(invalid)?;
        let is_plain =
            (1..=3).contains(&length.len()) && length.bytes().all(|b| b.is_ascii_digit());
        let length = length.parse::<u8>().ok().filter(|_| is_plain).ok_or_else(invalid)?;
        if let Ok(address) = address.parse::<Ipv4Addr>() {
            let mask = mask(u128::from(u32::MAX), 32, length).ok_or_else(invalid)?;
            let kept = u128::from(address.to_bits()) & mask;
            let network = Ipv4Addr::from_bits(u32::try_from(kept).map_err(|_| invalid())?);
            return Ok((Self::V4(network, length), network != address));
        }
        let address = address.parse::<Ipv6Addr>().map_err(|_| invalid())?;
        let mask = mask(u128::MAX, 128, length).ok_or_else(invalid)?;
        let network = Ipv6Addr::from_bits(address.to_bits() & mask);
        Ok((Self::V6(network, length), network != address))
    }
}

/// Returns the bits of a prefix, of an address of so many bits; `None` when the prefix is longer.
fn mask(all: u128, bits: u32, length: u8) -> Option<u128> {
    let host = bits.checked_sub(u32::from(length))?;
    Some(all & u128::MAX.checked_shl(host).unwrap_or(0))
}

impl FromStr for Block {
    type Err = InvalidBlock;

    fn from_str(text: &str) -> Result<Self, InvalidBlock> {
        Self::read(text).map(|(block, _)| block)
    }
}

impl fmt::Display for Block {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::V4(address, length) => write!(f, "{address}/{length}"),
            Self::V6(address, length) => write!(f, "{address}/{length}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spelled(text: &str) -> String {
        text.parse::<Block>().map_or_else(|error| error.to_string(), |block| block.to_string())
    }

    #[test]
    fn every_spelling_of_a_block_is_one() {
        for (text, expected) in [
            ("10.0.0.1/24", "10.0.0.0/24"),
            ("10.0.0.0/0", "0.0.0.0/0"),
            ("10.1.2.3/32", "10.1.2.3/32"),
            ("2001:DB8:0:0::1/128", "2001:db8::1/128"),
            ("2001:db8:0:0:0:0:0:1/128", "2001:db8::1/128"),
            ("::0/0", "::/0"),
            ("2001:db8::ff/64", "2001:db8::/64"),
        ] {
            assert_eq!(spelled(text), expected, "{text}");
        }
    }

    #[test]
    fn what_is_no_block_is_refused() {
        for text in
            ["10.0.0.1", "10.0.0.1/33", "10.0.0/8", "::/129", "a/8", "10.0.0.1/+8", "", "1/1/1"]
        {
            assert_eq!(spelled(text), format!("\"{text}\" is no CIDR block"));
        }
    }

    #[test]
    fn host_bits_are_cleared_and_told() {
        assert!(Block::read("10.0.0.1/24").unwrap().1);
        assert!(!Block::read("10.0.0.0/24").unwrap().1);
        assert!(Block::read("2001:db8::1/64").unwrap().1);
    }
}
