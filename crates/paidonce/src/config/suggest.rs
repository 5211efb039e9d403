//! "Did you mean": the nearest known word, if it is near enough to be a slip of the fingers.

/// The known word that `word` was probably meant to be.
pub(crate) fn suggest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let near = known.into_iter().map(|known| (distance(word, known), known)).min()?;
    (near.0 <= (word.chars().count() / 3).max(1)).then_some(near.1)
}

/// How many characters must be inserted, deleted or replaced to make one word of the other (Levenshtein).
fn distance(one: &str, other: &str) -> usize {
    let other: Vec<char> = other.chars().collect();
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (i, a) in one.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, b) in other.iter().enumerate() {
            let replaced = diagonal + usize::from(a != *b);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[other.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slips_are_found_and_other_words_are_not() {
        let known = ["public", "private", "body_max"];
        assert_eq!(suggest("pubic", known), Some("public"));
        assert_eq!(suggest("body-max", known), Some("body_max"));
        assert_eq!(suggest("zeta", known), None);
    }
}
