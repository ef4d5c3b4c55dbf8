//! The time after the last act: the demo goes on, and a person plays the console.

use std::path::Path;

use tokio::signal::unix::{SignalKind, signal};

use super::acts;
use super::example::{SEARCH, SEARCH_FILE};
use super::show::title;
use super::stage::{Stage, production};
use crate::cli::error::Error;
use crate::cli::output::Output;

/// Serves the cloud and the agent on loopback until the person has seen enough.
pub(super) async fn keep(stage: &Stage, output: &mut Output) -> Result<(), Error> {
    let mut terminate = signal(SignalKind::terminate()).map_err(Error::Start)?;
    acts::mend(stage)?;
    let (cloud, agent) = stage.serve().await?;
    title(output, "It goes on; now it is your turn")?;
    output.print(&words(
        &cloud.to_string(),
        &agent.to_string(),
        &stage.repository(),
        stage.state_directory(),
    ))?;
    tokio::select! {
        interrupted = tokio::signal::ctrl_c() => interrupted.map_err(Error::Start),
        _ = terminate.recv() => Ok(()),
    }
}

/// Says what can be done by hand; every command can be pasted as it stands.
fn words(cloud: &str, agent: &str, repository: &Path, state: &Path) -> String {
    let (repository, state) = (repository.display(), state.display());
    let account = production().account;
    format!(
        "
Change the database in the cloud (AWS's wire format, at http://{cloud}):

  AWS_ACCESS_KEY_ID={account} AWS_SECRET_ACCESS_KEY=any aws rds modify-db-instance \\
    --endpoint-url http://{cloud} --region eu-west-1 \\
    --db-instance-identifier {SEARCH} --no-deletion-protection

or in Git:

  cd {repository}
  sed -i 's/retentionDays: 21/retentionDays: 28/' {SEARCH_FILE}
  git commit -am 'four weeks of backups'

and see within ten seconds what the agent makes of it:

  levelset history {SEARCH} --state-dir {state}
  levelset status --state-dir {state}
  curl http://{agent}/api/v1/workspaces/{SEARCH}
  curl http://{agent}/metrics

Ctrl-C ends it and removes everything.
"
    )
}
