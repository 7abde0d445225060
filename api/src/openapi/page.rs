//! The document as a page to read: plain HTML without scripts, so that it works without internet and under the strictest policy.

use serde_json::{Map, Value};

/// Nothing is loaded, nothing runs; the page brings its own style.
pub(super) const POLICY: &str =
    "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; base-uri 'none'";

const STYLE: &str = "body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:0 auto;padding:1rem}\
    code,pre{font:14px/1.4 ui-monospace,monospace}pre{background:#8881;padding:.75rem;overflow:auto;border-radius:.4rem}\
    summary{cursor:pointer;padding:.35rem 0}details{border-top:1px solid #8884}h2{margin-top:2rem}\
    table{border-collapse:collapse}td,th{text-align:left;vertical-align:top;padding:.2rem 1rem .2rem 0}\
    .verb{display:inline-block;min-width:4.2rem;font-weight:600}:root{color-scheme:light dark}";

/// Writes the page.
pub(super) fn write(document: &Value) -> String {
    let mut page = Html(String::new());
    let info = &document["info"];
    page.raw("<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" content=\"width=device-width\">\n<title>")
        .text(&format!("{} API", words(&info["title"])))
        .raw("</title>\n<style>")
        .raw(STYLE)
        .raw("</style>\n<h1>")
        .text(&format!("{} API {}", words(&info["title"]), words(&info["version"])))
        .raw("</h1>\n<p>")
        .text(words(&info["description"]))
        .raw("</p>\n<p>Paths begin with <code>")
        .text(words(&document["servers"][0]["url"]))
        .raw("</code>. For machines: <a href=\"openapi.json\">openapi.json</a>.</p>\n<h2>Calls</h2>\n");
    for (path, methods) in fields(&document["paths"]) {
        for (verb, operation) in fields(methods) {
            call(&mut page, path, verb, operation);
        }
    }
    page.raw("<h2>Schemas</h2>\n");
    for (name, schema) in fields(&document["components"]["schemas"]) {
        page.raw("<details id=\"")
            .text(name)
            .raw("\"><summary><code>")
            .text(name)
            .raw("</code></summary>\n");
        json(&mut page, schema);
        page.raw("</details>\n");
    }
    page.raw("</html>\n");
    page.0
}

fn call(page: &mut Html, path: &str, verb: &str, operation: &Value) {
    page.raw("<details id=\"")
        .text(words(&operation["operationId"]))
        .raw("\"><summary><span class=\"verb\">")
        .text(&verb.to_uppercase())
        .raw("</span> <code>")
        .text(path)
        .raw("</code> ")
        .text(words(&operation["summary"]))
        .raw("</summary>\n");
    for scheme in operation["security"]
        .as_array()
        .into_iter()
        .flatten()
        .flat_map(fields)
    {
        page.raw("<p>Needs <code>").text(scheme.0).raw("</code>.</p>\n");
    }
    let parameters = operation["parameters"].as_array();
    if let Some(parameters) = parameters {
        page.raw("<h3>Parameters</h3>\n<table>\n");
        for parameter in parameters {
            let name = format!("{} ({})", words(&parameter["name"]), words(&parameter["in"]));
            page.raw("<tr><th><code>")
                .text(&name)
                .raw("</code><td>")
                .text(words(&parameter["description"]))
                .raw("<td>");
            schema(page, &parameter["schema"]);
            page.raw("\n");
        }
        page.raw("</table>\n");
    }
    if !operation["requestBody"].is_null() {
        page.raw("<h3>Body</h3>\n<p>")
            .text(words(&operation["requestBody"]["description"]))
            .raw("</p>\n");
        content(page, &operation["requestBody"]);
    }
    page.raw("<h3>Answers</h3>\n<table>\n");
    for (status, answer) in fields(&operation["responses"]) {
        page.raw("<tr><th>")
            .text(status)
            .raw("<td>")
            .text(words(&answer["description"]))
            .raw("<td>");
        if status.starts_with('2') {
            content(page, answer);
        }
        page.raw("\n");
    }
    page.raw("</table>\n</details>\n");
}

fn content(page: &mut Html, holder: &Value) {
    for (media_type, told) in fields(&holder["content"]) {
        page.raw("<code>").text(media_type).raw("</code> ");
        schema(page, &told["schema"]);
    }
}

/// A link to a named schema, or a small one itself.
fn schema(page: &mut Html, schema: &Value) {
    let named = schema["$ref"]
        .as_str()
        .or_else(|| schema["anyOf"][0]["$ref"].as_str());
    match named.and_then(|place| place.rsplit('/').next()) {
        Some(name) => {
            page.raw("<a href=\"#")
                .text(name)
                .raw("\">")
                .text(name)
                .raw("</a>");
        }
        None => {
            page.raw("<code>").text(&schema.to_string()).raw("</code>");
        }
    }
}

/// A schema as it stands in the document.
fn json(page: &mut Html, schema: &Value) {
    page.raw("<pre>").text(&format!("{schema:#}")).raw("</pre>\n");
}

fn fields(value: &Value) -> impl Iterator<Item = (&String, &Value)> {
    value.as_object().into_iter().flat_map(Map::iter)
}

fn words(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

struct Html(String);

impl Html {
    fn raw(&mut self, html: &str) -> &mut Self {
        self.0.push_str(html);
        self
    }

    fn text(&mut self, text: &str) -> &mut Self {
        for c in text.chars() {
            match c {
                '<' => self.0.push_str("&lt;"),
                '&' => self.0.push_str("&amp;"),
                '"' => self.0.push_str("&quot;"),
                c => self.0.push(c),
            }
        }
        self
    }
}
