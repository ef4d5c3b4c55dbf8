//! Refuses an answer of the SDK whose XML ends early.
//!
//! The SDK's XML reader takes the end of the input for the end of every open element: a list that is
//! cut in half is read as half a list, without an error. HTTP's own length guards against a lost
//! connection, not against something on the way that cuts and recounts. Half a list must never be
//! taken for the whole, so the document is read once more, strictly.

use aws_smithy_runtime_api::box_error::BoxError;
use aws_smithy_runtime_api::client::interceptors::Intercept;
use aws_smithy_runtime_api::client::interceptors::context::AfterDeserializationInterceptorContextRef;
use aws_smithy_runtime_api::client::runtime_components::RuntimeComponents;
use aws_smithy_types::config_bag::ConfigBag;

use super::xml;

/// Lets only whole documents through; for clients of the services that answer in XML.
#[derive(Debug, Clone, Copy)]
pub(crate) struct WholeAnswers;

impl Intercept for WholeAnswers {
    fn name(&self) -> &'static str {
        "WholeAnswers"
    }

    fn read_after_deserialization(
        &self,
        context: &AfterDeserializationInterceptorContextRef<'_>,
        _components: &RuntimeComponents,
        _config: &mut ConfigBag,
    ) -> Result<(), BoxError> {
        // An error is an error, whole or not.
        if context.response().status().is_success() {
            let body = context.response().body().bytes().ok_or("the answer was not kept")?;
            xml::parse(str::from_utf8(body)?)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use crate::kinds::db_instance::sdk::send;
    use crate::kinds::sdk::Failure;
    use crate::kinds::sdk::testing::Wire;
    use crate::model::Call;

    #[tokio::test]
    async fn an_answer_that_is_cut_anywhere_is_never_a_shorter_list() {
        let whole = include_str!("answers/DescribeDBInstances.xml").trim_end();
        let call = Call::new("rds", "DescribeDBInstances");
        let cuts = (0..whole.len()).step_by(97).chain([whole.len() - 1]);
        for cut in cuts.filter(|cut| whole.is_char_boundary(*cut)) {
            let clients = Wire::answering(&whole[..cut]).clients();
            let failure = send(&clients, &call).await.unwrap_err();
            assert!(
                matches!(failure, Failure::Lost { code: "UnreadableAnswer", .. }),
                "cut at {cut}: {failure:?}"
            );
        }
    }
}
