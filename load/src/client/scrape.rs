//! What servers count of themselves, as their metrics tell it.

use super::http::{Http, HttpError, Target};

/// The value of a metric at the admin listener `admin`: a whole number, by its name and labels as they are written there.
///
/// # Errors
/// The metrics cannot be read, or it is not among them.
pub fn metric(admin: &Target, name: &str) -> Result<u64, HttpError> {
    let response = Http::new(admin.clone()).get("/metrics", None)?;
    let call = || "GET /metrics".to_owned();
    if response.status != 200 {
        return Err(response.refusal(call()));
    }
    let text = String::from_utf8_lossy(&response.body);
    find(&text, name).ok_or_else(|| HttpError::Broken { call: call() })
}

fn find(text: &str, name: &str) -> Option<u64> {
    let value = text
        .lines()
        .find_map(|line| line.strip_prefix(name)?.strip_prefix(' '))?;
    value
        .split_whitespace()
        .next()?
        .trim_end_matches(".0")
        .parse()
        .ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_metric_is_read_by_its_whole_name() {
        let name = "homeroom_game_games";
        let text = "# TYPE homeroom_game_games gauge\nhomeroom_game_games_total 9\nhomeroom_game_games 41\n";
        assert_eq!(find(text, name), Some(41));
        assert_eq!(find("homeroom_game_games 3.0 1700000000\n", name), Some(3));
        assert_eq!(find("", name), None);
        let labelled = "a_total{how=\"x\"} 5\na_total{how=\"y\"} 7\n";
        assert_eq!(find(labelled, "a_total{how=\"y\"}"), Some(7));
    }
}
