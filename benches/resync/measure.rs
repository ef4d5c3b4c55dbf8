//! What is measured: allocations, memory and CPU time of this process.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// The clock ticks of `/proc/self/stat`: `sysconf(_SC_CLK_TCK)` is 100 on every Linux of today.
const TICKS_PER_SECOND: f64 = 100.0;

static ALLOCATIONS: AtomicU64 = AtomicU64::new(0);
static ALLOCATED: AtomicU64 = AtomicU64::new(0);
static FREED: AtomicU64 = AtomicU64::new(0);

/// The system's allocator, with counters.
pub(crate) struct Counting;

#[expect(unsafe_code, reason = "an allocator is unsafe by its signature; it only counts")]
// SAFETY: every call goes to the system's allocator as it came.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Relaxed);
        ALLOCATED.fetch_add(layout.size() as u64, Relaxed);
        // SAFETY: the caller keeps the contract of `alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        FREED.fetch_add(layout.size() as u64, Relaxed);
        // SAFETY: the pointer came from `alloc` with this layout.
        unsafe { System.dealloc(pointer, layout) }
    }
}

/// Holds the counters at one moment.
#[derive(Clone, Copy)]
pub(crate) struct Moment {
    allocations: u64,
    allocated: u64,
    live: i64,
    cpu: f64,
    wall: tokio::time::Instant,
}

/// Holds what a stretch of work cost.
#[derive(Clone, Copy)]
pub(crate) struct Cost {
    /// How often memory was allocated.
    pub(crate) allocations: f64,
    /// How many bytes were allocated.
    pub(crate) allocated: f64,
    /// How many more bytes are in use after it than before it.
    pub(crate) kept: f64,
    /// CPU seconds of all threads.
    pub(crate) cpu: f64,
    /// Seconds.
    pub(crate) wall: f64,
}

impl Moment {
    pub(crate) fn now() -> Self {
        let (allocated, freed) = (ALLOCATED.load(Relaxed), FREED.load(Relaxed));
        Self {
            allocations: ALLOCATIONS.load(Relaxed),
            allocated,
            live: allocated as i64 - freed as i64,
            cpu: cpu_seconds(),
            wall: tokio::time::Instant::now(),
        }
    }

    /// Returns what has been spent since, for each of `count`.
    pub(crate) fn each(self, count: usize) -> Cost {
        let (now, count) = (Self::now(), count as f64);
        Cost {
            allocations: (now.allocations - self.allocations) as f64 / count,
            allocated: (now.allocated - self.allocated) as f64 / count,
            kept: (now.live - self.live) as f64 / count,
            cpu: (now.cpu - self.cpu) / count,
            wall: (now.wall - self.wall).as_secs_f64() / count,
        }
    }
}

/// Returns the CPU time of all threads so far, user and system.
fn cpu_seconds() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // The fields after the name in parentheses; utime and stime are the 12th and 13th of them.
    let fields = stat.rsplit(')').next().unwrap_or_default().split_whitespace();
    let ticks: f64 = fields.skip(11).take(2).filter_map(|field| field.parse::<f64>().ok()).sum();
    ticks / TICKS_PER_SECOND
}

/// Returns the resident memory in MiB.
pub(crate) fn resident() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kib = line.and_then(|line| line.trim().split(' ').next()?.parse::<f64>().ok());
    kib.unwrap_or_default() / 1024.0
}

/// Returns the value below which a share of the sorted values lies.
pub(crate) fn percentile(sorted: &[f64], share: f64) -> f64 {
    let at = (sorted.len() as f64 * share) as usize;
    sorted[at.min(sorted.len() - 1)]
}
