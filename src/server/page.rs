//! Which part of a list is asked for: `?limit=N&continue=NAME`.
//!
//! In: the query of a request. Out: a [`Page`], or why it is none. The cursor is the name of the last
//! object of the page before, so that a page stays right when objects come and go.

use axum::http::Uri;

/// How many objects a page holds when nobody asks for another number.
const USUAL: usize = 500;

/// The most objects of a page.
const MOST: usize = 1000;

/// Names a part of a list that is ordered by name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page {
    /// The name after which it begins; `None` for the first one.
    pub after: Option<String>,
    /// The most objects that it holds; at least one.
    pub limit: usize,
}

impl Page {
    /// Reads a query; what else it holds carries no meaning here.
    ///
    /// # Errors
    ///
    /// A sentence that says what is asked for wrongly.
    pub(super) fn of(uri: &Uri) -> Result<Self, String> {
        let mut page = Self { after: None, limit: USUAL };
        let query = uri.query().unwrap_or_default();
        for (name, value) in url::form_urlencoded::parse(query.as_bytes()) {
            match &*name {
                "limit" => page.limit = limit(&value)?,
                "continue" if !value.is_empty() => page.after = Some(value.into_owned()),
                _ => {}
            }
        }
        Ok(page)
    }
}

fn limit(text: &str) -> Result<usize, String> {
    let number = text.parse().ok().filter(|number| (1..=MOST).contains(number));
    number.ok_or_else(|| format!("limit is \"{text}\" and has to be a number from 1 to {MOST}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_is_read_from_the_query_and_bounded() {
        let page = |text: &str| Page::of(&format!("/list{text}").parse().unwrap());
        let of = |after: Option<&str>, limit| Ok(Page { after: after.map(str::to_owned), limit });
        assert_eq!(page(""), of(None, USUAL));
        assert_eq!(page("?continue="), of(None, USUAL));
        assert_eq!(page("?limit=2&continue=a%2Db"), of(Some("a-b"), 2));
        assert_eq!(page("?limit=1000&colour=red"), of(None, MOST));
        for wrong in ["?limit=0", "?limit=1001", "?limit=-1", "?limit=ten", "?limit="] {
            assert!(page(wrong).unwrap_err().contains("from 1 to 1000"), "{wrong}");
        }
    }
}
