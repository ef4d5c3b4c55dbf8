//! How the sandbox is set: its seed, how long things take, and how many calls it takes.

use std::time::Duration;

use crate::model::AccountId;

/// Sets a sandbox.
#[derive(Debug, Clone)]
pub struct Settings {
    /// The seed of every random choice: ids, default windows, fault rules with a chance.
    pub seed: u64,
    /// How long RDS takes for things.
    pub durations: Durations,
    /// The rate limit of the RDS API per account and region; `None` for no limit.
    pub rds_rate: Option<Rate>,
    /// The rate limit of the EC2 API per account and region; `None` for no limit.
    pub ec2_rate: Option<Rate>,
    /// True when the calls of an assumed role that the sandbox holds are refused unless its inline
    /// policies allow the action.
    pub enforce_policies: bool,
    /// True when an instance is `backing-up` once a day in its backup window.
    pub daily_backups: bool,
    /// How long an event takes to show in CloudTrail.
    pub trail_lag: Duration,
    /// The account of an access key that names none.
    pub default_account: AccountId,
    /// How many calls the log keeps; the counters count all.
    pub log_limit: usize,
}

/// States a token bucket.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rate {
    /// Calls that may come at once.
    pub burst: f64,
    /// Calls a second for ever.
    pub per_second: f64,
}

/// States how long RDS takes, before jitter.
#[derive(Debug, Clone, Copy)]
pub struct Durations {
    /// Making an instance.
    pub creating: Duration,
    /// A backup, the first one after creation included.
    pub backing_up: Duration,
    /// From an accepted change to the status that shows it.
    pub accepting: Duration,
    /// A change of class, storage or any other setting that makes the instance `modifying`.
    pub modifying: Duration,
    /// The `configuring-…` states, and a new master password.
    pub configuring: Duration,
    /// An engine upgrade.
    pub upgrading: Duration,
    /// A restart.
    pub rebooting: Duration,
    /// The `storage-optimization` after a storage change.
    pub optimizing: Duration,
    /// From a storage change to the next one that RDS accepts; AWS documents six hours.
    pub storage_lock: Duration,
    /// Deleting an instance.
    pub deleting: Duration,
    /// Stopping and starting an instance.
    pub stopping: Duration,
    /// A dynamic parameter on its way to the instances of the group.
    pub applying: Duration,
    /// A new role of IAM on its way to those who read and trust it, and a new VPC or subnet that is
    /// pending.
    pub spreading: Duration,
    /// The share by which a duration varies, from 0 for never to 1 for up to twice as long.
    pub jitter: f64,
}

impl Settings {
    /// Behaves as AWS does, in the time that AWS takes: for virtual time.
    pub fn real(seed: u64) -> Self {
        Self {
            seed,
            durations: Durations::REAL,
            rds_rate: Some(Rate { burst: 300.0, per_second: 12.0 }),
            ec2_rate: Some(Rate { burst: 100.0, per_second: 20.0 }),
            enforce_policies: false,
            daily_backups: true,
            trail_lag: minutes(10),
            default_account: AccountId::new("123456789012"),
            log_limit: 100_000,
        }
    }

    /// Behaves as AWS does in a hundredth of a second, without rate limits or daily backups.
    pub fn fast(seed: u64) -> Self {
        Self {
            durations: Durations::uniform(Duration::from_millis(10)),
            rds_rate: None,
            ec2_rate: None,
            daily_backups: false,
            trail_lag: Duration::ZERO,
            ..Self::real(seed)
        }
    }
}

const fn minutes(count: u64) -> Duration {
    Duration::from_secs(count * 60)
}

impl Durations {
    /// Typical times of small instances; the storage lock is AWS's documented six hours.
    pub const REAL: Self = Self {
        creating: minutes(5),
        backing_up: minutes(2),
        accepting: Duration::from_secs(20),
        modifying: minutes(6),
        configuring: minutes(1),
        upgrading: minutes(12),
        rebooting: minutes(1),
        optimizing: minutes(90),
        storage_lock: minutes(360),
        deleting: minutes(4),
        stopping: minutes(5),
        applying: Duration::from_secs(45),
        spreading: Duration::from_secs(6),
        jitter: 0.5,
    };

    /// Everything takes the same time, without jitter.
    pub const fn uniform(each: Duration) -> Self {
        Self {
            creating: each,
            backing_up: each,
            accepting: each,
            modifying: each,
            configuring: each,
            upgrading: each,
            rebooting: each,
            optimizing: each,
            storage_lock: each,
            deleting: each,
            stopping: each,
            applying: each,
            spreading: each,
            jitter: 0.0,
        }
    }
}
