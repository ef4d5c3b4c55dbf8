//! What every manifest has around its `spec`, read in one strict pass.

use std::collections::BTreeMap;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, Visitor};
use serde::{Deserialize, Serialize};

use super::object::Spec;
use crate::model::ObjectKind;

/// The group of `apiVersion`.
pub(super) const GROUP: &str = "platform.kby.io";

/// The one `apiVersion` there is.
pub const API_VERSION: &str = "platform.kby.io/v1alpha1";

/// The kinds of objects.
pub(super) const KINDS: [ObjectKind; 2] = [ObjectKind::Workspace, ObjectKind::Network];

/// Holds `metadata`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Metadata {
    /// The name.
    pub(super) name: String,
    /// The annotations.
    #[serde(default)]
    pub(super) annotations: BTreeMap<String, String>,
}

/// Holds a manifest with the right types.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Envelope {
    /// `metadata`.
    pub(super) metadata: Metadata,
    /// `spec`, and with it the kind.
    pub(super) spec: Spec,
    /// True when there is a `status`, which Git does not decide.
    pub(super) has_status: bool,
}

/// Reads an [`Envelope`].
///
/// The type of `spec` is known once `kind` was read; a document that has `kind` after `spec` is
/// read a second time, with the kind given here.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Seed {
    /// The kind, when it is known already.
    pub(super) kind: Option<ObjectKind>,
}

#[derive(Deserialize)]
#[serde(field_identifier, rename_all = "camelCase")]
enum Member {
    ApiVersion,
    Kind,
    Metadata,
    Spec,
    Status,
}

impl<'de> DeserializeSeed<'de> for Seed {
    type Value = Envelope;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Envelope, D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Seed {
    type Value = Envelope;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a manifest")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Envelope, A::Error> {
        let (mut kind, mut version, mut has_status) = (self.kind, None, false);
        let (mut metadata, mut spec) = (None, None);
        while let Some(member) = members.next_key()? {
            match member {
                Member::ApiVersion => version = Some(members.next_value::<String>()?),
                Member::Kind => kind = Some(members.next_value::<ObjectKind>()?),
                Member::Metadata => metadata = Some(members.next_value()?),
                Member::Spec => {
                    spec = Some(match kind.ok_or_else(|| Error::missing_field("kind"))? {
                        ObjectKind::Workspace => Spec::Workspace(members.next_value()?),
                        ObjectKind::Network => Spec::Network(members.next_value()?),
                    });
                }
                Member::Status => {
                    members.next_value::<IgnoredAny>()?;
                    has_status = true;
                }
            }
        }
        if version.as_deref() != Some(API_VERSION) {
            return Err(Error::custom("the apiVersion is another one"));
        }
        Ok(Envelope {
            metadata: metadata.ok_or_else(|| Error::missing_field("metadata"))?,
            spec: spec.ok_or_else(|| Error::missing_field("spec"))?,
            has_status,
        })
    }
}
