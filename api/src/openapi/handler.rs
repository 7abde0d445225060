//! From the signature of a handler to its call in the document.

use super::{Answers, Operation, Schemas, Takes};

/// A handler whose arguments and answer are all described. `T` tells the implementations apart, one for each number of arguments.
pub(crate) trait Described<T> {
    /// Adds what the signature says.
    fn describe(operation: &mut Operation, schemas: &mut Schemas);
}

macro_rules! described {
    ($($taken:ident),*) => {
        impl<F, Answering, Answer, $($taken,)*> Described<($($taken,)*)> for F
        where
            F: Fn($($taken),*) -> Answering,
            Answering: Future<Output = Answer>,
            Answer: Answers,
            $($taken: Takes,)*
        {
            fn describe(operation: &mut Operation, schemas: &mut Schemas) {
                $($taken::describe(operation, schemas);)*
                Answer::describe(operation, schemas);
            }
        }
    };
}

described!();
described!(A);
described!(A, B);
described!(A, B, C);
described!(A, B, C, D);
described!(A, B, C, D, E);
described!(A, B, C, D, E, G);
