//! What a database offers to the texts of other resources, once AWS has made it.

use crate::model::Offer;

/// What a database offers to the texts of other resources. The password stays in its secret: what
/// is offered is the secret's ARN.
pub const OFFERS: &[Offer] = &[
    Offer::text("identifier", "DBInstanceIdentifier"),
    Offer::text("arn", "DBInstanceArn"),
    Offer::text("resourceId", "DbiResourceId"),
    Offer::text("endpoint", "Endpoint.Address"),
    Offer::text("port", "Endpoint.Port"),
    Offer::text("databaseName", "DBName"),
    Offer::text("masterUsername", "MasterUsername"),
    Offer::text("secretArn", "MasterUserSecret.SecretArn"),
];
