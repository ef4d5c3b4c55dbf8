//! Progress of work that takes long, drawn on standard error while somebody watches.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// Shows how much of some work is done; shows nothing when nobody watches.
pub(super) struct Progress(ProgressBar);

impl Progress {
    /// Begins work of `total` parts.
    pub(super) fn begin(what: &'static str, total: usize, is_watched: bool) -> Self {
        let target = match is_watched {
            true => ProgressDrawTarget::stderr(),
            false => ProgressDrawTarget::hidden(),
        };
        let bar = ProgressBar::with_draw_target(Some(total as u64), target);
        // The template is a constant: were it wrong, the bar would only look plain.
        if let Ok(style) = ProgressStyle::with_template("{msg} {wide_bar} {pos}/{len}") {
            bar.set_style(style);
        }
        bar.set_message(what);
        Self(bar)
    }

    /// Says that one more part is done.
    pub(super) fn advance(&self) {
        self.0.inc(1);
    }

    /// Takes the bar off the screen.
    pub(super) fn finish(&self) {
        self.0.finish_and_clear();
    }
}
