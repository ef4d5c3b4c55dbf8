//! Holds the tables of parameters and members against the SDK's types and the wire.
//!
//! A table is right when its rows are exactly the SDK's fields, and when the wire agrees on the
//! names: a request's body shows each parameter under its API name, and a full answer (`answers/`)
//! is read as botocore, the AWS CLI's own reader, reads it. The answers and their readings were made
//! from botocore's description of the API, which knows nothing of this code.

use std::sync::{Arc, Mutex};

use aws_sdk_rds::config::http::{HttpRequest, HttpResponse};
use aws_sdk_rds::config::{
    BehaviorVersion, Credentials, HttpClient, Region, RuntimeComponents, SharedHttpClient,
};
use aws_smithy_runtime_api::client::http::{
    HttpConnector, HttpConnectorFuture, HttpConnectorSettings, SharedHttpConnector,
};
use aws_smithy_runtime_api::http::StatusCode;
use aws_smithy_types::body::SdkBody;
use secrecy::{ExposeSecret, SecretString};
use serde_json::{Value, json};

use super::json::Json;
use super::query::{AUTO_SCALING, Body, CLOUDFORMATION, EC2, IAM, Protocol, Query};
use super::rest::{Incoming, Outgoing, Reply, Rest};
use super::{Clients, Request};

/// Gives a table's rows: the API's name and the SDK's.
pub(crate) trait Table {
    /// The rows.
    const ROWS: &'static [(&'static str, &'static str)];
}

/// Returns the rows of a value's table.
pub(crate) fn rows<T: Table>(_of: &T) -> &'static [(&'static str, &'static str)] {
    T::ROWS
}

/// Asserts that a table has a row for every field that `debug` shows, save the omitted ones.
pub(crate) fn assert_complete(rows: &[(&str, &str)], debug: &str, omitted: &[&str]) {
    let mut fields = fields(debug);
    fields.retain(|field| field != "_request_id" && !omitted.contains(&field.as_str()));
    fields.sort();
    let mut named: Vec<String> =
        rows.iter().map(|(_, field)| field.trim_start_matches("set_").to_owned()).collect();
    // The SDK's own setter of `SetForDelete` is `set_set_for_delete`.
    named
        .iter_mut()
        .filter(|field| *field == "for_delete")
        .for_each(|f| *f = "set_for_delete".into());
    named.sort();
    assert_eq!(named, fields, "left: the table; right: {debug}");
}

/// Lists the names of the outermost fields that a struct's `Debug` shows.
fn fields(debug: &str) -> Vec<String> {
    let (mut depth, mut found, mut word) = (0, Vec::new(), String::new());
    for character in debug.chars() {
        match character {
            '{' | '(' | '[' => depth += 1,
            '}' | ')' | ']' => depth -= 1,
            ':' if depth == 1 && !word.is_empty() => found.push(std::mem::take(&mut word)),
            letter if letter.is_alphanumeric() || letter == '_' => {
                word.push(letter);
                continue;
            }
            _ => {}
        }
        word.clear();
    }
    found
}

/// Sets every parameter of a table to some value of the type that it takes.
pub(crate) fn filled<R: Request + Table + Clone>(empty: R) -> R {
    R::ROWS.iter().fold(empty, |request, (name, _)| {
        let mut samples = samples().into_iter();
        samples
            .find_map(|sample| request.clone().set(name, &sample).ok())
            .unwrap_or_else(|| panic!("no sample fits the parameter {name}"))
    })
}

/// Lists one value of every type that a parameter has.
fn samples() -> Vec<Value> {
    vec![
        json!("a"),
        json!(7),
        json!(true),
        json!(["a"]),
        json!([{"Key": "a", "Value": "b"}]),
        json!([{"Name": "a", "Value": "b"}]),
        json!([{"Name": "a", "Values": ["b"]}]),
        json!([{"ParameterName": "a", "ParameterValue": "b", "ApplyMethod": "immediate"}]),
        json!([{"VolumeName": "a", "IOPS": 7}]),
        json!([{"ResourceType": "a", "Tags": [{"Key": "a", "Value": "b"}]}]),
        json!({"EnableLogTypes": ["a"], "DisableLogTypes": ["b"]}),
        json!({"MinCapacity": 0.5, "MaxCapacity": 2, "SecondsUntilAutoPause": 300}),
    ]
}

/// Asserts that a form's body has a field for each row, under the API's name.
pub(crate) fn assert_sent(body: &str, rows: &[(&str, &str)]) {
    for (name, _) in rows {
        let (scalar, list) = (format!("&{name}="), format!("&{name}."));
        assert!(body.contains(&scalar) || body.contains(&list), "{name} is not in {body}");
    }
}

/// Stands for the wire: keeps the last request's body and answers every request with one document.
#[derive(Debug, Clone)]
pub(crate) struct Wire {
    answer: &'static str,
    last: Arc<Mutex<String>>,
}

impl Wire {
    /// Answers every request with `answer`.
    pub(crate) fn answering(answer: &'static str) -> Self {
        Self { answer, last: Arc::default() }
    }

    /// Returns the body of the last request.
    pub(crate) fn last(&self) -> String {
        self.last.lock().unwrap().clone()
    }

