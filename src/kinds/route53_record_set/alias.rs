//! In which hosted zone the names are that AWS gives its own resources.
//!
//! Sources: "AliasTarget" in the Route 53 API reference; "Elastic Load Balancing endpoints" and
//! "Amazon S3 endpoints" in the AWS General Reference, as of the regions that stand here. A target that
//! is not known needs its zone in the manifest.

use crate::model::dns;

/// Regions with the zones of their application and classic load balancers, their network load
/// balancers, and their website endpoints.
const REGIONS: &[(&str, &str, &str, &str)] = &[
    ("af-south-1", "Z268VQBMOI5EKX", "Z203XCE67M25HM", "Z83WF9RJE8B12"),
    ("ap-east-1", "Z3DQVH9N71FHZ0", "Z12Y7K3UBGUAD1", "ZNB98KWMFR0R6"),
    ("ap-northeast-1", "Z14GRHDCWA56QT", "Z31USIVHYNEOWT", "Z2M4EHUR26P7ZW"),
    ("ap-northeast-2", "ZWKZPGTI48KDX", "ZIBE1TIR4HY56", "Z3W03O7B5YMIYP"),
    ("ap-northeast-3", "Z5LXEXXYW11ES", "Z1GWIQ4HH19I5X", "Z2YQB5RD63NC85"),
    ("ap-south-1", "ZP97RAFLXTNZK", "ZVDDRBQ08TROA", "Z11RGJOFQNVJUP"),
    ("ap-south-2", "Z0173938T07WNTVAEPZN", "Z0711778386UTO08407HT", "Z02976202B4EZMXIPMXF7"),
    ("ap-southeast-1", "Z1LMS91P8CMLE5", "ZKVM4W9LS7TM", "Z3O0J2DXBE1FTB"),
    ("ap-southeast-2", "Z1GM3OXH4ZPM65", "ZCT6FZBF4DROD", "Z1WCIGYICN2BYD"),
    ("ap-southeast-3", "Z08888821HLRG5A9ZRTER", "Z01971771FYVNCOVWJU1G", "Z01846753K324LI26A3VV"),
    ("ca-central-1", "ZQSVJUPU6J1EY", "Z2EPGBW3API2WT", "Z1QDHH18159H29"),
    ("cn-north-1", "Z1GDH35T77C1KE", "Z3QFB96KMJ7ED6", "Z5CN8UMXT92WN"),
    ("cn-northwest-1", "ZM7IZAIOVVDZF", "ZQEIKTCZ8352D", "Z282HJ1KT0DH03"),
    ("eu-central-1", "Z215JYRZR1TBD5", "Z3F0SRJ5LGBH90", "Z21DNDUVLTQW6Q"),
    ("eu-central-2", "Z06391101F2ZOEP8P5EB3", "Z02239872DOALSIDCX66S", "Z030506016YDQGETNASS"),
    ("eu-north-1", "Z23TAZ6LKFMNIO", "Z1UDT6IFJ4EJM", "Z3BAZG2TWCNX0D"),
    ("eu-south-1", "Z3ULH7SSC9OV64", "Z23146JA1KNAFP", "Z30OZKI7KPW7MI"),
    ("eu-south-2", "Z0956581394HF5D5LXGAP", "Z1011216NVTVYADP1SSV", "Z0081959F7139GRJC19J"),
    ("eu-west-1", "Z32O12XQLNTSW2", "Z2IFOLAFXWLO4F", "Z1BKCTXD74EZPE"),
    ("eu-west-2", "ZHURV8PSTC4K8", "ZD4D7Y8KGAS4G", "Z3GKZC51ZF0DB4"),
    ("eu-west-3", "Z3Q77PNBQS71R4", "Z1CMS0P5QUZ6D5", "Z3R1K369G5AVDG"),
    ("me-central-1", "Z08230872XQRWHG2XF6I", "Z00282643NTTLPANJJG2P", "Z06143092I8HRXZRUZROF"),
    ("me-south-1", "ZS929ML54UICD", "Z3QSRYVP46NYYV", "Z1MPMWCPA7YB62"),
    ("sa-east-1", "Z2P70J7HTTTPLU", "ZTK26PT1VY4CU", "Z7KQH4QJS55SO"),
    ("us-east-1", "Z35SXDOTRQ7X7K", "Z26RNL4JYFTOTI", "Z3AQBSTGFYJSTF"),
    ("us-east-2", "Z3AADJGX6KTTL2", "ZLMOA37VPKANP", "Z2O1EMRO9K5GLX"),
    ("us-gov-east-1", "Z166TLBEWOO7G0", "Z1ZSMQQ6Q24QQ8", "Z2NIFVYYW2VKV1"),
    ("us-gov-west-1", "Z33AYJ8TM3BH4J", "ZMG1MZ2THAWF1", "Z31GFT0UA1I2HV"),
    ("us-west-1", "Z368ELLRRE2KJ0", "Z24FKFUX50B4VW", "Z2F56UZL2M1ACD"),
    ("us-west-2", "Z1H1FL5HABSF5", "Z18D5FSROUN65G", "Z3BJ6K6RIION7M"),
];

