//! How a secret text is made at the moment in which a call is sent.
//!
//! A plan holds the [`Recipe`] and never the text: whoever sends the call makes the text, sends it and
//! forgets it. The members are those of CloudFormation's `GenerateSecretString`
//! (`AWS::SecretsManager::Secret`), save that the template is an object and no text.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::Call;

/// The parameter of a call that holds a recipe, in the place of `SecretString`.
pub const PARAMETER: &str = "GenerateSecretString";

/// The characters that AWS calls punctuation (`GetRandomPassword`, member `ExcludePunctuation`).
const PUNCTUATION: &str = "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~";

/// Says how a random text is made, and what stands around it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase", deny_unknown_fields, default)]
pub struct Recipe {
    /// How many characters the text has.
    pub password_length: u32,
    /// Characters that are left out.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub exclude_characters: String,
    /// Whether digits are left out.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub exclude_numbers: bool,
    /// Whether punctuation is left out.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub exclude_punctuation: bool,
    /// Whether upper-case letters are left out.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub exclude_uppercase: bool,
    /// Whether lower-case letters are left out.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub exclude_lowercase: bool,
    /// Whether spaces may be in it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub include_space: bool,
    /// Whether a character of every sort that is not left out is in it.
    pub require_each_included_type: bool,
    /// The members of the JSON object that the text becomes a member of; without a key, the text is
    /// the whole value.
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub secret_string_template: Map<String, Value>,
    /// The name of that member.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub generate_string_key: Option<String>,
}

impl Default for Recipe {
    /// 32 characters of all sorts, without spaces, as AWS does it.
    fn default() -> Self {
        Self {
            password_length: 32,
            exclude_characters: String::new(),
            exclude_numbers: false,
            exclude_punctuation: false,
            exclude_uppercase: false,
            exclude_lowercase: false,
            include_space: false,
            require_each_included_type: true,
            secret_string_template: Map::new(),
            generate_string_key: None,
        }
    }
}

impl Recipe {
    /// Reads the recipe of a call, if it has one that can be read.
    pub fn of(call: &Call) -> Option<Self> {
        Self::deserialize(call.params.get(PARAMETER)?).ok()
    }

    /// Returns the characters of each sort that may be in the text; a sort of which nothing is left is
    /// empty.
    pub fn sorts(&self) -> Vec<Vec<char>> {
        let sorts: [(bool, Vec<char>); 5] = [
            (!self.exclude_lowercase, ('a'..='z').collect()),
            (!self.exclude_uppercase, ('A'..='Z').collect()),
            (!self.exclude_numbers, ('0'..='9').collect()),
            (!self.exclude_punctuation, PUNCTUATION.chars().collect()),
            (self.include_space, vec![' ']),
        ];
        let left = |letter: &char| !self.exclude_characters.contains(*letter);
        let taken = sorts.into_iter().filter(|(is_taken, _)| *is_taken);
        taken.map(|(_, sort)| sort.into_iter().filter(left).collect()).collect()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_left_out_is_in_no_sort() {
        let recipe = Recipe {
            exclude_characters: "abc019\"@/\\".to_owned(),
            exclude_uppercase: true,
            include_space: true,
            ..Recipe::default()
        };
        let sorts: Vec<String> = recipe.sorts().into_iter().map(String::from_iter).collect();
        let lower = "defghijklmnopqrstuvwxyz";
        let punctuation = "!#$%&'()*+,-.:;<=>?[]^_`{|}~";
        assert_eq!(sorts, [lower, "2345678", punctuation, " "]);
    }

    #[test]
    fn a_recipe_is_written_as_short_as_it_can_be_and_read_back() {
        let recipe = Recipe { exclude_numbers: true, ..Recipe::default() };
        let written = serde_json::to_value(&recipe).unwrap();
        let short =
            json!({"PasswordLength": 32, "ExcludeNumbers": true, "RequireEachIncludedType": true});
        assert_eq!(written, short);
        let call = Call::new("secretsmanager", "CreateSecret").with(PARAMETER, written);
        assert_eq!(Recipe::of(&call), Some(recipe));
        assert_eq!(Recipe::of(&Call::new("rds", "CreateDBInstance")), None);
    }
}