    /// Makes clients that speak to this wire.
    pub(crate) fn clients(&self) -> Clients {
        let config = aws_sdk_rds::Config::builder()
            .behavior_version(BehaviorVersion::latest())
            .region(Region::new("eu-west-1"))
            .credentials_provider(Credentials::new("key", "secret", None, None, "test"))
            .http_client(SharedHttpClient::new(self.clone()))
            .interceptor(super::WholeAnswers)
            .build();
        let query = |protocol| Box::new(QueryWire { wire: self.clone(), protocol });
        Clients {
            rds: aws_sdk_rds::Client::from_conf(config),
            ec2: query(EC2),
            auto_scaling: query(AUTO_SCALING),
            iam: query(IAM),
            cloudformation: query(CLOUDFORMATION),
            cloud_control: Box::new(JsonWire { wire: self.clone() }),
            secrets_manager: Box::new(JsonWire { wire: self.clone() }),
            route53: Box::new(RestWire { wire: self.clone() }),
            s3: Box::new(RestWire { wire: self.clone() }),
        }
    }
}

/// Stands for the wire of the JSON protocols.
struct JsonWire {
    wire: Wire,
}

impl Json for JsonWire {
    fn post<'a>(&'a self, operation: &'a str, body: SecretString) -> Body<'a> {
        let body = body.expose_secret();
        *self.wire.last.lock().unwrap() = format!("{operation} {body}");
        Box::pin(std::future::ready(Ok(self.wire.answer.to_owned())))
    }
}

/// Stands for the wire of the REST protocol.
struct RestWire {
    wire: Wire,
}

impl Rest for RestWire {
    fn send(&self, request: Outgoing) -> Reply<'_> {
        let Outgoing { method, path, query, headers, body } = request;
        let pairs: Vec<String> =
            query.iter().map(|(name, value)| format!("{name}={value}")).collect();
        let headers: String =
            headers.iter().map(|(name, value)| format!("{name}: {value} ")).collect();
        let line = format!("{method} /{} {} {headers}{body}", path.join("/"), pairs.join("&"));
        *self.wire.last.lock().unwrap() = line;
        let body = self.wire.answer.to_owned();
        Box::pin(std::future::ready(Ok(Incoming { headers: Vec::new(), body })))
    }
}

impl HttpClient for Wire {
    fn http_connector(
        &self,
        _settings: &HttpConnectorSettings,
        _components: &RuntimeComponents,
    ) -> SharedHttpConnector {
        SharedHttpConnector::new(self.clone())
    }
}

impl HttpConnector for Wire {
    fn call(&self, request: HttpRequest) -> HttpConnectorFuture {
        let body = request.body().bytes().unwrap_or_default();
        *self.last.lock().unwrap() = String::from_utf8(body.to_vec()).unwrap();
        let response =
            HttpResponse::new(StatusCode::try_from(200).unwrap(), SdkBody::from(self.answer));
        HttpConnectorFuture::ready(Ok(response))
    }
}

/// Is the wire of a service that is spoken to in a Query protocol.
struct QueryWire {
    wire: Wire,
    protocol: Protocol,
}

impl Query for QueryWire {
    fn protocol(&self) -> Protocol {
        self.protocol
    }

    fn post(&self, fields: Vec<(String, String)>) -> Body<'_> {
        let pairs: Vec<String> =
            fields.iter().map(|(name, value)| format!("{name}={value}")).collect();
        *self.wire.last.lock().unwrap() = pairs.join("&");
        Box::pin(std::future::ready(Ok(self.wire.answer.to_owned())))
    }
}

/// Asserts of each request that its table is complete and that the wire knows every name.
macro_rules! check_requests {
    ($omitted:expr, $($method:ident),* $(,)?) => {
        $({
            let wire = $crate::kinds::sdk::testing::Wire::answering("");
            let empty = wire.clients().rds.$method();
            let rows = $crate::kinds::sdk::testing::rows(&empty);
            $crate::kinds::sdk::testing::assert_complete(
                rows, &format!("{:?}", empty.as_input()), &$omitted,
            );
            // The empty answer is of no use; the request is what is looked at.
            let _ = $crate::kinds::sdk::testing::filled(empty).send().await;
            $crate::kinds::sdk::testing::assert_sent(&wire.last(), rows);
        })*
    };
}
pub(crate) use check_requests;

/// Asserts of each structure that its table is complete.
macro_rules! check_structures {
    ($($structure:ty),* $(,)?) => {
        $($crate::kinds::sdk::testing::assert_complete(
            <$structure as $crate::kinds::sdk::testing::Table>::ROWS,
            &format!("{:?}", <$structure>::builder().build()),
            &[],
        );)*
    };
}
pub(crate) use check_structures;

/// Asserts that a full answer is read as botocore reads it.
macro_rules! check_answer {
    ($kind:path, $service:literal, $operation:literal) => {{
        use $kind as kind;
        let answer = include_str!(concat!("../sdk/answers/", $operation, ".xml"));
        let expected: serde_json::Value =
            serde_json::from_str(include_str!(concat!("../sdk/answers/", $operation, ".json")))
                .unwrap();
        let clients = $crate::kinds::sdk::testing::Wire::answering(answer).clients();
        let call = $crate::model::Call::new($service, $operation);
        let read = kind::send(&clients, &call).await.unwrap();
        assert_eq!(read, expected, "left: read here; right: read by botocore");
    }};
}
pub(crate) use check_answer;
