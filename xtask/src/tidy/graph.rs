//! Who may depend on whom. The picture is in docs/ARCHITECTURE.md; this keeps it true.

use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, Result, ensure};
use serde_json::Value;

use super::finding::Finding;

/// What one of our crates may use of ours.
enum Ours {
    /// Only these.
    Only(&'static [&'static str]),
    /// Any crate but those in [`NOBODY_USES`].
    Any,
}

/// One row per crate; a crate without a row is a finding, so that a new one gets its place.
const DIRECTIONS: [(&str, Ours); 10] = [
    ("game-core", Ours::Only(&[])),
    ("protocol", Ours::Only(&[])),
    ("runtime", Ours::Only(&[])),
    ("game-server", Ours::Only(&["game-core", "protocol", "runtime"])),
    ("api", Ours::Only(&["protocol", "runtime"])),
    ("ingress-proxy", Ours::Only(&["protocol", "runtime"])),
    // The harness shares no code with the servers, so it cannot share their mistakes.
    ("load", Ours::Only(&[])),
    ("homeroom", Ours::Any),
    ("sim", Ours::Any),
    // Generators read what they write about.
    ("xtask", Ours::Any),
];

/// Ends of the graph.
const NOBODY_USES: [&str; 4] = ["homeroom", "sim", "load", "xtask"];

/// What the rules of a game may use of others: nothing that brings a clock, randomness, I/O or a storage format.
const CORE_MAY_USE: [&str; 3] = ["thiserror", "unicode-normalization", "unicode-segmentation"];

/// A package of the workspace with what it asks for.
pub(crate) struct Package {
    name: String,
    /// Manifest, from the repository's root.
    manifest: String,
    dependencies: Vec<Dependency>,
}

struct Dependency {
    name: String,
    ours: bool,
    dev: bool,
}

impl Package {
    /// Asks cargo, without resolving or touching the network.
    pub(crate) fn read_all(root: &Path) -> Result<Vec<Self>> {
        let output = Command::new(env!("CARGO"))
            .args([
                "metadata",
                "--no-deps",
                "--format-version",
                "1",
                "--locked",
                "--offline",
            ])
            .current_dir(root)
            .output()
            .context("run cargo metadata")?;
        ensure!(
            output.status.success(),
            "cargo metadata: {}",
            String::from_utf8_lossy(&output.stderr).trim()
        );
        let metadata: Value = serde_json::from_slice(&output.stdout).context("read cargo metadata")?;
        let packages = metadata["packages"]
            .as_array()
            .context("cargo metadata lists packages")?;
        packages
            .iter()
            .map(|package| Self::from_metadata(root, package))
            .collect()
    }

    fn from_metadata(root: &Path, package: &Value) -> Result<Self> {
        let text = |value: &Value| {
            value
                .as_str()
                .map(str::to_owned)
                .context("a text in cargo metadata")
        };
        let manifest = text(&package["manifest_path"])?;
        let manifest = Path::new(&manifest)
            .strip_prefix(root)
            .unwrap_or(Path::new(&manifest))
            .display()
            .to_string();
        let dependencies = package["dependencies"]
            .as_array()
            .context("a package has dependencies")?;
        let dependencies = dependencies.iter().map(|dependency| {
            Ok(Dependency {
                name: text(&dependency["name"])?,
                ours: dependency["path"].is_string(),
                dev: dependency["kind"] == "dev",
            })
        });
        Ok(Self {
            name: text(&package["name"])?,
            manifest,
            dependencies: dependencies.collect::<Result<_>>()?,
        })
    }
}

/// Reports crates without a place and dependencies against the direction; dev-dependencies count like others.
pub(crate) fn check(packages: &[Package]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for package in packages {
        let Some((_, allowed)) = DIRECTIONS.iter().find(|(name, _)| *name == package.name) else {
            let message = format!(
                "crate {} has no place in the dependency graph; give it one in docs/ARCHITECTURE.md and in \
                 xtask/src/tidy/graph.rs",
                package.name
            );
            findings.push(Finding::new(&package.manifest, 1, message));
            continue;
        };
        for dependency in &package.dependencies {
            if let Some(why) = refusal(package, allowed, dependency) {
                let message = format!("{} depends on {}: {why}", package.name, dependency.name);
                findings.push(Finding::new(&package.manifest, 1, message));
            }
        }
    }
    findings
}

fn refusal(package: &Package, allowed: &Ours, dependency: &Dependency) -> Option<String> {
    let name = dependency.name.as_str();
    if !dependency.ours {
        let impure = package.name == "game-core" && !dependency.dev && !CORE_MAY_USE.contains(&name);
        return impure.then(|| {
            "the rules stay pure (no clock, randomness, I/O, serde); do it in game-server".to_owned()
        });
    }
    if NOBODY_USES.contains(&name) {
        return Some(
            "it is an end of the graph that nothing uses; move the shared part into a crate below".to_owned(),
        );
    }
    match allowed {
        Ours::Any => None,
        Ours::Only(names) if names.contains(&name) => None,
        Ours::Only([]) => {
            Some("it may use none of our crates; pass the value in, or move the code".to_owned())
        }
        Ours::Only(names) => Some(format!(
            "of ours it may use only {}; pass the value in, or move the code",
            names.join(", ")
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn package(name: &str, dependencies: &[(&str, bool, bool)]) -> Package {
        let dependencies = dependencies
            .iter()
            .map(|(name, ours, dev)| Dependency {
                name: (*name).to_owned(),
                ours: *ours,
                dev: *dev,
            })
            .collect();
        Package {
            name: name.to_owned(),
            manifest: format!("{name}/Cargo.toml"),
            dependencies,
        }
    }

    fn findings(name: &str, dependencies: &[(&str, bool, bool)]) -> usize {
        check(&[package(name, dependencies)]).len()
    }

    #[test]
    fn the_drawn_directions_pass() {
        assert_eq!(
            findings(
                "game-server",
                &[
                    ("game-core", true, false),
                    ("protocol", true, false),
                    ("tokio", false, false)
                ]
            ),
            0
        );
        assert_eq!(
            findings("api", &[("protocol", true, false), ("runtime", true, false)]),
            0
        );
        assert_eq!(
            findings("homeroom", &[("api", true, false), ("game-server", true, false)]),
            0
        );
        assert_eq!(
            findings(
                "game-core",
                &[("thiserror", false, false), ("proptest", false, true)]
            ),
            0
        );
    }

    #[test]
    fn other_directions_fire() {
        assert_eq!(findings("protocol", &[("game-core", true, false)]), 1);
        assert_eq!(findings("api", &[("game-core", true, false)]), 1);
        assert_eq!(
            findings("api", &[("game-server", true, true)]),
            1,
            "dev-dependencies too"
        );
        assert_eq!(findings("load", &[("protocol", true, false)]), 1);
        assert_eq!(findings("sim", &[("homeroom", true, false)]), 1);
    }

    #[test]
    fn the_core_stays_pure() {
        assert_eq!(findings("game-core", &[("tokio", false, false)]), 1);
        assert_eq!(findings("game-core", &[("serde", false, false)]), 1);
    }

    #[test]
    fn a_new_crate_needs_a_place() {
        assert_eq!(findings("billing", &[]), 1);
    }

    #[test]
    fn cargo_lists_this_crate() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
        let packages = Package::read_all(root).unwrap();
        let xtask = packages.iter().find(|package| package.name == "xtask").unwrap();
        assert_eq!(xtask.manifest, "xtask/Cargo.toml");
        assert!(
            xtask
                .dependencies
                .iter()
                .any(|dependency| dependency.name == "syn" && !dependency.ours)
        );
    }
}
