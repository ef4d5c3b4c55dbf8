//! The database engines: versions, families, ports and the rules that differ between them.

use jiff::Timestamp;

use crate::sandbox::refusal::Refusal;

/// States what is particular to an engine.
#[derive(Debug)]
pub(in crate::sandbox) struct Engine {
    /// The name as RDS spells it.
    pub(in crate::sandbox) name: &'static str,
    /// The default port.
    pub(in crate::sandbox) port: i64,
    /// The default licence model.
    pub(in crate::sandbox) license: &'static str,
    /// How many parts of a version make the major version.
    major_parts: usize,
    /// From this size in GiB on, gp3 takes IOPS and throughput; `None` where it always does.
    pub(in crate::sandbox) gp3_threshold: Option<i64>,
    /// True when growth of less than a tenth is rounded up to a tenth.
    pub(in crate::sandbox) rounds_growth: bool,
    /// The logs that can be exported.
    pub(in crate::sandbox) logs: &'static [&'static str],
    /// Names that the master user may not have.
    pub(in crate::sandbox) reserved: &'static [&'static str],
    majors: &'static [Major],
}

/// States the versions of one major version, oldest first.
#[derive(Debug)]
struct Major {
    name: &'static str,
    family: &'static str,
    minors: &'static [&'static str],
}

const fn major(name: &'static str, family: &'static str, minors: &'static [&'static str]) -> Major {
    Major { name, family, minors }
}

const POSTGRES: &[Major] = &[
    major("13", "postgres13", &["13.15", "13.18", "13.20", "13.22"]),
    major("14", "postgres14", &["14.10", "14.12", "14.13", "14.15", "14.17", "14.18", "14.19"]),
    major(
        "15",
        "postgres15",
        &["15.4", "15.5", "15.6", "15.7", "15.8", "15.10", "15.12", "15.13", "15.14"],
    ),
    major("16", "postgres16", &["16.3", "16.4", "16.6", "16.8", "16.9", "16.10"]),
    major("17", "postgres17", &["17.2", "17.4", "17.5", "17.6"]),
    major("18", "postgres18", &["18.1"]),
];

const MYSQL: &[Major] = &[
    major("5.7", "mysql5.7", &["5.7.44"]),
    major("8.0", "mysql8.0", &["8.0.35", "8.0.37", "8.0.39", "8.0.40", "8.0.41", "8.0.42"]),
    major("8.4", "mysql8.4", &["8.4.3", "8.4.4", "8.4.5", "8.4.6"]),
];

const AURORA_POSTGRES: &[Major] = &[
    major("15", "aurora-postgresql15", &["15.8", "15.10", "15.12"]),
    major("16", "aurora-postgresql16", &["16.4", "16.6", "16.8"]),
    major("17", "aurora-postgresql17", &["17.4", "17.5"]),
];

const AURORA_MYSQL: &[Major] = &[
    major("5.7", "aurora-mysql5.7", &["5.7.mysql_aurora.2.11.6", "5.7.mysql_aurora.2.12.5"]),
    major("8.0", "aurora-mysql8.0", &["8.0.mysql_aurora.3.05.2", "8.0.mysql_aurora.3.08.2"]),
];

const MARIADB: &[Major] = &[
    major("10.6", "mariadb10.6", &["10.6.18", "10.6.20", "10.6.21", "10.6.22"]),
    major("10.11", "mariadb10.11", &["10.11.8", "10.11.10", "10.11.11", "10.11.13"]),
    major("11.4", "mariadb11.4", &["11.4.4", "11.4.5", "11.4.7"]),
];

const ORACLE: &[Major] = &[major(
    "19",
    "oracle-se2-19",
    &["19.0.0.0.ru-2025-04.rur-2025-04.r1", "19.0.0.0.ru-2025-07.rur-2025-07.r1"],
)];

const SQLSERVER: &[Major] = &[
    major("15.00", "sqlserver-se-15.0", &["15.00.4430.1.v1", "15.00.4435.7.v1"]),
    major("16.00", "sqlserver-se-16.0", &["16.00.4195.2.v1", "16.00.4205.1.v1"]),
];

