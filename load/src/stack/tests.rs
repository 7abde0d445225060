//! Starts that fail, and topologies that do not exist.

use super::*;

#[test]
fn a_missing_binary_says_how_to_build_it() {
    let binary = PathBuf::from("/nonexistent/homeroom");
    let error = Stack::start(&Topology::One { binary }, Pauses::CLUSTER).expect_err("no such file");
    assert!(error.to_string().contains("cargo build --release -p homeroom"));
    let separate =
        Topology::separate(PathBuf::from("/nonexistent"), 2, 1, Store::Memory).expect("a topology");
    let error = Stack::start(&separate, Pauses::CLUSTER).expect_err("no such file");
    assert!(
        error.to_string().contains("cargo build --release -p api"),
        "{error}"
    );
}

#[test]
fn a_redis_that_is_not_there_or_is_none_is_told_before_anything_starts() {
    // Where the binaries of the servers should be, there are files, which is as far as anybody looks.
    let directory = tempfile::tempdir().expect("directory");
    for name in [commands::API, commands::GAME] {
        fs::write(directory.path().join(name), "").expect("written");
    }
    let start = |binary: &str| {
        let store = Store::Redis {
            binary: binary.into(),
        };
        let topology = Topology::separate(directory.path().to_owned(), 1, 1, store).expect("a topology");
        Stack::start(&topology, Pauses::CLUSTER)
            .expect_err("no Redis")
            .to_string()
    };
    let said = start("/nonexistent/redis-server");
    assert!(said.contains("apt-get install redis-server"), "{said}");
    let said = start("/bin/echo");
    assert!(said.contains("no Redis of version 7"), "{said}");
}

#[test]
fn a_server_that_ends_at_once_is_told_with_its_last_words() {
    let binary = PathBuf::from("/bin/false");
    let error = Stack::start(&Topology::One { binary }, Pauses::CLUSTER).expect_err("no server");
    assert!(matches!(error, StackError::NotUp { .. }), "{error}");
}

#[test]
fn numbers_of_processes_have_bounds() {
    for (games, apis) in [(0, 1), (17, 1), (2, 0), (2, 9)] {
        assert!(
            Topology::separate(PathBuf::new(), games, apis, Store::Memory).is_err(),
            "{games} {apis}"
        );
    }
}
