//! The life of a resource of the Cloud Control API on ministack.
//!
//! Its store is connected to nothing, carries requests out at once, knows no schemas and ignores
//! client tokens: what is held here is the wire (signature, documents, error codes) and what is done
//! without a schema. Requests that take a while, schemas and tokens are held on the sandbox. Moto has
//! no Cloud Control API.

use std::collections::BTreeMap;

use levelset::diff::diff;
use levelset::kinds::custom;
use levelset::kinds::custom::spec::{CustomResource, Placement as CustomPlacement, resources};
use levelset::model::ErrorClass::{AlreadyExists, NotFound};
use levelset::model::handle::Handle;
use levelset::model::singly::Singly;
use levelset::model::{Observation, Observed, Readiness};
use levelset::observe::Observer;
use levelset::observe::singly::Wanted;

use super::*;
use crate::support::emulators::ministack;

fn declared(scope: &Scope, value: &str) -> Bound {
    let custom: BTreeMap<String, CustomResource> = serde_json::from_value(json!({"limit": {
        "type": "AWS::SSM::Parameter",
        "properties": {"Name": "/wire/limit", "Type": "String", "Value": value, "Tier": null},
    }}))
    .unwrap();
    let placement =
        CustomPlacement { scope, workspace: "wire", owner: "test/Workspace/wire", adopt: false };
    let resource = resources(&custom, &placement).remove(0);
    let known = |(field, input)| match input {
        Input::Known(value) => (field, value),
        other => panic!("{other:?} is not known"),
    };
    Bound {
        id: resource.id,
        fields: resource.fields.into_iter().map(known).collect(),
        initial: resource.initial,
        owner: resource.owner,
        adopt: false,
    }
}

struct Agent {
    cloud: Arc<Aws>,
    observer: Observer,
    handle: Handle,
}

impl Agent {
    async fn look(&self, desired: &Bound) -> Observation {
        let (id, owner) = (&desired.id, desired.owner.as_str());
        let wanted = Wanted { id, declared: Some(desired), handle: &self.handle, owner };
        self.observer.observe_singly(&custom::KIND, &wanted).await
    }

    async fn present(&self, desired: &Bound) -> Arc<Observed> {
        match self.look(desired).await {
            Observation::Present(observed) => observed,
            other => panic!("{other:?}"),
        }
    }

    async fn send(&self, desired: &Bound, call: &Call) -> Result<Value, CallError> {
        let target =
            Target { scope: desired.id.scope.clone(), kind: custom::NAME, cause: Cause::Change };
        self.cloud.call(&target, call).await
    }

    /// Returns the patches that mend what differs, after sending them.
    async fn mend(&self, desired: &Bound) -> Vec<String> {
        let actual = self.present(desired).await;
        let found = diff(custom::KIND.rules(), desired, &actual, &Readiness::Ready, &[]);
        assert_eq!((found.waits.len(), found.refusals.len()), (0, 0), "{found:?}");
        let calls = match found.deltas.is_empty() {
            true => Vec::new(),
            false => custom::KIND.update(desired, &actual, &found.deltas),
        };
        for call in &calls {
            self.send(desired, call).await.unwrap();
        }
        calls.iter().map(|call| call.text("PatchDocument").unwrap().to_owned()).collect()
    }
}

#[tokio::test]
async fn a_custom_resource_lives_on_ministack() {
    let account = account_at(&ministack().url, "111122223355", "eu-west-1", "111122223355");
    let cloud = Arc::new(aws(account.clone(), Timeouts::default()));
    let freshness = jiff::SignedDuration::ZERO;
    let observer = Observer::new(cloud.clone(), Arc::new(WallClock), freshness);
    let mut agent = Agent { cloud, observer, handle: Handle::default() };
    let desired = declared(&account.scope, "10");
    assert_eq!(agent.look(&desired).await, Observation::Absent);

    let create = custom::KIND.create(&desired).remove(0).with("ClientToken", "wire-1");
    let answer = agent.send(&desired, &create).await.unwrap();
    let receipt = custom::KIND.receipt(&answer).unwrap();
    let event = agent.send(&desired, &custom::KIND.read_request(&receipt.request)).await.unwrap();
    assert_eq!(event["ProgressEvent"]["OperationStatus"], "SUCCESS");
    assert!(event["ProgressEvent"]["EventTime"].as_str().unwrap().ends_with("+00:00"), "{event}");
    agent.handle.identifier = receipt.identifier;
    assert_eq!(agent.handle.identifier.as_deref(), Some("/wire/limit"));
    let actual = agent.present(&desired).await;
    let notices = custom::KIND.notices(&desired, &actual);
    assert_eq!(notices[0].code, "SchemaUnknown", "ministack has no registry of types");
    assert_eq!(agent.mend(&desired).await, [""; 0], "what was made is what is declared");

    let second = agent.send(&desired, &create).await.unwrap_err();
    assert_eq!((second.class, &*second.code), (AlreadyExists, "AlreadyExistsException"));
    let desired = declared(&account.scope, "20");
    let expected = r#"[{"op":"replace","path":"/Value","value":"20"}]"#;
    assert_eq!(agent.mend(&desired).await, [expected]);
    assert_eq!(agent.mend(&desired).await, [""; 0]);
    let drifted = declared(&account.scope, "30");
    agent.mend(&drifted).await;
    assert_eq!(agent.mend(&desired).await, [expected], "what somebody changed is put back");

    let actual = agent.present(&desired).await;
    let delete = custom::KIND.delete(&desired.id, &actual, None).calls.remove(0);
    agent.send(&desired, &delete).await.unwrap();
    assert_eq!(agent.look(&desired).await, Observation::Absent);
    let gone = agent.send(&desired, &delete).await.unwrap_err();
    assert_eq!((gone.class, &*gone.code), (NotFound, "ResourceNotFoundException"));
}
