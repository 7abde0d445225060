//! Chooses the folder that the front end is embedded from: `web/dist`, or a stand-in when it was not built, so
//! that building and testing this crate needs no Node.js.

use std::path::{Path, PathBuf};
use std::{env, fs, io};

const PLACEHOLDER: &str = "<!doctype html>
<html lang=\"en\">
<meta charset=\"utf-8\">
<meta name=\"viewport\" content=\"width=device-width\">
<title>Homeroom: front end not built</title>
<h1>The front end was not built</h1>
<p>This server was compiled without <code>web/dist</code>. Run <code>./run</code> in the repository, or
<code>npm ci &amp;&amp; npm run build</code> in <code>web/</code>, then compile again.</p>
</html>
";
/// The pages that the front end consists of; a folder without one of them is not a built one.
const PAGES: [&str; 5] = [
    "student.html",
    "host.html",
    "screen.html",
    "teacher.html",
    "report.html",
];

fn main() -> io::Result<()> {
    let here = PathBuf::from(variable("CARGO_MANIFEST_DIR"));
    let dist = here.join("../web/dist");
    // Cargo takes a watched path that is missing for a change in every build. A tree that cannot be written only loses this.
    let _made = fs::create_dir_all(&dist);
    println!("cargo:rerun-if-changed={}", dist.display());
    println!("cargo:rerun-if-changed=migrations");
    println!("cargo:rerun-if-changed=build.rs");
    let built = PAGES.iter().all(|page| dist.join(page).is_file());
    let folder = if built {
        dist.canonicalize()?
    } else {
        placeholder()?
    };
    let dist = format!("#[derive(rust_embed::RustEmbed)]\n#[folder = {folder:?}]\nstruct Dist;\n");
    fs::write(Path::new(&variable("OUT_DIR")).join("dist.rs"), dist)
}

fn placeholder() -> io::Result<PathBuf> {
    let folder = Path::new(&variable("OUT_DIR")).join("web");
    fs::create_dir_all(&folder)?;
    for page in PAGES {
        fs::write(folder.join(page), PLACEHOLDER)?;
    }
    Ok(folder)
}

#[expect(
    clippy::disallowed_methods,
    reason = "cargo tells a build script what it needs by the environment"
)]
fn variable(name: &str) -> String {
    env::var(name).unwrap_or_default()
}
