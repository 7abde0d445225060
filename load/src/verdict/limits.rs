//! The limits of the verdict, each as (DEGRADED above, INVALID above) where there are two.

/// The generator's lateness, p99, in milliseconds. A lesson's bar is 13 ms at the phone: a generator later than twice that
/// measures itself; a tenth of the 500 ms that players feel would hide nothing, but the bars are finer.
pub(super) const LATE_P99_MS: (f64, f64) = (5.0, 25.0);

/// How late a sleeping thread is woken, p99, in milliseconds. Quiet machines stay below 0.2; a scheduler's turn beside one
/// spinning thread is 3 to 4.
pub(super) const WAKE_P99_MS: (f64, f64) = (5.0, 25.0);

/// Share of the time the generator's busiest thread wanted a core and had none, in percent. Beside servers on the same two
/// cores it is up to 60; a spinning thread on the generator's core makes it 85 and more.
pub(super) const WAITING_PERCENT: (f64, f64) = (50.0, 70.0);

/// Below this mean wait per turn, in milliseconds, that share says nothing: turns of a few microseconds wait as long as
/// they run on any machine that does something else as well. A spinning thread on the same core makes it 0.5 to 2.
pub(super) const WAIT_PER_TURN_MS_MIN: f64 = 0.2;

/// Time that the hypervisor took from the machine, in percent.
pub(super) const STOLEN_PERCENT: (f64, f64) = (1.0, 5.0);

/// Share of reads that must carry the kernel's stamp. The first reads of a machine may not: stamping begins a moment
/// after it was asked for.
pub(super) const STAMPED_SHARE_MIN: f64 = 0.99;
