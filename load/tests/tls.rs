//! Classes over TLS.

#[expect(dead_code, reason = "other tests of short runs ask for numbers")]
#[path = "support/short_run.rs"]
mod short_run;

use short_run::Run;

#[test]
fn classes_play_over_tls_through_two_proxies() {
    let servers = ["api", "game-server", "ingress-proxy"];
    let through = ["--games", "2", "--apis", "1", "--proxies", "2", "--tls"];
    Run::of(&servers, &[&["ramp", "--classes", "6"][..], &through].concat()).expect_right();
}
