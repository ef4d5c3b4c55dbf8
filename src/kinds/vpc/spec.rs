//! What a network, named in a manifest, offers to the texts of other resources.

use crate::model::Offer;

/// What a VPC offers.
pub const OFFERS: &[Offer] = &[
    Offer::text("vpcId", "VpcId"),
    Offer::text("cidr", "CidrBlock"),
    Offer::list("subnetIds", "SubnetIds"),
];
