//! STS: who is calling, and the credentials of an assumed role.
//!
//! Every role of every account can be assumed; a fault rule on `AssumeRole` says otherwise.

use std::collections::BTreeMap;

use jiff::{Timestamp, ToSpan};
use rand::RngExt;
use rand::rngs::StdRng;
use serde_json::json;

use super::args::Args;
use super::rds;
use super::refusal::{Answer, Refusal};
use super::services::{Operation, Site};
use crate::model::AccountId;

/// The operations.
pub(super) const OPERATIONS: &[Operation] = &[
    Operation { service: "sts", name: "GetCallerIdentity", accepts: &[], run: identity },
    Operation {
        service: "sts",
        name: "AssumeRole",
        accepts: &["RoleArn", "RoleSessionName", "DurationSeconds", "ExternalId", "SourceIdentity"],
        run: assume,
    },
];

/// Holds the sessions that were handed out, by access key.
pub(super) type Sessions = BTreeMap<String, Session>;

/// Describes what an access key of an assumed role stands for.
#[derive(Debug, Clone)]
pub(super) struct Session {
    /// The account of the role.
    pub(super) account: AccountId,
    /// The name of the role.
    pub(super) role: String,
    /// The token that has to travel with the key.
    pub(super) token: String,
    /// When the key ends.
    pub(super) expires: Timestamp,
    arn: String,
    user: String,
}

fn identity(site: &mut Site<'_>, _args: Args<'_>) -> Answer {
    let user = match site.shared.sessions.get(&**site.by) {
        Some(session) => session.user.clone(),
        None => format!("AIDA{}", site.by),
    };
    let arn = arn(&site.shared.sessions, &site.scope.account, site.by);
    Ok(json!({"UserId": user, "Account": site.scope.account, "Arn": arn}))
}

/// Returns the ARN of whoever calls under a name.
pub(super) fn arn(sessions: &Sessions, account: &AccountId, by: &str) -> String {
    match sessions.get(by) {
        Some(session) => session.arn.clone(),
        None => format!("arn:aws:iam::{account}:user/{by}"),
    }
}

fn assume(site: &mut Site<'_>, args: Args<'_>) -> Answer {
    let arn = args.required("RoleArn")?;
    let name = args.required("RoleSessionName")?;
    let seconds = args.integer("DurationSeconds")?.unwrap_or(3600);
    if !(900..=43200).contains(&seconds) {
        return Err(Refusal::new("ValidationError", "DurationSeconds must be from 900 to 43200"));
    }
    let (account, role) = parse_role(arn)?;
    let key = format!("ASIA{}", letters(site.random, 16));
    let id = format!("AROA{}:{name}", letters(site.random, 16));
    let session = Session {
        arn: format!("arn:aws:sts::{account}:assumed-role/{role}/{name}"),
        role,
        user: id.clone(),
        account,
        token: letters(site.random, 64),
        expires: site.now + seconds.seconds(),
    };
    let answer = json!({
        "Credentials": {
            "AccessKeyId": key,
            "SecretAccessKey": letters(site.random, 40),
            "SessionToken": session.token,
            "Expiration": rds::time(session.expires),
        },
        "AssumedRoleUser": {"AssumedRoleId": id, "Arn": session.arn},
    });
    site.shared.sessions.insert(key, session);
    Ok(answer)
}

/// Takes account and role name from `arn:aws:iam::ACCOUNT:role/PATH/NAME`.
fn parse_role(arn: &str) -> Result<(AccountId, String), Refusal> {
    let invalid = || Refusal::new("ValidationError", format!("{arn} is not the ARN of a role"));
    let rest = arn.strip_prefix("arn:aws:iam::").ok_or_else(invalid)?;
    let (account, role) = rest.split_once(":role/").ok_or_else(invalid)?;
    let name = role.rsplit('/').next().unwrap_or_default();
    if !is_account(account) || name.is_empty() {
        return Err(invalid());
    }
    Ok((AccountId::new(account), name.to_owned()))
}

/// Tells whether a text is the number of an account.
pub(super) fn is_account(text: &str) -> bool {
    text.len() == 12 && text.bytes().all(|b| b.is_ascii_digit())
}

/// Draws capital letters and digits, as AWS's ids of principals have them.
pub(super) fn letters(random: &mut StdRng, count: usize) -> String {
    const SET: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
    (0..count).map(|_| char::from(SET[random.random_range(0..SET.len())])).collect()
}
