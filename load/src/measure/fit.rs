//! The growth exponent: how bytes grow with the room.

/// Slope of the least-squares line through the logarithms of `points` (size, amount): 1 means in proportion, 2 with the
/// square. None with fewer than two different sizes or with anything that is not positive.
#[must_use]
pub fn growth_exponent(points: &[(f64, f64)]) -> Option<f64> {
    if points.iter().any(|&(x, y)| !(x > 0.0 && y > 0.0)) {
        return None;
    }
    let logs: Vec<(f64, f64)> = points.iter().map(|&(x, y)| (x.ln(), y.ln())).collect();
    let n = crate::sys::real(crate::sys::count(logs.len()));
    let mean = |f: fn(&(f64, f64)) -> f64| logs.iter().map(f).sum::<f64>() / n;
    let (mean_x, mean_y) = (mean(|p| p.0), mean(|p| p.1));
    let spread: f64 = logs.iter().map(|(x, _)| (x - mean_x).powi(2)).sum();
    if spread <= f64::EPSILON {
        return None;
    }
    let together: f64 = logs.iter().map(|(x, y)| (x - mean_x) * (y - mean_y)).sum();
    Some(together / spread)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_roster_to_every_player_shows_as_a_square() {
        let sizes = [50.0, 100.0, 250.0, 500.0];
        let linear: Vec<_> = sizes.iter().map(|&n| (n, 9_000.0 * n)).collect();
        let rosters: Vec<_> = sizes.iter().map(|&n| (n, 9_000.0 * n + 40.0 * n * n)).collect();
        assert!((growth_exponent(&linear).expect("fit") - 1.0).abs() < 1e-9);
        assert!(growth_exponent(&rosters).expect("fit") > 1.3);
    }

    #[test]
    fn nothing_to_fit_is_none() {
        assert_eq!(growth_exponent(&[]), None);
        assert_eq!(growth_exponent(&[(50.0, 1.0)]), None);
        assert_eq!(growth_exponent(&[(50.0, 1.0), (50.0, 2.0)]), None);
        assert_eq!(growth_exponent(&[(50.0, 0.0), (100.0, 2.0)]), None);
    }

    proptest! {
        #[test]
        fn a_power_law_gives_its_power(power in 0.1f64..3.0, scale in 0.1f64..1e6) {
            let points: Vec<_> = [50.0f64, 100.0, 250.0, 500.0].iter().map(|&n| (n, scale * n.powf(power))).collect();
            prop_assert!((growth_exponent(&points).expect("fit") - power).abs() < 1e-9);
        }
    }
}
