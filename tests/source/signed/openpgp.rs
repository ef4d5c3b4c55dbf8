//! Signatures of OpenPGP, which `gpg` verifies with the listed keys.

use jiff::SignedDuration;

use super::{NOW, Scene};
use crate::support::keys::{Gpg, SshKey, commit, plant};

#[tokio::test]
async fn openpgp_counts_with_listed_keys_that_are_valid_now() {
    let gpg = Gpg::start();
    let (ann, eve) = (gpg.key("Ann <ann@example.com>", "2d"), gpg.key("Eve <e@e.com>", "2d"));
    let scene = Scene::of_openpgp(&gpg.export(&[&ann]), NOW);
    let good = commit(&scene.repo, &gpg.options(&ann), "good");
    scene.applies_the_tip().await;
    commit(&scene.repo, &gpg.options(&eve), "of another");
    let told = scene.holds(&good).await;
    assert!(told.contains(&eve[24..]) && told.contains("which is not listed"), "{told}");
    scene.repo.git(&["reset", "-q", "--hard", &good]);
    let later = commit(&scene.repo, &gpg.options(&ann), "mine");
    let object = format!("{}\n", scene.repo.git(&["cat-file", "commit", "HEAD"]));
    plant(&scene.repo, &object.replace("\n\nmine", "\n\nyours"));
    assert!(scene.holds(&good).await.contains("is not what the OpenPGP key"));
    scene.repo.git(&["reset", "-q", "--hard", &later]);
    let key = SshKey::ed25519();
    commit(&scene.repo, &key.options(), "ssh");
    assert!(scene.holds(&later).await.contains("which is not listed"));
}

#[tokio::test]
async fn expired_and_revoked_openpgp_keys_count_no_longer() {
    let gpg = Gpg::start();
    let ann = gpg.key("Ann <ann@example.com>", "2d");
    let scene = Scene::of_openpgp(&gpg.export(&[&ann]), SignedDuration::from_hours(49));
    commit(&scene.repo, &gpg.options(&ann), "of a time when the key was valid");
    let (delivered, health) = scene.look().await;
    let told = health.refused.unwrap().message;
    assert_eq!(delivered, None);
    assert!(told.contains("which has expired") && told.contains("nothing is applied"), "{told}");
    let scene = Scene::of_openpgp(&gpg.export(&[&ann]), NOW);
    let good = commit(&scene.repo, &gpg.options(&ann), "good");
    scene.applies_the_tip().await;
    commit(&scene.repo, &gpg.options(&ann), "before it was revoked, by its date");
    gpg.revoke(&ann);
    std::fs::write(scene.state.folder.path().join("keys.asc"), gpg.export(&[&ann])).unwrap();
    assert!(scene.holds(&good).await.contains("which was revoked"));
}