const ENGINES: &[Engine] = &[
    Engine {
        name: "aurora-postgresql",
        port: 5432,
        license: "postgresql-license",
        major_parts: 1,
        gp3_threshold: None,
        rounds_growth: false,
        logs: &["instance", "postgresql", "iam-db-auth-error"],
        reserved: &["admin", "rdsadmin"],
        majors: AURORA_POSTGRES,
    },
    Engine {
        name: "aurora-mysql",
        port: 3306,
        license: "general-public-license",
        major_parts: 2,
        gp3_threshold: None,
        rounds_growth: false,
        logs: &["audit", "error", "general", "instance", "slowquery", "iam-db-auth-error"],
        reserved: &["rdsadmin"],
        majors: AURORA_MYSQL,
    },
    Engine {
        name: "postgres",
        port: 5432,
        license: "postgresql-license",
        major_parts: 1,
        gp3_threshold: Some(400),
        rounds_growth: true,
        logs: &["postgresql", "upgrade", "iam-db-auth-error"],
        reserved: &["admin", "rdsadmin", "rdsrepladmin", "rds_superuser", "user", "table"],
        majors: POSTGRES,
    },
    Engine {
        name: "mysql",
        port: 3306,
        license: "general-public-license",
        major_parts: 2,
        gp3_threshold: Some(400),
        rounds_growth: true,
        logs: &["audit", "error", "general", "slowquery", "iam-db-auth-error"],
        reserved: &["rdsadmin", "mysql"],
        majors: MYSQL,
    },
    Engine {
        name: "mariadb",
        port: 3306,
        license: "general-public-license",
        major_parts: 2,
        gp3_threshold: Some(400),
        rounds_growth: true,
        logs: &["audit", "error", "general", "slowquery", "iam-db-auth-error"],
        reserved: &["rdsadmin", "mariadb"],
        majors: MARIADB,
    },
    Engine {
        name: "oracle-se2",
        port: 1521,
        license: "license-included",
        major_parts: 1,
        gp3_threshold: Some(200),
        rounds_growth: true,
        logs: &["alert", "audit", "listener", "trace", "oemagent"],
        reserved: &["rdsadmin", "sys", "system"],
        majors: ORACLE,
    },
    Engine {
        name: "sqlserver-se",
        port: 1433,
        license: "license-included",
        major_parts: 2,
        gp3_threshold: None,
        rounds_growth: false,
        logs: &["agent", "error"],
        reserved: &["rdsadmin", "sa"],
        majors: SQLSERVER,
    },
];

/// Finds an engine, in any letter case.
pub(in crate::sandbox) fn find(name: &str) -> Result<&'static Engine, Refusal> {
    ENGINES
        .iter()
        .find(|engine| engine.name.eq_ignore_ascii_case(name))
        .ok_or_else(|| Refusal::value(format!("Invalid DB engine: {name}")))
}

/// Tells whether a parameter group family exists.
pub(in crate::sandbox) fn is_family(family: &str) -> bool {
    ENGINES.iter().flat_map(|engine| engine.majors).any(|major| major.family == family)
}

impl Engine {
    /// Tells whether the instances of the engine live in clusters.
    pub(in crate::sandbox) fn is_aurora(&self) -> bool {
        self.name.starts_with("aurora")
    }

    /// Cuts a version down to its major version.
    pub(in crate::sandbox) fn major_of(&self, version: &str) -> String {
        version.split('.').take(self.major_parts).collect::<Vec<_>>().join(".")
    }

    /// Returns the parameter group family of a version.
    pub(in crate::sandbox) fn family(&self, version: &str) -> Option<&'static str> {
        let name = self.major_of(version);
        self.majors.iter().find(|major| major.name == name).map(|major| major.family)
    }

    /// Returns the name of the default option group of a version.
    pub(in crate::sandbox) fn option_group(&self, version: &str) -> String {
        format!("default:{}-{}", self.name, self.major_of(version).replace('.', "-"))
    }
}

/// Makes a version comparable: numbers as numbers, part by part.
pub(in crate::sandbox) fn order(version: &str) -> Vec<(u64, String)> {
    version.split('.').map(|part| (part.parse().unwrap_or(0), part.to_owned())).collect()
}

/// Holds the versions that came out after the sandbox began.
#[derive(Debug, Default)]
pub(in crate::sandbox) struct Catalog {
    published: Vec<Published>,
}

#[derive(Debug)]
struct Published {
    engine: &'static str,
    version: String,
    at: Timestamp,
}

impl Catalog {
    /// Publishes a version of a known major version.
    pub(in crate::sandbox) fn publish(
        &mut self,
        engine: &'static Engine,
        version: &str,
        at: Timestamp,
    ) {
        self.published.push(Published { engine: engine.name, version: version.to_owned(), at });
    }

    fn versions(&self, engine: &'static Engine, at: Timestamp) -> impl Iterator<Item = &str> {
        let built_in = engine.majors.iter().flat_map(|major| major.minors).copied();
        let published =
            self.published.iter().filter(move |p| p.engine == engine.name && p.at <= at);
        built_in.chain(published.map(|p| p.version.as_str()))
    }

    /// Returns the newest version of a major version.
    pub(in crate::sandbox) fn newest(
        &self,
        engine: &'static Engine,
        major: &str,
        at: Timestamp,
    ) -> Option<&str> {
        self.versions(engine, at)
            .filter(|version| engine.major_of(version) == major)
            .max_by_key(|version| order(version))
    }

    /// Returns the full version that a version or a major version stands for.
    pub(in crate::sandbox) fn resolve(
        &self,
        engine: &'static Engine,
        asked: &str,
        at: Timestamp,
    ) -> Result<String, Refusal> {
        let exact = self.versions(engine, at).find(|version| *version == asked);
        exact.or_else(|| self.newest(engine, asked, at)).map(str::to_owned).ok_or_else(|| {
            Refusal::combination(format!("Cannot find version {asked} for {}", engine.name))
        })
    }

    /// Returns the version that RDS creates when none is asked for.
    pub(in crate::sandbox) fn default_version(
        &self,
        engine: &'static Engine,
        at: Timestamp,
    ) -> &str {
        // The newest major version is not the default until it has settled, hence the one before.
        let majors = engine.majors;
        let settled = majors.len().saturating_sub(2);
        majors
            .get(settled)
            .and_then(|major| self.newest(engine, major.name, at))
            .unwrap_or_default()
    }
}
