//! Starts that fail, and topologies that do not exist.

use super::*;

#[test]
fn a_missing_binary_says_how_to_build_it() {
    let binary = PathBuf::from("/nonexistent/homeroom");
    let error = Stack::start(&Topology::One { binary }).expect_err("no such file");
    assert!(error.to_string().contains("cargo build --release -p homeroom"));
    let separate = Topology::separate(PathBuf::from("/nonexistent"), 2, 1).expect("a topology");
    let error = Stack::start(&separate).expect_err("no such file");
    assert!(
        error.to_string().contains("cargo build --release -p api"),
        "{error}"
    );
}

#[test]
fn a_server_that_ends_at_once_is_told_with_its_last_words() {
    let binary = PathBuf::from("/bin/false");
    let error = Stack::start(&Topology::One { binary }).expect_err("no server");
    assert!(matches!(error, StackError::NotUp { .. }), "{error}");
}

#[test]
fn numbers_of_processes_have_bounds() {
    for (games, apis) in [(0, 1), (17, 1), (2, 0), (2, 9)] {
        assert!(
            Topology::separate(PathBuf::new(), games, apis).is_err(),
            "{games} {apis}"
        );
    }
}
