//! The ways in which a declared and an actual value are compared, by name.
//!
//! What each of them means is implemented once, in [`crate::diff`].

/// Says how a declared and an actual value are compared.
///
/// In every one of them a missing member equals the empty value of its type, unless the rule says
/// that AWS [always](super::Rule::always) answers it; a member of another type than the comparison needs is
/// doubt, never a difference.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Compare {
    /// The same JSON value; numbers and their text are the same.
    Exact,
    /// The same text, letter case aside.
    FoldCase,
    /// The same value, of which this one protects something: a danger, where the rule says so, only
    /// when it is declared and AWS has another. What somebody closed is opened again in no hurry.
    Guard(&'static str),
    /// A dotted version by components: what is declared is a prefix; behind is drift, ahead is not
    /// (AWS upgrades by itself and cannot go back).
    Version {
        /// The field that declares the engine, which says how many components are the major.
        engine: &'static str,
        /// The field that allows another major version; without it that is refused.
        allow_major: &'static str,
    },
    /// A lower bound where autoscaling is on, declared or in AWS (it grows the disk); otherwise
    /// equal up to AWS's rounding, and lower is refused because storage cannot shrink.
    Storage {
        /// The field that declares the upper bound.
        ceiling: &'static str,
        /// The member that holds the upper bound.
        ceiling_member: &'static str,
    },
    /// A number that AWS rounds up when it grows by less than a tenth.
    Rounded,
    /// The upper bound of autoscaling; at or under the size in the named member it means off, which
    /// AWS answers by leaving the bound out.
    Ceiling {
        /// The member that holds the size.
        size: &'static str,
    },
    /// A certificate authority: an older generation than the actual one is refused.
    Certificate,
    /// A weekly or daily UTC window; letter case aside.
    Window,
    /// An unordered list of texts.
    Set,
    /// A list of texts whose order counts.
    List,
    /// A value within the item of a list of structures that is named by another field.
    OfItem {
        /// The member of an item that holds its name.
        key: &'static str,
        /// The field that declares which item is meant.
        named_by: &'static str,
        /// The dotted path of the value within the item.
        path: &'static str,
    },
    /// The named member of a list of structures, as an unordered list of texts; an item whose
    /// `Status` is `removing` is gone already.
    SetOf(&'static str),
    /// An unordered list of texts, to which the queue holds additions and removals.
    SetWithQueue {
        /// The member of the queued value that lists additions.
        enable: &'static str,
        /// The member of the queued value that lists removals.
        disable: &'static str,
    },
    /// One text that the named member of a list of structures has to hold; letter case aside.
    Membership {
        /// The member that holds the name.
        name: &'static str,
        /// The member that says whether the membership is in force.
        status: &'static str,
    },
    /// What the named tag recorded at creation.
    CreationTag(&'static str),
    /// The text of one tag.
    TagValue {
        /// The key of the tag.
        key: &'static str,
        /// What a resource without the tag stands for.
        unsaid: &'static str,
    },
    /// Tags: declared keys are enforced, AWS's own (`aws:`) and Levelset's are left alone.
    Tags,
    /// Declared `true` means the member exists.
    Presence,
    /// An ARN or the id or alias that it ends with.
    ArnTail,
    /// Parameters of a parameter group, by name.
    Parameters,
    /// How often something happens, in a structure with `ScheduleExpression` or
    /// `AutomaticallyAfterDays`: a number of days, or an expression.
    Schedule,
    /// A policy document of IAM, by what it means.
    PolicyDocument,
    /// The rules of a bucket's lifecycle by their ids, in any order and spelling.
    LifecycleRules,
    /// Policy documents by name, in a list of structures with `PolicyName` and `PolicyDocument`; a
    /// name that is declared as `null` must not be there.
    PolicyDocuments {
        /// Where it is said, a name that is not declared must not be there either, unless it
        /// starts with this. Elsewhere only declared names are looked at.
        reserved: Option<&'static str>,
    },
    /// Rules of a security group with these peers, by what they let through.
    Permissions(Peers),
    /// Properties by name, as the schema of the resource's type says, which the observation holds.
    Properties,
    /// A DNS name: letter case, a dot at the end and escapes aside.
    DnsName,
    /// The values of a DNS record set, in any order and spelling.
    DnsValues {
        /// The field that declares the type of the records.
        of_type: &'static str,
    },
    /// A structure of which the declared members are compared; those that are DNS names as such.
    Members {
        /// The members that are DNS names.
        names: &'static [&'static str],
    },
    /// Not readable: never compared.
    WriteOnly,
}

/// Names whom a rule of a security group lets through.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Peers {
    /// Addresses: IPv4 and IPv6 blocks, and lists of them.
    Addresses,
    /// Whatever carries a security group.
    Groups,
}