/// Names that are in one zone, wherever the resource is.
const ANYWHERE: [(&str, &str); 2] =
    [(".cloudfront.net", "Z2FDTNDATAQYW2"), (".awsglobalaccelerator.com", "Z2BJ6XQ5FK7U4H")];

/// Returns the zone of a name that AWS gave.
pub(super) fn zone_of(target: &str) -> Option<&'static str> {
    let target = dns::name(target);
    let anywhere = ANYWHERE.iter().find(|(suffix, _)| target.ends_with(suffix));
    anywhere.map(|(_, zone)| *zone).or_else(|| of_region(&target))
}

/// Returns the zone of a target: its own (name and id) for a name in it, or that of a name of AWS.
pub(super) fn zone_for(target: &str, own: (&str, &str)) -> Option<String> {
    let (name, id) = own;
    let is_own = !name.is_empty() && dns::is_in(&dns::name(target), name);
    if is_own { Some(id.to_owned()) } else { zone_of(target).map(str::to_owned) }
}

fn of_region(target: &str) -> Option<&'static str> {
    let domain = target.strip_suffix(".cn").unwrap_or(target).strip_suffix(".amazonaws.com")?;
    let labels: Vec<&str> = domain.split('.').collect();
    let find = |region: &str| REGIONS.iter().find(|(known, ..)| *known == region);
    match labels.as_slice() {
        [.., region, "elb"] => find(region).map(|(_, application, ..)| *application),
        [.., "elb", region] => find(region).map(|(_, _, network, _)| *network),
        [.., "s3-website", region] => find(region).map(|(.., website)| *website),
        [.., last] => find(last.strip_prefix("s3-website-")?).map(|(.., website)| *website),
        [] => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_zone_of_a_name_of_aws_follows_from_its_form() {
        for (target, zone) in [
            ("d111111abcdef8.cloudfront.net.", Some("Z2FDTNDATAQYW2")),
            ("a1b2.awsglobalaccelerator.com", Some("Z2BJ6XQ5FK7U4H")),
            ("dualstack.my-lb-123.eu-west-1.elb.amazonaws.com", Some("Z32O12XQLNTSW2")),
            ("My-LB-123.EU-West-1.elb.amazonaws.com", Some("Z32O12XQLNTSW2")),
            ("my-nlb-123.elb.eu-west-1.amazonaws.com", Some("Z2IFOLAFXWLO4F")),
            ("lb.cn-north-1.elb.amazonaws.com.cn", Some("Z1GDH35T77C1KE")),
            ("s3-website-us-east-1.amazonaws.com", Some("Z3AQBSTGFYJSTF")),
            ("s3-website.eu-central-1.amazonaws.com", Some("Z21DNDUVLTQW6Q")),
            ("lb.xx-nowhere-1.elb.amazonaws.com", None),
            ("db.abc.eu-west-1.rds.amazonaws.com", None),
            ("www.example.com", None),
        ] {
            assert_eq!(zone_of(target), zone, "{target}");
        }
    }
}
