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
}

/// Statements that run in the transaction of each grant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GrantSql {
    statements: Vec<Statement>,
}

/// One statement with the values of one grant, in the order of its marks.
pub(crate) type Bound = (String, Vec<Option<String>>);

impl GrantSql {
    /// Reads statements that `;` separates, with `:order`, `:unit`, `:sku`, `:quantity`, `:customer` and
    /// `:entitlement`. Quotes and comments are left alone, and so is `::`; dollar quotes are not known.
    ///
    /// # Errors
    /// [`StoreErrorKind::Usage`] for another name after a colon, for an open quote, and where there is no statement.
    pub fn parse(text: &str) -> Result<Self> {
        let mut statements = Vec::new();
        let mut statement = Statement { pieces: vec![String::new()], parameters: Vec::new() };
        let mut rest = text;
        while let Some(first) = rest.chars().next() {
            if first == ';' {
                statements.push(std::mem::replace(
                    &mut statement,
                    Statement { pieces: vec![String::new()], parameters: Vec::new() },
                ));
                rest = &rest[1..];
            } else if let Some((parameter, length)) = parameter(rest, &statement)? {
                statement.parameters.push(parameter);
                statement.pieces.push(String::new());
                rest = &rest[length..];
            } else {
                let length = opaque(rest)?.unwrap_or(first.len_utf8());
                if let Some(piece) = statement.pieces.last_mut() {
                    piece.push_str(&rest[..length]);
                }
                rest = &rest[length..];
            }
        }
        statements.push(statement);
        statements.retain(|one| !one.parameters.is_empty() || !one.pieces.concat().trim().is_empty());
        if statements.is_empty() {
            return Err(unfit("it holds no statement"));
        }
        Ok(Self { statements })
    }

    /// The text of each statement, for a server to prepare. `mark` writes the nth mark, from 1.
    pub(crate) fn texts(&self, mark: fn(usize) -> String) -> Vec<String> {
        self.statements.iter().map(|statement| statement.text(mark)).collect()
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

/// What an error of the merchant's statement is: theirs, unless others or the connection are to blame. A row of theirs
/// that is there already is theirs, and not a race of ours.
pub(crate) fn failed(error: StoreError, theirs: bool) -> StoreError {
    match error.kind() {
        StoreErrorKind::Conflict | StoreErrorKind::Unavailable | StoreErrorKind::Busy if !theirs => error,
        _ => StoreError::new(StoreErrorKind::Merchant, "grant.sql failed, so nothing was granted")
            .caused_by(error),
    }
}

fn unfit(why: &str) -> StoreError {
    StoreError::new(StoreErrorKind::Usage, format!("grant.sql cannot be used: {why}"))
}

/// A parameter at the beginning of `rest`, and how long its name is with the colon.
fn parameter(rest: &str, so_far: &Statement) -> Result<Option<(Parameter, usize)>> {
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
            Err(unfit(&format!("it names :{name}, and there is only {}", known.join(", "))))
        }
    }
}

/// The length of a quoted text or comment at the beginning of `rest`.
fn opaque(rest: &str) -> Result<Option<usize>> {
    let ends = [("'", "'"), ("\"", "\""), ("`", "`"), ("--", "\n"), ("/*", "*/")];
    let Some((begin, end)) = ends.iter().find(|(begin, _)| rest.starts_with(begin)) else { return Ok(None) };
    match rest[begin.len()..].find(end) {
        // A doubled quote is the end of one text and the beginning of the next: the sum is the same.
        Some(at) => Ok(Some(begin.len() + at + end.len())),
        None if *begin == "--" => Ok(Some(rest.len())),
        None => Err(unfit(&format!("{begin} is opened and not closed"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn marks(n: usize) -> String {
        format!("${n}")
    }

    fn texts(sql: &str) -> Vec<String> {
        GrantSql::parse(sql).map(|sql| sql.texts(marks)).unwrap_or_else(|error| vec![error.to_string()])
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
        assert!(texts("SELECT 'open")[0].contains("not closed"));
        assert!(texts(" ; ")[0].contains("no statement"));
    }
}
