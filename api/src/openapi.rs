//! The public document of the API (OpenAPI 3.1), made from the routes themselves.
//!
//! A route is added once, by [`Routes::add`], which puts it into the router and into the document. What a call takes is told by the types
//! of its handler's arguments ([`Takes`]), what it answers by the type that it returns ([`Answers`]), and schemas by the
//! wire types of `protocol`; so neither can be changed without the document. By hand are a summary and the refusals that a handler
//! itself gives, and the schema-driven tests hold these against the answers.

use axum::Router;
use axum::body::Bytes;
use axum::extract::Extension;
use axum::handler::Handler;
use axum::middleware::from_fn_with_state;
use axum::routing::{MethodFilter, on};
use serde_json::{Map, Value, json};

use crate::admission::Class;
use crate::config::Config;
use crate::problem::Kind;
use crate::routes::admit;
use crate::service::Api;

mod answers;
mod handler;
mod operation;
mod page;
mod schemas;
mod takes;

pub(crate) use answers::{Answers, Document, Page};
pub(crate) use handler::Described;
pub(crate) use operation::Operation;
pub(crate) use schemas::Schemas;
pub(crate) use takes::{REFRESH_COOKIE, Takes};

/// What no type says about a call.
pub(crate) struct About {
    /// Name of the call, unique in the document.
    id: &'static str,
    /// What it does, in one sentence.
    summary: &'static str,
    /// Refusals of the handler itself, beside those of its arguments and of admission.
    refusals: &'static [Kind],
}

impl About {
    pub(crate) const fn new(id: &'static str, summary: &'static str, refusals: &'static [Kind]) -> Self {
        Self {
            id,
            summary,
            refusals,
        }
    }
}

/// The methods that calls have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verb {
    Get,
    Post,
    Put,
    Delete,
}

impl Verb {
    fn filter(self) -> MethodFilter {
        match self {
            // As `routing::get` does.
            Self::Get => MethodFilter::GET.or(MethodFilter::HEAD),
            Self::Post => MethodFilter::POST,
            Self::Put => MethodFilter::PUT,
            Self::Delete => MethodFilter::DELETE,
        }
    }

    fn key(self) -> &'static str {
        match self {
            Self::Get => "get",
            Self::Post => "post",
            Self::Put => "put",
            Self::Delete => "delete",
        }
    }
}

/// The document and the page that shows it, written once.
#[derive(Clone)]
pub(crate) struct Documents {
    /// `/openapi.json`.
    pub(crate) json: Bytes,
    /// `/docs`.
    pub(crate) page: Bytes,
}

/// Routes and their document in the making.
pub(crate) struct Routes {
    api: Api,
    router: Router<Api>,
    paths: Map<String, Value>,
    schemas: Schemas,
}

impl Routes {
    pub(crate) fn new(api: Api) -> Self {
        Self {
            api,
            router: Router::new(),
            paths: Map::new(),
            schemas: Schemas::new(),
        }
    }

    /// Adds a call. Without a class it takes no permit: constants cost less to answer than to refuse.
    pub(crate) fn add<H, T, D>(
        mut self,
        class: Option<Class>,
        (verb, path): (Verb, &'static str),
        handler: H,
        about: &About,
    ) -> Self
    where
        H: Handler<T, Api> + Described<D>,
        T: 'static,
    {
        let mut operation = Operation::new(about.refusals);
        H::describe(&mut operation, &mut self.schemas);
        if let Some(class) = class {
            operation.refuse(&[Kind::Busy, Kind::Internal]);
            match class {
                Class::Service | Class::Entry | Class::Edit => operation.refuse(&[Kind::StorageFull]),
                Class::Read => {}
            }
        }
        let described = operation.finish(about, path);
        let methods = self.paths.entry(path).or_insert_with(|| json!({}));
        if let Some(methods) = methods.as_object_mut() {
            methods.insert(verb.key().to_owned(), described);
        }
        let mut route = on(verb.filter(), handler);
        if let Some(class) = class {
            route = route.route_layer(from_fn_with_state((self.api.admission.clone(), class), admit));
        }
        self.router = self.router.route(path, route);
        self
    }

    /// The router, which serves its own document.
    pub(crate) fn finish(self) -> Router<Api> {
        let document = document(&self.api.config, &self.paths, self.schemas);
        let documents = Documents {
            page: page::write(&document).into(),
            json: format!("{document:#}\n").into(),
        };
        self.router.layer(Extension(documents))
    }
}

fn document(config: &Config, paths: &Map<String, Value>, schemas: Schemas) -> Value {
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Homeroom",
            "version": env!("CARGO_PKG_VERSION"),
            "description": "Accounts, the library of quizzes, results and reports of teachers. Every refusal is application/problem+json \
                with a stable code; fields that are not known are ignored, and new ones may come.",
        },
        "servers": [{ "url": config.mount_prefix }],
        "paths": paths,
        "components": {
            "schemas": schemas.finish(),
            "securitySchemes": {
                "access_token": {
                    "type": "http",
                    "scheme": "bearer",
                    "bearerFormat": "JWT",
                    "description": "The access_token of a sign-in.",
                },
                "refresh_cookie": {
                    "type": "apiKey",
                    "in": "cookie",
                    "name": REFRESH_COOKIE,
                    "description": "Set by a sign-in, for pages of the site itself; scripts never see it.",
                },
            },
        },
    })
}
