//! Checks of single settings that creation and modification share.

use std::collections::BTreeSet;

use rand::RngExt;
use rand::rngs::StdRng;
use serde_json::{Value, json};

use super::engine::Engine;
use crate::model::{Region, Window};
use crate::sandbox::args::Args;
use crate::sandbox::refusal::Refusal;
use crate::sandbox::services::Site;

const SIZES: &[&str] = &[
    "micro", "small", "medium", "large", "xlarge", "2xlarge", "4xlarge", "8xlarge", "12xlarge",
    "16xlarge", "24xlarge", "32xlarge", "48xlarge",
];

/// Checks the form of a DB instance class: `db.FAMILY.SIZE`.
pub(super) fn check_class(class: &str) -> Result<(), Refusal> {
    let parts: Vec<&str> = class.split('.').collect();
    let good = match parts.as_slice() {
        ["db", family, size, ..] => {
            family.starts_with(|c: char| c.is_ascii_lowercase())
                && family.chars().any(|c| c.is_ascii_digit())
                && SIZES.contains(size)
        }
        _ => false,
    };
    if good { Ok(()) } else { Err(Refusal::value(format!("Invalid DB Instance class: {class}"))) }
}

/// Checks that a number lies in a range.
pub(super) fn check_range(member: &str, value: i64, low: i64, high: i64) -> Result<(), Refusal> {
    if (low..=high).contains(&value) {
        return Ok(());
    }
    Err(Refusal::value(format!("Invalid {member}: {value}. Must be between {low} and {high}.")))
}

/// Checks the two windows, alone and against each other.
pub(super) fn check_windows(backup: &str, maintenance: &str) -> Result<(), Refusal> {
    let daily = Window::daily(backup).filter(|w| w.minutes() >= 30).ok_or_else(|| {
        Refusal::value(format!(
            "The backup window {backup} is not valid: it is hh24:mi-hh24:mi, at least 30 minutes"
        ))
    })?;
    let weekly = Window::weekly(maintenance)
        .filter(|w| (30..24 * 60).contains(&w.minutes()))
        .ok_or_else(|| {
            Refusal::value(format!(
                "The maintenance window {maintenance} is not valid: it is \
                 ddd:hh24:mi-ddd:hh24:mi, at least 30 minutes and less than a day"
            ))
        })?;
    if daily.overlaps(weekly) {
        return Err(Refusal::value("The backup window and maintenance window must not overlap."));
    }
    Ok(())
}

/// Chooses the windows that are not given: half an hour in the night of the region.
pub(super) fn choose_windows(
    random: &mut StdRng,
    region: &Region,
    backup: Option<String>,
    maintenance: Option<String>,
) -> (String, String) {
    const DAYS: [&str; 7] = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"];
    let night = if region.as_str().starts_with("us-") { 3 * 60 } else { 22 * 60 };
    let time = |minute: i64| format!("{:02}:{:02}", minute / 60 % 24, minute % 60);
    let mut half_hour = || night + random.random_range(0..16_i64) * 30;
    // Sixteen half hours against two windows of at most a day: a few draws find a free one, and
    // a given pair that overlaps is refused after this.
    for _ in 0..64 {
        let (from, on) = (half_hour(), half_hour());
        let daily = backup.clone().unwrap_or_else(|| format!("{}-{}", time(from), time(from + 30)));
        let weekly = maintenance.clone().unwrap_or_else(|| {
            let day = usize::try_from((from + on) % 7).unwrap_or(0);
            let next = (day + usize::from((on + 30) / 1440 > on / 1440)) % 7;
            format!("{}:{}-{}:{}", DAYS[day], time(on), DAYS[next], time(on + 30))
        });
        let apart = match (Window::daily(&daily), Window::weekly(&weekly)) {
            (Some(a), Some(b)) => !a.overlaps(b),
            _ => true,
        };
        if apart {
            return (daily, weekly);
        }
    }
    (backup.unwrap_or_default(), maintenance.unwrap_or_default())
}

