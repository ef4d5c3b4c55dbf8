//! The one place where the value of a secret is made.
//!
//! In: a [`Recipe`] and a source of randomness. Out: the value, in a type that shows it to nobody.
//! Every text that the recipe allows is as likely as any other.

use secrecy::{ExposeSecret, SecretString};
use serde_json::Value;

use crate::model::recipe::Recipe;

/// Fills bytes with randomness that nobody can foresee.
pub(super) type Random<'a> = dyn FnMut(&mut [u8]) -> Result<(), NotMade> + Send + 'a;

/// Says why no value was made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(super) enum NotMade {
    /// The recipe leaves no character, or asks for more sorts than it has room for.
    #[error("no text is what the recipe asks for")]
    Impossible,
    /// The system gave no randomness.
    #[error("the system gives no randomness")]
    NoRandomness,
}

/// After so many texts without one that has every sort there is none.
const ATTEMPTS: usize = 10_000;

/// Makes a value.
pub(super) fn make(recipe: &Recipe, random: &mut Random<'_>) -> Result<SecretString, NotMade> {
    let text = text(recipe, random)?;
    let Some(key) = &recipe.generate_string_key else { return Ok(text) };
    let mut members = recipe.secret_string_template.clone();
    members.insert(key.clone(), text.expose_secret().into());
    Ok(Value::Object(members).to_string().into())
}

/// Draws texts until one has every sort that has to be in it.
fn text(recipe: &Recipe, random: &mut Random<'_>) -> Result<SecretString, NotMade> {
    let sorts = recipe.sorts();
    let letters: Vec<char> = sorts.iter().flatten().copied().collect();
    let length = usize::try_from(recipe.password_length).map_err(|_| NotMade::Impossible)?;
    if length == 0 {
        return Err(NotMade::Impossible);
    }
    for _ in 0..ATTEMPTS {
        let draw = |_| Ok(letters[below(letters.len(), random)?]);
        let text = (0..length).map(draw).collect::<Result<String, NotMade>>()?;
        let has = |sort: &Vec<char>| text.contains(sort.as_slice());
        if !recipe.require_each_included_type || sorts.iter().all(has) {
            return Ok(text.into());
        }
    }
    Err(NotMade::Impossible)
}

/// Draws a number below a bound: a byte that would favour small numbers is drawn again.
fn below(bound: usize, random: &mut Random<'_>) -> Result<usize, NotMade> {
    if !(1..=256).contains(&bound) {
        return Err(NotMade::Impossible);
    }
    let fair = 256 - 256 % bound;
    loop {
        let mut byte = [0];
        random(&mut byte)?;
        let number = usize::from(byte[0]);
        if number < fair {
            return Ok(number % bound);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Map, json};

    use super::*;

    /// Counts up, in steps that reach every byte.
    fn counter(seed: u8) -> impl FnMut(&mut [u8]) -> Result<(), NotMade> + Send {
        let mut next = seed;
        move |bytes| {
            for byte in bytes {
                next = next.wrapping_mul(13).wrapping_add(41);
                *byte = next;
            }
            Ok(())
        }
    }

    fn system(bytes: &mut [u8]) -> Result<(), NotMade> {
        aws_lc_rs::rand::fill(bytes).map_err(|_| NotMade::NoRandomness)
    }

    proptest! {
        #[test]
        fn a_text_has_its_length_and_every_sort_and_nothing_else(
            seed: u8,
            length in 8..64_u32,
            numbers: bool,
            punctuation: bool,
            upper: bool,
            space: bool,
            excluded in "[a-y0-8A-Y]{0,20}",
        ) {
            let recipe = Recipe {
                password_length: length,
                exclude_characters: excluded,
                exclude_numbers: numbers,
                exclude_punctuation: punctuation,
                exclude_uppercase: upper,
                include_space: space,
                ..Recipe::default()
            };
            let sorts = recipe.sorts();
            match text(&recipe, &mut counter(seed)) {
                Ok(made) => {
                    let made = made.expose_secret();
                    prop_assert_eq!(made.chars().count(), usize::try_from(length).unwrap());
                    prop_assert!(made.chars().all(|it| sorts.iter().any(|sort| sort.contains(&it))));
                    prop_assert!(sorts.iter().all(|sort| made.contains(sort.as_slice())));
                }
                // This counter goes in a circle of 256 bytes, which may miss a sort.
                Err(error) => prop_assert_eq!(error, NotMade::Impossible),
            }
        }

        #[test]
        fn every_number_below_a_bound_is_as_likely(bound in 1..=95_usize) {
            let mut drawn = vec![0; bound];
            let mut bytes = (0..=255_u8).collect::<Vec<u8>>().into_iter();
            let mut source = |byte: &mut [u8]| match bytes.next() {
                Some(next) => { byte[0] = next; Ok(()) }
                None => Err(NotMade::NoRandomness),
            };
            while let Ok(number) = below(bound, &mut source) {
                drawn[number] += 1;
            }
            prop_assert!(drawn.iter().all(|count| *count == drawn[0] && *count > 0), "{:?}", drawn);
        }
    }

    #[test]
    fn a_template_has_the_text_as_one_of_its_members() {
        let template = json!({"username": "app", "port": 5432});
        let Value::Object(secret_string_template) = template else { unreachable!() };
        let key = Some("password".to_owned());
        let recipe =
            Recipe { secret_string_template, generate_string_key: key, ..Recipe::default() };
        let made = make(&recipe, &mut system).unwrap();
        let members: Map<String, Value> = serde_json::from_str(made.expose_secret()).unwrap();
        assert_eq!((&members["username"], &members["port"]), (&json!("app"), &json!(5432)));
        assert_eq!(members["password"].as_str().unwrap().chars().count(), 32);
        let again = make(&recipe, &mut system).unwrap();
        assert_ne!(made.expose_secret(), again.expose_secret());
    }

    #[test]
    fn what_cannot_be_made_is_said_and_shows_nothing() {
        let nothing = Recipe {
            exclude_lowercase: true,
            exclude_uppercase: true,
            exclude_numbers: true,
            exclude_punctuation: true,
            ..Recipe::default()
        };
        let made = make(&nothing, &mut counter(1));
        assert_eq!(made.err(), Some(NotMade::Impossible));
        let short = Recipe { password_length: 3, ..Recipe::default() };
        assert_eq!(make(&short, &mut counter(1)).err(), Some(NotMade::Impossible));
        let silent = make(&Recipe::default(), &mut |_| Err(NotMade::NoRandomness));
        assert_eq!(silent.err(), Some(NotMade::NoRandomness));
        let made = make(&Recipe::default(), &mut system);
        let made = made.unwrap();
        let shown = format!("{made:?}");
        assert!(!shown.contains(made.expose_secret()), "{shown}");
    }
}
