//! The parameters that are modelled, per family, with their defaults and limits.
//!
//! A handful of each engine's hundreds: static and dynamic ones, every data type, a formula, an
//! enumeration, one that cannot be modified.

/// States what is known of a parameter.
#[derive(Debug)]
pub(super) struct Known {
    pub(super) name: &'static str,
    /// The engine's default; `None` where the engine decides by itself.
    pub(super) default: Option<&'static str>,
    /// `dynamic` or `static`.
    pub(super) apply_type: &'static str,
    pub(super) data_type: &'static str,
    /// A range `1-9`, an enumeration `a,b`, or empty for anything.
    pub(super) allowed: &'static str,
    pub(super) modifiable: bool,
    pub(super) description: &'static str,
}

const fn known(
    name: &'static str,
    default: Option<&'static str>,
    (apply_type, data_type, allowed): (&'static str, &'static str, &'static str),
    description: &'static str,
) -> Known {
    Known { name, default, apply_type, data_type, allowed, modifiable: true, description }
}

const POSTGRES: &[Known] = &[
    known(
        "autovacuum",
        Some("1"),
        ("dynamic", "boolean", "0,1"),
        "Starts the autovacuum subprocess.",
    ),
    known(
        "autovacuum_max_workers",
        Some("GREATEST({DBInstanceClassMemory/64371566592},3)"),
        ("static", "integer", "1-262143"),
        "Sets the maximum number of autovacuum worker processes.",
    ),
    known(
        "deadlock_timeout",
        None,
        ("dynamic", "integer", "1-2147483647"),
        "(ms) Sets the time to wait on a lock before checking for deadlock.",
    ),
    known(
        "idle_in_transaction_session_timeout",
        Some("86400000"),
        ("dynamic", "integer", "0-2147483647"),
        "(ms) Sets the maximum allowed idle time between queries in a transaction.",
    ),
    known(
        "log_connections",
        None,
        ("dynamic", "boolean", "0,1"),
        "Logs each successful connection.",
    ),
    known(
        "log_min_duration_statement",
        None,
        ("dynamic", "integer", "-1-2147483647"),
        "(ms) Sets the minimum execution time above which statements are logged.",
    ),
    known(
        "log_statement",
        None,
        ("dynamic", "string", "none,ddl,mod,all"),
        "Sets the type of statements logged.",
    ),
    known(
        "max_connections",
        Some("LEAST({DBInstanceClassMemory/9531392},5000)"),
        ("static", "integer", "6-262143"),
        "Sets the maximum number of concurrent connections.",
    ),
    known(
        "max_wal_size",
        None,
        ("dynamic", "integer", "128-201326592"),
        "(MB) Sets the WAL size that triggers a checkpoint.",
    ),
    known(
        "random_page_cost",
        None,
        ("dynamic", "float", "0-1.79769e+308"),
        "Sets the planner's estimate of the cost of a nonsequentially fetched disk page.",
    ),
    known("rds.force_ssl", Some("1"), ("dynamic", "boolean", "0,1"), "Force SSL connections."),
    known(
        "rds.logical_replication",
        Some("0"),
        ("static", "boolean", "0,1"),
        "Enables logical decoding.",
    ),
    known(
        "shared_buffers",
        Some("{DBInstanceClassMemory/32768}"),
        ("static", "integer", "16-1073741823"),
        "(8kB) Sets the number of shared memory buffers used by the server.",
    ),
    known(
        "shared_preload_libraries",
        Some("pg_stat_statements"),
        ("static", "list", ""),
        "Lists shared libraries to preload into server.",
    ),
    known(
        "statement_timeout",
        None,
        ("dynamic", "integer", "0-2147483647"),
        "(ms) Sets the maximum allowed duration of any statement.",
    ),
    known(
        "timezone",
        Some("UTC"),
        ("dynamic", "string", ""),
        "Sets the time zone for displaying timestamps.",
    ),
    Known {
        name: "wal_level",
        default: None,
        apply_type: "static",
        data_type: "string",
        allowed: "",
        modifiable: false,
        description: "Sets the level of information written to the WAL.",
    },
    known(
        "work_mem",
        None,
        ("dynamic", "integer", "64-2147483647"),
        "(kB) Sets the maximum memory to be used for query workspaces.",
    ),
];

const MYSQL: &[Known] = &[
    known(
        "character_set_server",
        None,
        ("dynamic", "string", "ascii,latin1,utf8,utf8mb3,utf8mb4"),
        "The server's default character set.",
    ),
    known(
        "general_log",
        None,
        ("dynamic", "boolean", "0,1"),
        "Whether the general query log is enabled.",
    ),
    known(
        "innodb_buffer_pool_size",
        Some("{DBInstanceClassMemory*3/4}"),
        ("static", "integer", "5242880-9223372036854775807"),
        "The size in bytes of the memory buffer InnoDB uses to cache data.",
    ),
    known(
        "innodb_flush_log_at_trx_commit",
        Some("1"),
        ("dynamic", "integer", "0-2"),
        "Determines InnoDB's balance between ACID compliance and performance.",
    ),
    known(
        "long_query_time",
        None,
        ("dynamic", "float", "0-31536000"),
        "Defines slow queries, in seconds.",
    ),
    known(
        "lower_case_table_names",
        None,
        ("static", "integer", "0-1"),
        "Affects how the server handles the case of identifiers.",
    ),
    known(
        "max_connections",
        Some("{DBInstanceClassMemory/12582880}"),
        ("dynamic", "integer", "1-100000"),
        "The number of simultaneous client connections allowed.",
    ),
    known(
        "performance_schema",
        Some("0"),
        ("static", "boolean", "0,1"),
        "Enables the performance schema.",
    ),
    known(
        "require_secure_transport",
        None,
        ("dynamic", "boolean", "0,1"),
        "Whether client connections are required to use secure transport.",
    ),
    known(
        "slow_query_log",
        None,
        ("dynamic", "boolean", "0,1"),
        "Whether the slow query log is enabled.",
    ),
    known("time_zone", Some("UTC"), ("dynamic", "string", ""), "The server time zone."),
    Known {
        name: "datadir",
        default: Some("/rdsdbdata/db/"),
        apply_type: "static",
        data_type: "string",
        allowed: "",
        modifiable: false,
        description: "MySQL data directory.",
    },
];

const OTHER: &[Known] = &[
    known("processes", None, ("static", "integer", "80-20000"), "The number of user processes."),
    known(
        "open_cursors",
        Some("300"),
        ("dynamic", "integer", "0-65535"),
        "The number of open cursors.",
    ),
];

/// Returns the parameters of a family, in the order of their names.
pub(super) fn of_family(family: &str) -> &'static [Known] {
    let family = family.strip_prefix("aurora-").unwrap_or(family);
    if family.starts_with("postgres") {
        POSTGRES
    } else if family.starts_with("mysql") || family.starts_with("mariadb") {
        MYSQL
    } else {
        OTHER
    }
}

impl Known {
    /// Tells whether a value is allowed. A formula is taken as it is.
    pub(super) fn allows(&self, value: &str) -> bool {
        if value.contains('{') || self.allowed.is_empty() {
            return true;
        }
        if let "integer" | "float" = self.data_type {
            return self.in_range(value);
        }
        self.allowed.split(',').any(|one| one == value)
    }

    fn in_range(&self, value: &str) -> bool {
        let whole = self.data_type == "integer" && value.parse::<i64>().is_err();
        // The first dash may be a sign.
        let split = self.allowed.get(1..).and_then(|rest| rest.find('-')).map(|at| at + 1);
        let (low, high) =
            split.map_or((self.allowed, ""), |at| (&self.allowed[..at], &self.allowed[at + 1..]));
        match (value.parse::<f64>(), low.parse::<f64>(), high.parse::<f64>()) {
            (Ok(value), Ok(low), Ok(high)) => !whole && (low..=high).contains(&value),
            _ => false,
        }
    }
}
