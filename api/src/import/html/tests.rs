//! Markup reduced to text.

use super::*;

fn html(text: &str) -> String {
    reduce(text, Markup::Html).text
}

fn mixed(text: &str) -> String {
    reduce(text, Markup::Mixed).text
}

#[test]
fn tags_of_html_go_and_their_layout_stays() {
    assert_eq!(
        html("<p>One <b>two</b>\n  three</p>\n<p>four</p>"),
        "One two three\nfour"
    );
    assert_eq!(html("a<br>b<br/>c<BR />d"), "a\nb\nc\nd");
    assert_eq!(html("<ul><li>a</li><li>b</li></ul>"), "a\nb");
    assert_eq!(html("<tr><td>a</td><td>b</td></tr>"), "a b");
    assert_eq!(
        html("x <a href=\"http://h/?a=1&b=2\" target=_blank disabled>link</a> y"),
        "x link y"
    );
    assert_eq!(html("<pre>if x:\n    y()</pre>done"), "if x:\n    y()\ndone");
    assert_eq!(html("<span style='color: red;'>a</span>"), "a");
}

#[test]
fn what_is_no_tag_stays_as_typed() {
    for text in [
        "a < b and c > d",
        "a <b and c> d",
        "List<String> and Map<K, V>",
        "if (x<y && y>z)",
        "<3 <- <> </> < b>",
        "#include <stdio.h>",
        "<my-tag>",
        "<b",
        "<b x=\"1",
        "x<-5",
    ] {
        assert_eq!(html(text), text);
        assert_eq!(mixed(text), text);
        assert_eq!(reduce(text, Markup::Plain).text, text);
    }
}

#[test]
fn mixed_text_loses_only_tags_that_are_void_or_closed() {
    assert_eq!(mixed("is a<b>c true?"), "is a<b>c true?");
    assert_eq!(mixed("What does </p> do?"), "What does </p> do?");
    assert_eq!(mixed("a <b>bold</b> word and a<b>c"), "a bold word and a<b>c");
    assert_eq!(mixed("one<br>\ntwo<br>three\n  four"), "one\ntwo\nthree\n  four");
    assert_eq!(mixed("<p>x</p>\n<p>y</p>"), "x\ny");
}

#[test]
fn plain_text_is_not_touched() {
    let text = "<b>x</b> &lt; &amp; <!-- y -->";
    assert_eq!(
        reduce(text, Markup::Plain),
        Reduced {
            text: text.to_owned(),
            media: false
        }
    );
}

#[test]
fn entities_are_decoded_once() {
    assert_eq!(
        html("&lt;b&gt; &amp;lt; &eacute;&szlig; &#39;&#x27;&#X41; &hellip;"),
        "<b> &lt; éß ''A …"
    );
    assert_eq!(mixed("AT&amp;T &euro;&nbsp;5"), "AT&T €\u{A0}5");
    assert_eq!(html("&#150; &#128;"), "– €");
    for literal in [
        "&",
        "&;",
        "AT&T",
        "&unknown;",
        "&#;",
        "&#x;",
        "&#0;",
        "&#xD800;",
        "&#99999999999;",
        "&#+5;",
        "a&b;",
    ] {
        assert_eq!(html(literal), literal);
    }
}

#[test]
fn comments_scripts_and_styles_go_whole() {
    assert_eq!(html("a<!-- <b>x</b> -->b"), "ab");
    assert_eq!(
        html("a<script type='x'>if (1<2) '<b>'</script>b<style>p {}</STYLE>c"),
        "abc"
    );
    assert_eq!(html("a <!-- b"), "a <!-- b");
    assert_eq!(html("a <script> b"), "a <script> b");
    assert_eq!(html("<!-->x-->y"), "y");
}

#[test]
fn raised_and_lowered_text_keeps_its_meaning() {
    assert_eq!(html("x<sup>2</sup> + 10<sup>-3</sup>"), "x² + 10⁻³");
    assert_eq!(
        html("H<sub>2</sub>O, v<sub>0</sub>, a<sub>i</sub>"),
        "H₂O, v₀, a_i"
    );
    assert_eq!(html("e<sup>a+b</sup>, 4<sup>th</sup>"), "e^(a+b), 4th");
    assert_eq!(html("x<sup>2<sup>3</sup></sup> y"), "x²³ y");
}

#[test]
fn media_is_reported() {
    let reduced = reduce(
        "see <img src=\"data:image/png;base64,AAAA\" alt=\"a > b\"/> this",
        Markup::Mixed,
    );
    assert_eq!(
        reduced,
        Reduced {
            text: "see  this".to_owned(),
            media: true
        }
    );
    assert!(!reduce("<p>no</p>", Markup::Html).media);
}
