//! The pass with what AWS shows of one resource at a time: it is read in some looks only, and nothing
//! rests on it that was not read in the same pass.

use super::*;

/// A database with a parameter, and the tags that its group has too.
fn manifest(work_mem: u32) -> String {
    let more = format!(
        "sizeClass: db.r6g.large\n      parameters: {{work_mem: \"{work_mem}\"}}\n      \
         tags: {{team: payments}}"
    );
    MANIFEST.replace("sizeClass: db.r6g.large", &more)
}

impl Scene {
    fn reads_of_one(&self) -> usize {
        let operations = ["DescribeDBParameters", "ListTagsForResource"];
        let calls = self.sandbox.calls_since(0);
        let by_agent = calls.iter().filter(|call| &*call.by == "agent");
        by_agent.filter(|call| operations.contains(&call.operation.as_str())).count()
    }

    /// Makes this many resyncs, each when it is due.
    async fn resyncs(&self, count: usize) {
        for _ in 0..count {
            let (_, at) = self.pass().await.next.due.unwrap();
            self.wait(at.duration_since(self.clock.now()));
        }
    }

    /// Sets the parameter behind the agent's back.
    fn set_work_mem(&self, value: &str) {
        let parameter = json!([{"ParameterName": "work_mem", "ParameterValue": value,
            "ApplyMethod": "immediate"}]);
        let modify = Call::new("rds", "ModifyDBParameterGroup")
            .with("DBParameterGroupName", "levelset-team-payments-prod-postgres15")
            .with("Parameters", parameter);
        self.sandbox.door("console").ask(&scope(), &modify).unwrap();
    }

    fn work_mem(&self) -> Value {
        let ask = Call::new("rds", "DescribeDBParameters")
            .with("DBParameterGroupName", "levelset-team-payments-prod-postgres15")
            .with("Filters", json!([{"Name": "parameter-name", "Values": ["work_mem"]}]));
        let answer = self.sandbox.door("console").ask(&scope(), &ask).unwrap();
        answer["Parameters"][0]["ParameterValue"].clone()
    }
}

async fn at_rest() -> Scene {
    let scene = Scene::new(&manifest(65536)).await;
    scene.converge().await;
    scene.wait(SignedDuration::from_hours(1));
    scene.resyncs(3).await;
    scene
}

#[tokio::test]
async fn one_reading_serves_three_looks() {
    let scene = at_rest().await;
    let before = scene.reads_of_one();
    scene.resyncs(30).await;
    assert_eq!(scene.reads_of_one() - before, 20, "the parameters and the tags, ten times each");
}

#[tokio::test]
async fn drift_in_what_is_read_rarely_is_found_by_the_third_look_and_reverted_once() {
    let scene = at_rest().await;
    let writes = scene.writes().len();
    scene.set_work_mem("8192");
    scene.resyncs(4).await;
    assert_eq!(scene.work_mem(), "65536");
    scene.resyncs(6).await;
    assert_eq!(scene.writes()[writes..], ["ModifyDBParameterGroup"]);
}

#[tokio::test]
async fn a_change_in_git_does_not_wait_for_the_next_reading() {
    let mut scene = at_rest().await;
    for value in [131_072, 65_536, 131_072] {
        scene.commit(Some(&manifest(value)));
        let _ = scene.pass().await;
        assert_eq!(scene.work_mem(), value.to_string());
        scene.converge().await;
    }
}

#[tokio::test]
async fn what_was_put_right_by_somebody_else_is_not_written_because_of_an_old_reading() {
    let mut scene = at_rest().await;
    let writes = scene.writes().len();
    scene.set_work_mem("131072");
    scene.commit(Some(&manifest(131_072)));
    scene.converge().await;
    assert_eq!(scene.writes().len(), writes);
}
