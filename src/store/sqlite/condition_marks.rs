//! Local conditions as marks of the matching alerts, by the index of each column.

use rusqlite::Connection;

use super::conditions::Conditions;
use super::marks::Marks;
use super::sql::Sql;

/// Adds one of the conditions to a statement.
type Push = fn(&Conditions, &mut Sql);

/// Marks the matching alerts: by the index of each column, and past the marks of those where a column has none. `all`
/// is the number of alerts.
pub(super) fn marked(wanted: &Conditions, conn: &Connection, organization: i64, all: u64) -> rusqlite::Result<Marks> {
    let indexed: [(bool, &str, Push); 3] = [
        (wanted.issuers.is_some(), "INDEXED BY alert_by_issuer", Conditions::push_issuers),
        (wanted.amounts.is_some(), "INDEXED BY alert_by_amount", Conditions::push_amounts),
        (wanted.currencies.is_some(), "INDEXED BY alert_by_currency", Conditions::push_currencies),
    ];
    let from = |index: &str, push: Push| {
        let mut sql = Sql::new(&format!("SELECT a.key FROM alert a {index} WHERE a.organization = "));
        sql.value(organization);
        push(wanted, &mut sql);
        sql
    };
    let mut marks: Option<Marks> = None;
    if wanted.answered.is_some() {
        let mut sql = Sql::new(
            "SELECT a.key FROM outcome o INDEXED BY outcome_by_action_time CROSS JOIN alert a ON a.key = o.alert",
        );
        sql.push(" WHERE a.organization = ");
        sql.value(organization);
        wanted.push_answered(&mut sql);
        marks = Some(Marks::of(conn, &sql)?);
    }
    for (_, index, push) in indexed.into_iter().filter(|(asked, ..)| *asked) {
        let sql = from(index, push);
        marks = Some(match marks {
            Some(marks) => marks.and(conn, &sql)?,
            None => Marks::of(conn, &sql)?,
        });
    }
    match marks {
        Some(marks) if wanted.mccs.is_none() => Ok(marks),
        Some(marks) if marks.is_few(all) => {
            let mut test = Sql::new("SELECT 1 FROM alert a WHERE 1");
            wanted.push_mccs(&mut test);
            marks.tested(conn, test)
        }
        Some(marks) => marks.and(conn, &from("NOT INDEXED", Conditions::push_mccs)),
        None => Marks::of(conn, &from("NOT INDEXED", Conditions::push_mccs)),
    }
}
