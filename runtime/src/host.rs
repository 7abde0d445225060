//! What the machine, or the pod, is called.

/// This machine's name, if it has one that can stand in a URL. A pod's is the pod's name.
#[must_use]
pub fn name() -> Option<String> {
    let name = std::fs::read_to_string("/proc/sys/kernel/hostname").ok()?;
    let name = name.trim();
    let fits = !name.is_empty()
        && name
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'.');
    fits.then(|| name.to_owned())
}
