//! Call parameters as JSON to the SDK's typed requests.

use serde_json::{Map, Value};

/// Says why a parameter cannot be sent.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Misfit {
    /// No row of the table has this name.
    #[error("{operation} has no parameter {name} here")]
    Unknown {
        /// The operation or structure.
        operation: &'static str,
        /// The name, with the structure and index that it is in.
        name: String,
    },
    /// The value is not of the API's type.
    #[error("the parameter {name} is not {expected}")]
    Type {
        /// The name, with the structure and index that it is in.
        name: String,
        /// What the API takes, with its article.
        expected: &'static str,
    },
}

impl Misfit {
    /// Says that the table of `builder` has no row `name`.
    pub(crate) fn unknown(builder: &'static str, name: &str) -> Self {
        let operation = builder.trim_end_matches("Builder").trim_end_matches("Fluent");
        Self::Unknown { operation, name: name.to_owned() }
    }

    /// Puts the name of the surrounding structure in front.
    pub(crate) fn within(mut self, outer: &str) -> Self {
        let (Self::Unknown { name, .. } | Self::Type { name, .. }) = &mut self;
        *name = if name.is_empty() { outer.to_owned() } else { format!("{outer}.{name}") };
        self
    }
}

/// Reads a JSON value as the type that the API takes.
pub(crate) trait Parameter: Sized {
    /// Reads the value; the error's name is relative to it.
    fn read(value: &Value) -> Result<Self, Misfit>;
}

/// Takes parameters by their API names: a request, or a structure inside one.
pub(crate) trait Request: Sized {
    /// Sets one parameter.
    fn set(self, name: &str, value: &Value) -> Result<Self, Misfit>;
}

/// Sets every parameter of `params`, or names the first that cannot be set.
pub(crate) fn fill<R: Request>(request: R, params: &Map<String, Value>) -> Result<R, Misfit> {
    params.iter().try_fold(request, |request, (name, value)| request.set(name, value))
}

/// Reads one parameter for a row of [`parameters!`].
pub(crate) fn read<P: Parameter>(name: &str, value: &Value) -> Result<P, Misfit> {
    P::read(value).map_err(|misfit| misfit.within(name))
}

/// Says that a value has the wrong type.
pub(crate) fn expected<T>(expected: &'static str) -> Result<T, Misfit> {
    Err(Misfit::Type { name: String::new(), expected })
}

impl Parameter for String {
    fn read(value: &Value) -> Result<Self, Misfit> {
        value.as_str().map_or_else(|| expected("a text"), |text| Ok(text.to_owned()))
    }
}

impl Parameter for bool {
    fn read(value: &Value) -> Result<Self, Misfit> {
        value.as_bool().map_or_else(|| expected("true or false"), Ok)
    }
}

impl Parameter for i32 {
    fn read(value: &Value) -> Result<Self, Misfit> {
        let number = value.as_i64().and_then(|number| Self::try_from(number).ok());
        number.map_or_else(|| expected("a whole number of 32 bits"), Ok)
    }
}

impl Parameter for i64 {
    fn read(value: &Value) -> Result<Self, Misfit> {
        value.as_i64().map_or_else(|| expected("a whole number"), Ok)
    }
}

impl Parameter for f64 {
    fn read(value: &Value) -> Result<Self, Misfit> {
        value.as_f64().map_or_else(|| expected("a number"), Ok)
    }
}

impl<P: Parameter> Parameter for Vec<P> {
    fn read(value: &Value) -> Result<Self, Misfit> {
        let Some(items) = value.as_array() else { return expected("a list") };
        items.iter().enumerate().map(|(index, item)| read(&index.to_string(), item)).collect()
    }
}

/// Makes a table of parameters: `API name: setter of the SDK`.
///
/// The first form is a request builder; the second, `Structure = Builder`, a structure inside one.
macro_rules! parameters {
    ($builder:ty { $($name:ident: $setter:ident),* $(,)? }) => {
        impl $crate::kinds::sdk::Request for $builder {
            fn set(
                self,
                name: &str,
                value: &serde_json::Value,
            ) -> Result<Self, $crate::kinds::sdk::Misfit> {
                Ok(match name {
                    $(stringify!($name) => {
                        self.$setter(Some($crate::kinds::sdk::read(name, value)?))
                    })*
                    _ => {
                        return Err($crate::kinds::sdk::Misfit::unknown(stringify!($builder), name));
                    }
                })
            }
        }

        #[cfg(test)]
        impl $crate::kinds::sdk::testing::Table for $builder {
            const ROWS: &'static [(&'static str, &'static str)] =
                &[$((stringify!($name), stringify!($setter))),*];
        }
    };
    ($structure:ty = $builder:ty { $($name:ident: $setter:ident),* $(,)? }) => {
        $crate::kinds::sdk::parameters!($builder { $($name: $setter),* });

        impl $crate::kinds::sdk::Parameter for $structure {
            fn read(value: &serde_json::Value) -> Result<Self, $crate::kinds::sdk::Misfit> {
                let Some(object) = value.as_object() else {
                    return $crate::kinds::sdk::expected("a structure");
                };
                Ok($crate::kinds::sdk::fill(<$structure>::builder(), object)?.build())
            }
        }
    };
}
pub(crate) use parameters;
