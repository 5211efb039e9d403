//! `grant.sql`: the merchant's own statements, run in the transaction of each grant, so that any language gets an
//! atomic one. It is the text and its parameters; each SQL store runs it in its own way.

use paidonce_ledger::{Changes, Entitlement, Line, OrderId, Unit};

use crate::{Result, StoreError, StoreErrorKind};

/// What a statement may name. All travel as text, but the quantity.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Parameter {
    /// `:order`, the order's id.
    Order,
    /// `:unit`, `order` or `line:2`.
    Unit,
    /// `:sku`, of a line of the unit: the statement runs once for each line.
    Sku,
    /// `:quantity`, of the same line, as text.
    Quantity,
    /// `:customer`; null if the order names none.
    Customer,
    /// `:entitlement`, the grant's own name: the order's id, a slash, the unit. There is one, ever.
    Entitlement,
}

const PARAMETERS: &[(&str, Parameter)] = &[
    ("order", Parameter::Order),
    ("unit", Parameter::Unit),
    ("sku", Parameter::Sku),
    ("quantity", Parameter::Quantity),
    ("customer", Parameter::Customer),
    ("entitlement", Parameter::Entitlement),
];

/// The text between parameters, and the parameter after each piece but the last.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Statement {
    pieces: Vec<String>,
    parameters: Vec<Parameter>,
    /// Where it begins, from 1.
    line: usize,
}

/// How long each statement may take, unless it was said otherwise.
const TIMEOUT_MS: u32 = 5_000;

/// What a statement may begin with. Anything else is refused: what ends or splits a transaction would part the grant
/// from the merchant's rows, and on some servers every change of a table does.
const FIRST_WORDS: &[&str] = &["INSERT", "UPDATE", "DELETE", "REPLACE", "MERGE", "SELECT", "WITH", "CALL"];

/// Statements that run in the transaction of each grant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GrantSql {
    statements: Vec<Statement>,
    timeout_ms: u32,
}

/// One statement with the values of one grant, in the order of its marks.
pub(crate) type Bound = (String, Vec<Option<String>>);

/// What is wrong with the statements' text, and where.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {what}")]
pub struct GrantSqlError {
    /// The line of the text, from 1.
    pub line: usize,
    /// The sentence for people.
    pub what: String,
}

impl GrantSql {
    /// Reads statements that `;` separates, with `:order`, `:unit`, `:sku`, `:quantity`, `:customer` and
    /// `:entitlement`. Quotes and comments are left alone, and so is `::`; dollar quotes are not known.
    ///
    /// # Errors
    /// [`GrantSqlError`] for another name after a colon, for an open quote, for a statement that is not one of those that
    /// read or write rows, and where there is no statement.
    pub fn parse(text: &str) -> Result<Self, GrantSqlError> {
        let mut statements = Vec::new();
        let mut statement = Statement::begin(1);
        let mut rest = text;
        while let Some(first) = rest.chars().next() {
            let line = 1 + newlines(&text[..text.len() - rest.len()]);
            let wrong = |what| GrantSqlError { line, what };
            if first == ';' {
                statements.push(std::mem::replace(&mut statement, Statement::begin(line)));
                rest = &rest[1..];
            } else if let Some((parameter, length)) = parameter(rest, &statement).map_err(wrong)? {
                statement.parameters.push(parameter);
                statement.pieces.push(String::new());
                rest = &rest[length..];
            } else {
                let length = opaque(rest).map_err(wrong)?.unwrap_or(first.len_utf8());
                if let Some(piece) = statement.pieces.last_mut() {
                    piece.push_str(&rest[..length]);
                }
                rest = &rest[length..];
            }
        }
        statements.push(statement);
        let statements: Vec<_> =
            statements.into_iter().filter_map(Statement::end).collect::<Result<_, _>>()?;
        if statements.is_empty() {
            return Err(GrantSqlError { line: 1, what: "there is no statement".to_owned() });
        }
        Ok(Self { statements, timeout_ms: TIMEOUT_MS })
    }

    /// With another limit for each statement, in milliseconds. A grant that exceeds it is rolled back and tried later.
    #[must_use]
    pub fn within(self, timeout_ms: u32) -> Self {
        Self { timeout_ms, ..self }
    }

    pub(crate) fn timeout_ms(&self) -> u32 {
        self.timeout_ms
    }

