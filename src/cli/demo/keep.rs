//! The time after the last act: the demo goes on, and a person plays the console.

use crate::cli::error::Error;
use crate::cli::output::Output;

use super::acts;
use super::stage::Stage;

/// Serves the cloud and the agent on loopback until the person has seen enough.
pub(super) async fn keep(stage: &Stage, output: &mut Output) -> Result<(), Error> {
    acts::mend(stage)?;
    let (cloud, agent) = stage.serve().await?;
    let folder = stage.repository();
    let folder = folder.display();
    output.print(&format!(
        "
== It goes on

The cloud is at http://{cloud}, the agent at http://{agent}. Change something in the cloud:

  AWS_ACCESS_KEY_ID=111122223333 AWS_SECRET_ACCESS_KEY=any \\
    aws --endpoint-url http://{cloud} --region eu-west-1 rds modify-db-instance \\
    --db-instance-identifier team-payments-staging --backup-retention-period 1

or in Git, in {folder}, and look:

  curl http://{agent}/api/v1/workspaces/team-payments-staging
  curl http://{agent}/metrics

Ctrl-C ends it and removes everything.
"
    ))?;
    tokio::signal::ctrl_c().await.map_err(Error::Start)
}
