//! Names of simulated students: short, plausible, unique within a game.

/// First names of two to seven letters, accents included: names on the wire are as long as real ones.
const FIRST: [&str; 32] = [
    "Ada", "Amir", "Anouk", "Bruno", "Chloé", "Dilan", "Ebba", "Elif", "Emil", "Fatou", "Finn", "Greta",
    "Hana", "Ida", "Ines", "Jonas", "Juno", "Kofi", "Lea", "Linh", "Luca", "Mila", "Nils", "Noor", "Oskar",
    "Paula", "Quang", "Rosa", "Samira", "Søren", "Théo", "Zoë",
];

/// The name of student `student` (from 0) of a class, at most 18 characters.
#[must_use]
pub fn student_name(student: u32) -> String {
    let first = FIRST[crate::sys::index(student) % FIRST.len()];
    format!("{first} {}", student + 1)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn names_are_unique_and_short() {
        let names: BTreeSet<_> = (0..2_000).map(student_name).collect();
        assert_eq!(names.len(), 2_000);
        assert!(names.iter().all(|n| n.chars().count() <= 18));
    }
}