    /// Each statement's text for a database to prepare, how many values it takes, and its line. `mark` writes the nth
    /// mark, from 1.
    pub(crate) fn texts(&self, mark: fn(usize) -> String) -> Vec<(String, usize, usize)> {
        let of = |statement: &Statement| (statement.text(mark), statement.parameters.len(), statement.line);
        self.statements.iter().map(of).collect()
    }

    /// Every statement for every entitlement that these changes insert.
    pub(crate) fn bound(&self, changes: &Changes, mark: fn(usize) -> String) -> Vec<Bound> {
        let inserted = changes.entitlements.iter().filter(|change| change.before.is_none());
        let granted = inserted.filter_map(|change| Some((&change.key, change.after.as_ref()?)));
        granted.flat_map(|(key, row)| self.of_one(key, row, mark)).collect()
    }

    fn of_one(&self, key: &(OrderId, Unit), row: &Entitlement, mark: fn(usize) -> String) -> Vec<Bound> {
        let mut bound = Vec::new();
        for statement in &self.statements {
            let by_line =
                [Parameter::Sku, Parameter::Quantity].iter().any(|p| statement.parameters.contains(p));
            // Without a line's parameter, once; the line is not looked at then.
            for line in row.lines.iter().take(if by_line { row.lines.len() } else { 1 }) {
                let value = |parameter: &Parameter| parameter.value(key, row, line);
                let values = statement.parameters.iter().map(value).collect();
                bound.push((statement.text(mark), values));
            }
        }
        bound
    }
}

impl Statement {
    fn begin(line: usize) -> Self {
        Self { pieces: vec![String::new()], parameters: Vec::new(), line }
    }

    /// The statement with the line of its first word; `None` if there is nothing but space and comments.
    fn end(self) -> Option<Result<Self, GrantSqlError>> {
        let mut rest = self.pieces[0].as_str();
        loop {
            let text = rest.trim_start();
            let comment = text.starts_with("--") || text.starts_with("/*");
            match opaque(text) {
                Ok(Some(length)) if comment => rest = &text[length..],
                _ => break rest = text,
            }
        }
        if rest.is_empty() && self.parameters.is_empty() {
            return None;
        }
        let line = self.line + newlines(&self.pieces[0][..self.pieces[0].len() - rest.len()]);
        let word = rest.split(|c: char| !c.is_ascii_alphabetic()).next().unwrap_or_default();
        if FIRST_WORDS.iter().any(|known| known.eq_ignore_ascii_case(word)) {
            return Some(Ok(Self { line, ..self }));
        }
        let known = FIRST_WORDS.join(", ");
        let what =
            format!("a statement must begin with one of {known}: it runs inside the grant's transaction");
        Some(Err(GrantSqlError { line, what }))
    }

    fn text(&self, mark: fn(usize) -> String) -> String {
        let mut text = String::new();
        for (piece, n) in self.pieces.iter().zip(1..) {
            text.push_str(piece);
            if n < self.pieces.len() {
                text.push_str(&mark(n));
            }
        }
        text
    }
}

impl Parameter {
    fn value(self, (order, unit): &(OrderId, Unit), row: &Entitlement, line: &Line) -> Option<String> {
        match self {
            Self::Order => Some(order.to_string()),
            Self::Unit => Some(unit.to_string()),
            Self::Sku => Some(line.sku.to_string()),
            Self::Quantity => Some(line.quantity.to_string()),
            Self::Customer => row.customer.as_ref().map(ToString::to_string),
            Self::Entitlement => Some(format!("{order}/{unit}")),
        }
    }
}

/// `?`, as SQLite and MySQL mark a value.
#[cfg(any(feature = "sqlite", feature = "mysql"))]
pub(crate) fn question_mark(_: usize) -> String {
    "?".to_owned()
}

const FAILED: &str = "grant.sql failed, so nothing was granted";

/// What an error of the merchant's statement is: theirs, unless others or the connection are to blame. A row of theirs
/// that is there already is theirs, and not a race of ours; so is a statement that waits or works for too long, and a
/// right that the user lacks.
pub(crate) fn failed(error: StoreError, theirs: bool) -> StoreError {
    use StoreErrorKind::{Busy, Conflict, Full, Unavailable};
    match error.kind() {
        Conflict | Unavailable | Busy | Full if !theirs => error,
        _ => StoreError::new(StoreErrorKind::Merchant, FAILED).caused_by(error),
    }
}

