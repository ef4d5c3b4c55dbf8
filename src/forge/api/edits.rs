//! A changed file on a branch of its own, and the pull request for it, in the words of each host.
//!
//! Source: "Git database", "Repository contents" and "Pulls" in GitHub's REST API; `contents` and
//! `pulls` in the API description that Gitea and Forgejo serve; "Commits API" and "Merge requests API"
//! in GitLab's documentation; "Source", "Refs" and "Pullrequests" in the REST API of Bitbucket Cloud.
//!
//! Each host is told which bytes the file has to have now, and refuses when it has others.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::Deserialize;
use serde_json::json;

use super::bitbucket::Links;
use super::caller::parse;
use super::{Caller, Edit};
use crate::forge::refusal::Refusal;
use crate::forge::wire::Method;

#[derive(Deserialize)]
struct Reference {
    object: Object,
}

#[derive(Deserialize)]
struct Object {
    sha: String,
}

#[derive(Deserialize)]
struct Opened {
    html_url: String,
}

#[derive(Deserialize)]
struct Requested {
    web_url: String,
}

#[derive(Deserialize)]
struct Tip {
    target: Target,
}

#[derive(Deserialize)]
struct Target {
    hash: String,
}

#[derive(Deserialize)]
struct Asked {
    links: Links,
}

#[derive(Deserialize)]
struct File {
    blob_id: String,
    last_commit_id: String,
}

fn beside<'a>(first: &[&'a str], path: &'a str) -> Vec<&'a str> {
    first.iter().copied().chain(path.split('/')).collect()
}

fn another(edit: &Edit) -> Refusal {
    let said = format!("{} is another one on {}", edit.path, edit.onto);
    Refusal::Refused { status: 409, said }
}

/// The branch has to be there before the file is changed on it, so what the file is now is read first.
pub(super) async fn push_to_github(caller: &Caller, edit: &Edit) -> Result<(), Refusal> {
    let mut file = caller.of(&beside(&["contents"], &edit.path))?;
    file.query_pairs_mut().append_pair("ref", &edit.onto);
    if caller.read::<Object>(file).await?.sha != edit.blob {
        return Err(another(edit));
    }
    let at = caller.of(&beside(&["git", "ref", "heads"], &edit.onto))?;
    let tip: Reference = caller.read(at).await?;
    let new = json!({ "ref": format!("refs/heads/{}", edit.branch), "sha": tip.object.sha });
    caller.write(Method::Post, caller.of(&["git", "refs"])?, new).await?;
    let body = json!({
        "message": edit.title,
        "content": STANDARD.encode(&edit.after),
        "sha": edit.blob,
        "branch": edit.branch,
    });
    let at = caller.of(&beside(&["contents"], &edit.path))?;
    caller.write(Method::Put, at, body).await.map(drop)
}

pub(super) async fn push_to_gitea(caller: &Caller, edit: &Edit) -> Result<(), Refusal> {
    let body = json!({
        "message": edit.title,
        "content": STANDARD.encode(&edit.after),
        "sha": edit.blob,
        "branch": edit.onto,
        "new_branch": edit.branch,
    });
    let at = caller.of(&beside(&["contents"], &edit.path))?;
    caller.write(Method::Put, at, body).await.map(drop)
}

/// The form of GitHub, which Gitea took over.
pub(super) async fn open(caller: &Caller, edit: &Edit) -> Result<String, Refusal> {
    let body = json!({
        "title": edit.title,
        "body": edit.body,
        "head": edit.branch,
        "base": edit.onto,
    });
    let answer = caller.write(Method::Post, caller.of(&["pulls"])?, body).await?;
    Ok(parse::<Opened>(&answer)?.html_url)
}

/// GitLab compares no bytes but the last commit of the file: what it holds is read first.
pub(super) async fn push_to_gitlab(caller: &Caller, edit: &Edit) -> Result<(), Refusal> {
    let mut at = caller.of(&["repository", "files", &edit.path])?;
    at.query_pairs_mut().append_pair("ref", &edit.onto);
    let file: File = caller.read(at).await?;
    if file.blob_id != edit.blob {
        return Err(another(edit));
    }
    let action = json!({
        "action": "update",
        "file_path": edit.path,
        "content": STANDARD.encode(&edit.after),
        "encoding": "base64",
        "last_commit_id": file.last_commit_id,
    });
    let body = json!({
        "branch": edit.branch,
        "start_branch": edit.onto,
        "commit_message": edit.title,
        "actions": [action],
    });
    caller.write(Method::Post, caller.of(&["repository", "commits"])?, body).await.map(drop)
}

pub(super) async fn open_at_gitlab(caller: &Caller, edit: &Edit) -> Result<String, Refusal> {
    let body = json!({
        "title": edit.title,
        "description": edit.body,
        "source_branch": edit.branch,
        "target_branch": edit.onto,
        "remove_source_branch": true,
    });
    let answer = caller.write(Method::Post, caller.of(&["merge_requests"])?, body).await?;
    Ok(parse::<Requested>(&answer)?.web_url)
}

/// Bitbucket compares nothing: what the file is now is read at the commit that becomes the parent. A
/// branch that is there is refused because its tip is another commit.
pub(super) async fn push_to_bitbucket(caller: &Caller, edit: &Edit) -> Result<(), Refusal> {
    let at = caller.of(&beside(&["refs", "branches"], &edit.onto))?;
    let tip: Tip = caller.read(at).await?;
    let file = caller.of(&beside(&["src", &tip.target.hash], &edit.path))?;
    if caller.bytes(file).await? != edit.before {
        return Err(another(edit));
    }
    let after = String::from_utf8(edit.after.clone());
    let after = after.map_err(|_| {
        let said = format!("{} is not UTF-8, and a form takes nothing else", edit.path);
        Refusal::Refused { status: 0, said }
    })?;
    let field = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    let fields = vec![
        field("message", &edit.title),
        field("branch", &edit.branch),
        field("parents", &tip.target.hash),
        // The slash tells a file from a field of the same name.
        (format!("/{}", edit.path), after),
    ];
    caller.send_form(caller.of(&["src"])?, fields).await.map(drop)
}

pub(super) async fn open_at_bitbucket(caller: &Caller, edit: &Edit) -> Result<String, Refusal> {
    let body = json!({
        "title": edit.title,
        "description": edit.body,
        "source": { "branch": { "name": edit.branch } },
        "destination": { "branch": { "name": edit.onto } },
        "close_source_branch": true,
    });
    let answer = caller.write(Method::Post, caller.of(&["pullrequests"])?, body).await?;
    Ok(parse::<Asked>(&answer)?.links.page())
}
