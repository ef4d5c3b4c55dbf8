//! Facts about the database engines of RDS.
//!
//! Source, where no other is named: the API reference of `CreateDBInstance`.

use crate::model::version::major_components;

/// The engines that a DB instance can have, of its own or in a cluster; RDS Custom is another kind of
/// resource.
pub const ENGINES: [&str; 17] = [
    "aurora-postgresql",
    "aurora-mysql",
    "postgres",
    "mysql",
    "mariadb",
    "oracle-ee",
    "oracle-ee-cdb",
    "oracle-se2",
    "oracle-se2-cdb",
    "sqlserver-ee",
    "sqlserver-se",
    "sqlserver-ex",
    "sqlserver-web",
    "sqlserver-dev-ee",
    "db2-ae",
    "db2-se",
    "db2-ce",
];

/// Names the family of engines that share limits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Engine {
    /// `aurora-postgresql`.
    AuroraPostgres,
    /// `aurora-mysql`.
    AuroraMySql,
    /// `postgres`.
    Postgres,
    /// `mysql`.
    MySql,
    /// `mariadb`.
    MariaDb,
    /// `oracle-…`.
    Oracle,
    /// `sqlserver-…`.
    SqlServer,
    /// `db2-…`.
    Db2,
}

impl Engine {
    /// Returns the family of an engine that a DB instance can have, letter case aside.
    pub fn of(name: &str) -> Option<Self> {
        let name = name.to_ascii_lowercase();
        if !ENGINES.contains(&name.as_str()) {
            return None;
        }
        Some(match name.split('-').next()? {
            "aurora" if name == "aurora-mysql" => Self::AuroraMySql,
            "aurora" => Self::AuroraPostgres,
            "postgres" => Self::Postgres,
            "mysql" => Self::MySql,
            "mariadb" => Self::MariaDb,
            "oracle" => Self::Oracle,
            "sqlserver" => Self::SqlServer,
            "db2" => Self::Db2,
            _ => return None,
        })
    }

    /// Tells whether instances with this engine are members of a cluster, which has the storage.
    pub fn is_aurora(self) -> bool {
        matches!(self, Self::AuroraPostgres | Self::AuroraMySql)
    }

    /// Returns the size in GiB from which gp3 storage takes IOPS and throughput of one's own.
    ///
    /// Source: the error text of `CreateDBInstance` below it, as users report it; SQL Server has
    /// no such size.
    pub fn gp3_threshold(self) -> u32 {
        match self {
            Self::SqlServer => 0,
            Self::Oracle => 200,
            _ => 400,
        }
    }

    /// Returns the IOPS that gp3 storage of a size has at least, where they can be chosen.
    pub fn gp3_baseline(self, size_gib: u64) -> Option<u64> {
        if size_gib < u64::from(self.gp3_threshold()) {
            return None;
        }
        Some(if self == Self::SqlServer { 3_000 } else { 12_000 })
    }

    /// Returns the smallest and largest size in GiB of a storage type.
    pub fn sizes(self, storage_type: &str) -> Option<(u32, u32)> {
        let largest = if self == Self::SqlServer { 16_384 } else { 65_536 };
        match (storage_type, self) {
            ("gp2" | "gp3", _) => Some((20, largest)),
            ("io1" | "io2", _) => Some((100, largest)),
            ("standard", Self::SqlServer) => Some((20, 1_024)),
            ("standard", Self::Oracle) => Some((10, 3_072)),
            ("standard", Self::Db2) => None,
            ("standard", _) => Some((5, 3_072)),
            _ => None,
        }
    }

    /// Returns the name that the AWS console gives the master user.
    pub fn master_username(self) -> &'static str {
        if matches!(self, Self::Postgres | Self::AuroraPostgres) { "postgres" } else { "admin" }
    }

    /// Returns the TCP port where none is declared.
    pub fn port(self) -> u16 {
        match self {
            Self::Postgres | Self::AuroraPostgres => 5432,
            Self::MySql | Self::AuroraMySql | Self::MariaDb => 3306,
            Self::Oracle => 1521,
            Self::SqlServer => 1433,
            Self::Db2 => 50000,
        }
    }

    /// Returns the log types that can be exported; empty where the reference lists none.
    ///
    /// Source: the API reference of `CreateDBInstance` and `CreateDBCluster`.
    pub fn log_types(self) -> &'static [&'static str] {
        match self {
            Self::AuroraPostgres => &["instance", "postgresql", "iam-db-auth-error"],
            Self::AuroraMySql => {
                &["audit", "error", "general", "instance", "slowquery", "iam-db-auth-error"]
            }
            Self::Postgres => &["postgresql", "upgrade", "iam-db-auth-error"],
            Self::MySql => &["audit", "error", "general", "slowquery", "iam-db-auth-error"],
            _ => &[],
        }
    }
}

/// Returns the DB parameter group family of an engine and version, for example `postgres15`,
/// `mysql8.0`, `mariadb10.11`, `oracle-ee-19`, `sqlserver-se-15.0`, `db2-se-11.5`,
/// `aurora-postgresql16`, `aurora-mysql8.0`.
///
/// `None` where the version is too short to tell (`8` of MySQL may be 8.0 or 8.4).
///
/// Source: the member `DBParameterGroupFamily` of `DescribeDBEngineVersions`.
pub fn family(engine: &str, version: &str) -> Option<String> {
    let engine = engine.to_ascii_lowercase();
    let count = major_components(&engine, version);
    let parts: Vec<&str> = version.split('.').take(count).collect();
    if parts.len() < count || parts.iter().any(|part| part.parse::<u32>().is_err()) {
        return None;
    }
    Some(match Engine::of(&engine)? {
        Engine::SqlServer => {
            let minor: u32 = parts.get(1)?.parse().ok()?;
            format!("{engine}-{}.{minor}", parts[0])
        }
        Engine::Oracle | Engine::Db2 => format!("{engine}-{}", parts.join(".")),
        _ => format!("{engine}{}", parts.join(".")),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_engine_names_its_families_in_its_own_way() {
        for (engine, version, expected) in [
            ("postgres", "15", Some("postgres15")),
            ("Postgres", "15.4", Some("postgres15")),
            ("postgres", "9.6.24", Some("postgres9.6")),
            ("mysql", "8.0.35", Some("mysql8.0")),
            ("mysql", "8.4", Some("mysql8.4")),
            ("mysql", "8", None),
            ("mariadb", "10.11", Some("mariadb10.11")),
            ("oracle-ee", "19", Some("oracle-ee-19")),
            ("oracle-ee", "19.0.0.0.ru-2024-01.rur-2024-01.r1", Some("oracle-ee-19")),
            ("oracle-se2-cdb", "21", Some("oracle-se2-cdb-21")),
            ("sqlserver-se", "15.00.4312.2.v1", Some("sqlserver-se-15.0")),
            ("db2-se", "11.5.9.0.sb00013", Some("db2-se-11.5")),
            ("aurora-postgresql", "15.4", Some("aurora-postgresql15")),
            ("Aurora-MySQL", "8.0.mysql_aurora.3.05.2", Some("aurora-mysql8.0")),
            ("aurora-mysql", "8", None),
            ("postgres", "latest", None),
        ] {
            assert_eq!(family(engine, version).as_deref(), expected, "{engine} {version}");
        }
    }

    #[test]
    fn engines_that_are_other_resources_are_not_known() {
        for name in ["aurora", "aurora-oracle", "custom-oracle-ee", "custom", "neptune", ""] {
            assert_eq!(Engine::of(name), None, "{name}");
        }
    }
}