/// What is left of an error when trying at once did not help. A deadlock that a merchant's statement met in every try
/// is theirs: it counts as a try of the grant, and so comes to an end (P10).
#[cfg(any(feature = "postgres", feature = "mysql"))]
pub(crate) fn tried_enough(error: StoreError) -> StoreError {
    let conflict = error.kind() == StoreErrorKind::Conflict && error.is_merchants();
    if conflict { failed(error, true) } else { error }
}

/// A statement that the database cannot prepare.
pub(crate) fn not_understood(
    line: usize,
    error: impl Into<Box<dyn std::error::Error + Send + Sync>>,
) -> StoreError {
    let what = format!("grant.sql, line {line}: the database does not understand the statement");
    StoreError::new(StoreErrorKind::Usage, what).caused_by(error)
}

fn newlines(text: &str) -> usize {
    text.bytes().filter(|byte| *byte == b'\n').count()
}

/// A parameter at the beginning of `rest`, and how long its name is with the colon.
fn parameter(rest: &str, so_far: &Statement) -> Result<Option<(Parameter, usize)>, String> {
    let Some(after) = rest.strip_prefix(':') else { return Ok(None) };
    let name = after.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').next().unwrap_or_default();
    let cast = after.starts_with(':') || so_far.pieces.last().is_some_and(|piece| piece.ends_with(':'));
    if cast || name.is_empty() {
        return Ok(None);
    }
    match PARAMETERS.iter().find(|(known, _)| *known == name) {
        Some((_, parameter)) => Ok(Some((*parameter, name.len() + 1))),
        None => {
            let known: Vec<_> = PARAMETERS.iter().map(|(known, _)| format!(":{known}")).collect();
            Err(format!("it names :{name}, and there is only {}", known.join(", ")))
        }
    }
}

/// The length of a quoted text or comment at the beginning of `rest`.
fn opaque(rest: &str) -> Result<Option<usize>, String> {
    let ends = [("'", "'"), ("\"", "\""), ("`", "`"), ("--", "\n"), ("/*", "*/")];
    let Some((begin, end)) = ends.iter().find(|(begin, _)| rest.starts_with(begin)) else { return Ok(None) };
    match rest[begin.len()..].find(end) {
        // A doubled quote is the end of one text and the beginning of the next: the sum is the same.
        Some(at) => Ok(Some(begin.len() + at + end.len())),
        None if *begin == "--" => Ok(Some(rest.len())),
        None => Err(format!("{begin} is opened and not closed")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn marks(n: usize) -> String {
        format!("${n}")
    }

    fn texts(sql: &str) -> Vec<String> {
        let texts = |sql: GrantSql| sql.texts(marks).into_iter().map(|(text, ..)| text).collect();
        GrantSql::parse(sql).map_or_else(|error| vec![error.to_string()], texts)
    }

    #[test]
    fn parameters_are_found_outside_quotes_comments_and_casts() {
        assert_eq!(
            texts(
                "INSERT INTO a VALUES (:order, ':unit', \":sku\", :customer::text) -- :nothing;\n; DELETE FROM b;"
            ),
            ["INSERT INTO a VALUES ($1, ':unit', \":sku\", $2::text) -- :nothing;\n", " DELETE FROM b"]
        );
        assert_eq!(texts("SELECT 'it''s :order', /* ; */ :unit"), ["SELECT 'it''s :order', /* ; */ $1"]);
    }

    #[test]
    fn what_cannot_be_used_says_why() {
        assert!(texts("SELECT :price")[0].contains("only :order, :unit"));
        assert_eq!(texts("SELECT\n'open"), ["line 2: ' is opened and not closed"]);
        assert_eq!(texts(" ; -- nothing\n"), ["line 1: there is no statement"]);
    }

    #[test]
    fn what_would_end_the_transaction_is_refused_with_its_line() {
        for word in ["COMMIT", "begin", "ROLLBACK", "CREATE TABLE a (b INT)", "SET autocommit = 1", ":order"]
        {
            let said = texts(&format!("SELECT 1;\n/* now */ -- so\n {word};"));
            assert!(
                said[0].starts_with("line 3: a statement must begin with one of INSERT"),
                "{word}: {said:?}"
            );
        }
        let lines = |sql: &str| GrantSql::parse(sql).unwrap().texts(marks).into_iter().map(|(.., line)| line);
        let sql = "-- first\n\nSELECT 1 ;\nWITH a AS (SELECT 2)\nSELECT * FROM a";
        assert_eq!(lines(sql).collect::<Vec<_>>(), [3, 4]);
    }
}
