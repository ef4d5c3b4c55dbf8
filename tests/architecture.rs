//! The rooms of the design: who may use whom, and the shape of the code.