/// Checks what goes with Enhanced Monitoring: an interval needs a role.
pub(super) fn check_monitoring(interval: i64, role: Option<&str>) -> Result<(), Refusal> {
    if ![0, 1, 5, 10, 15, 30, 60].contains(&interval) {
        return Err(Refusal::value(format!("Invalid MonitoringInterval: {interval}")));
    }
    match (interval, role) {
        (0, Some(_)) => Err(Refusal::combination(
            "A MonitoringInterval other than 0 is required if you specify a MonitoringRoleARN value.",
        )),
        (1.., None) => Err(Refusal::combination(
            "A MonitoringRoleARN value is required if you specify a MonitoringInterval value other than 0.",
        )),
        _ => Ok(()),
    }
}

/// Checks how long Performance Insights keeps its data: 7 days, months of 31 days, or 731 days.
pub(super) fn check_insights(days: i64) -> Result<(), Refusal> {
    if days == 7 || days == 731 || (days % 31 == 0 && (1..=23).contains(&(days / 31))) {
        return Ok(());
    }
    Err(Refusal::value(format!("Invalid Performance Insights retention period. Value was: {days}")))
}

/// Checks the names of exported logs and puts them in AWS's order.
pub(super) fn log_types(engine: &Engine, types: &[String]) -> Result<Vec<String>, Refusal> {
    if let Some(unknown) = types.iter().find(|log| !engine.logs.contains(&log.as_str())) {
        return Err(Refusal::combination(format!(
            "You cannot use the log types '{unknown}' with engine {}.",
            engine.name
        )));
    }
    Ok(types.iter().cloned().collect::<BTreeSet<_>>().into_iter().collect())
}

/// Checks the name of a certificate authority.
pub(super) fn check_authority(name: &str) -> Result<(), Refusal> {
    const KNOWN: [&str; 4] =
        ["rds-ca-2019", "rds-ca-rsa2048-g1", "rds-ca-rsa4096-g1", "rds-ca-ecc384-g1"];
    if KNOWN.contains(&name) {
        return Ok(());
    }
    Err(Refusal::new("CertificateNotFound", format!("Certificate {name} not found.")))
}

/// Checks a new master password.
pub(super) fn check_password(password: &str) -> Result<(), Refusal> {
    if (8..=128).contains(&password.len()) && !password.contains(['/', '"', '@', ' ']) {
        return Ok(());
    }
    Err(Refusal::value(
        "The parameter MasterUserPassword is not a valid password because it is shorter than 8 \
         characters or has one of / \" @ or a space.",
    ))
}

/// Turns any spelling of a KMS key into its ARN.
pub(super) fn key_arn(site: &Site<'_>, key: &str) -> String {
    if key.starts_with("arn:") {
        return key.to_owned();
    }
    let path = if key.starts_with("alias/") { key.to_owned() } else { format!("key/{key}") };
    format!("arn:aws:kms:{}:{}:{path}", site.scope.region, site.scope.account)
}

/// Returns the account's own key for a service.
pub(super) fn default_key(site: &Site<'_>, service: &str) -> String {
    let (account, region) = (&site.scope.account, &site.scope.region);
    let salt: u64 = format!("{account}{region}{service}").bytes().fold(17, |sum: u64, byte| {
        sum.wrapping_mul(1_099_511_628_211).wrapping_add(u64::from(byte))
    });
    let tail = format!("{salt:016x}");
    let (left, right) = tail.split_at(4);
    format!("arn:aws:kms:{region}:{account}:key/00000000-0000-4000-{left}-{right}")
}

/// Makes the description of security group memberships.
pub(super) fn memberships(ids: &[String]) -> Value {
    let item = |id: &String| json!({"VpcSecurityGroupId": id, "Status": "active"});
    Value::Array(ids.iter().map(item).collect())
}

/// Reads whether the password is managed, and checks that nobody gives one as well.
pub(super) fn managed_password(args: Args<'_>) -> Result<Option<bool>, Refusal> {
    let managed = args.boolean("ManageMasterUserPassword")?;
    if managed == Some(true) && args.has("MasterUserPassword") {
        return Err(Refusal::combination(
            "You can't specify MasterUserPassword when ManageMasterUserPassword is enabled.",
        ));
    }
    Ok(managed)
}
