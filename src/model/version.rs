//! Engine versions, compared by their dotted components.
//!
//! What is declared is a prefix: `15` stands for every 15.x, `8.0` for every 8.0.x. A component that
//! is not a number (`v1`, `ru-2024-01`) is compared by its runs of digits and of other characters.

use std::cmp::Ordering;

/// Compares an actual version with a declared one, looking no further than the declared one goes.
///
/// `Less` means that the actual version is behind.
pub fn against(declared: &str, actual: &str) -> Ordering {
    let mut actual = actual.split('.');
    for want in declared.split('.') {
        let Some(have) = actual.next() else { return Ordering::Less };
        match natural(have, want) {
            Ordering::Equal => {}
            other => return other,
        }
    }
    Ordering::Equal
}

/// Tells whether two versions of an engine belong to the same major version.
///
/// A version that is shorter than the engine's major version counts as the same as far as it goes.
pub fn same_major(engine: &str, one: &str, other: &str) -> bool {
    let count = major_components(engine, one).max(major_components(engine, other));
    let of = |text| str::split(text, '.').take(count);
    of(one).zip(of(other)).all(|(one, other)| natural(one, other) == Ordering::Equal)
}

/// Returns how many components make the major version.
///
/// Source: the version pages of each engine in the Amazon RDS User Guide (MySQL 8.0 and 8.4,
/// MariaDB 10.11, PostgreSQL 9.6 but 15, SQL Server 15.00, Db2 11.5, Oracle 19), and of the Aurora
/// User Guide (Aurora MySQL is named by the MySQL that it is compatible with: 5.7 and 8.0).
pub fn major_components(engine: &str, version: &str) -> usize {
    let is = |prefix: &str| {
        engine.get(..prefix.len()).is_some_and(|start| start.eq_ignore_ascii_case(prefix))
    };
    let one_digit = version.split('.').next().is_some_and(|first| first.len() == 1);
    let has_two = ["mysql", "aurora-mysql", "mariadb", "sqlserver", "db2"].into_iter().any(is);
    if has_two || (is("postgres") && one_digit) { 2 } else { 1 }
}

/// Orders texts so that runs of digits count as numbers: `v9` before `v10`, `00` equal to `0`.
fn natural(one: &str, other: &str) -> Ordering {
    let (mut one, mut other) = (one, other);
    loop {
        if one.is_empty() || other.is_empty() {
            return one.len().cmp(&other.len());
        }
        let (left, rest_left) = run(one);
        let (right, rest_right) = run(other);
        let order = match (digits(left), digits(right)) {
            (Some(left), Some(right)) => left.len().cmp(&right.len()).then(left.cmp(right)),
            _ => left.cmp(right),
        };
        if order != Ordering::Equal {
            return order;
        }
        (one, other) = (rest_left, rest_right);
    }
}

/// Splits off the longest start that is all digits or has none.
fn run(text: &str) -> (&str, &str) {
    let is_digit = text.starts_with(|c: char| c.is_ascii_digit());
    let end = text.find(|c: char| c.is_ascii_digit() != is_digit).unwrap_or(text.len());
    text.split_at(end)
}

/// Returns a run of digits without its leading zeros.
fn digits(run: &str) -> Option<&str> {
    run.starts_with(|c: char| c.is_ascii_digit()).then(|| run.trim_start_matches('0'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_declared_prefix_stands_for_every_version_under_it() {
        assert_eq!(against("15", "15.4"), Ordering::Equal);
        assert_eq!(against("8.0", "8.0.35"), Ordering::Equal);
        assert_eq!(against("8.0", "8.0.mysql_aurora.3.05.2"), Ordering::Equal);
    }

    #[test]
    fn components_are_compared_and_not_characters() {
        assert_eq!(against("1", "15.4"), Ordering::Greater);
        assert_eq!(against("15.10", "15.4"), Ordering::Less);
        assert_eq!(against("15.1", "15.10"), Ordering::Greater);
        assert_eq!(against("15.4", "15"), Ordering::Less);
    }

    #[test]
    fn components_with_letters_count_their_numbers() {
        assert_eq!(against("15.00.4312.2.v9", "15.00.4312.2.v10"), Ordering::Greater);
        assert_eq!(
            against("19.0.0.0.ru-2024-01.rur-2024-01.r1", "19.0.0.0.ru-2023-10.rur-2023-10.r1"),
            Ordering::Less
        );
        assert_eq!(against("16.00", "16.0.1"), Ordering::Equal);
    }

    #[test]
    fn each_engine_has_its_own_idea_of_a_major_version() {
        assert!(same_major("postgres", "15.4", "15.10"));
        assert!(!same_major("postgres", "14.13", "15"));
        assert!(!same_major("postgres", "9.5.1", "9.6.2"));
        assert!(!same_major("postgres", "9.6", "10.1"));
        assert!(!same_major("mysql", "8.0.35", "8.4.1"));
        assert!(!same_major("aurora-mysql", "5.7.mysql_aurora.2.11.5", "8.0"));
        assert!(same_major("aurora-mysql", "8.0.mysql_aurora.3.04.0", "8.0.mysql_aurora.3.08.2"));
        assert!(!same_major("aurora-postgresql", "15.8", "16.4"));
        assert!(same_major("mariadb", "10.11.4", "10.11.9"));
        assert!(same_major("oracle-ee", "19.0.0.0.ru-2023-10", "19.0.0.0.ru-2024-01"));
        assert!(!same_major("sqlserver-se", "15.00.4312", "16.00.1000"));
    }
}
