"""HTML: the article of a page, its blocks, notes and metadata, encodings, and markup that explodes."""

from __future__ import annotations

import time

import pytest

from chapterverse.errors import UnreadableFileError
from chapterverse.ingest.composer import Composer
from chapterverse.ingest.formats import html
from chapterverse.types import Document, ReadOptions
from tests.ingest.reading import blocks, reasons

DOCUSAURUS = """<!doctype html>
<html lang="en" dir="ltr" class="docs-wrapper">
<head><meta charset="UTF-8"><title data-rh="true">Inverse Kinematics | Walking Machines</title>
<meta data-rh="true" property="og:title" content="Inverse Kinematics | Walking Machines">
<meta name="author" content="R. Vega"><link data-rh="true" rel="canonical" href="/docs/ik"></head>
<body><div role="region" aria-label="Skip to main content"><a class="skipToContent_x"
 href="#m">Skip to main content</a></div>
<nav class="navbar"><a href="/">Walking Machines</a></nav>
<div class="main-wrapper"><aside class="theme-doc-sidebar-container">
<ul class="menu__list"><li>Every chapter</li></ul></aside>
<main><div class="row"><div class="col"><div><article>
<nav class="theme-doc-breadcrumbs"><ul class="breadcrumbs"><li>Home</li></ul></nav>
<span class="theme-doc-version-badge badge">Version: 2</span>
<div class="tocCollapsible_a theme-doc-toc-mobile"><button>On this page</button></div>
<div class="theme-doc-markdown markdown"><header><h1>Inverse Kinematics</h1></header>
<p>A leg has <strong>three</strong> joints.<sup><a href="#user-content-fn-1" id="user-content-fnref-1" data-footnote-ref
 aria-describedby="footnote-label">1</a></sup></p>
<div class="theme-admonition theme-admonition-tip alert"><div
 class="admonitionHeading_x"><span><svg><text>i</text></svg></span>tip</div>
<div class="admonitionContent_x"><p>Start at the hip.</p></div></div>
<h2 class="anchor" id="hip">The hip<a href="#hip" class="hash-link" aria-label="Direct link">\u200b</a></h2>
<div class="language-py codeBlock"><div class="codeBlockTitle">leg.py</div><div
><pre tabindex="0"><code><span class="token-line">def hip():<br></span><span
 class="token-line">    return 1<br></span></code></pre><div class="buttonGroup"><button>Copy</button></div></div></div>
<div class="tabs-container">
<ul role="tablist"><li role="tab">A</li></ul><div><div role="tabpanel">Seen.</div><div role="tabpanel"
 hidden>Behind a tab.</div></div></div>
<details><summary>Proof</summary><div><p>By hand.</p></div></details>
<section data-footnotes="true" class="footnotes"><h2 class="anchor sr-only" id="footnote-label">Footnotes</h2><ol>
<li id="user-content-fn-1"><p>Some have four. <a
 href="#user-content-fnref-1" data-footnote-backref aria-label="Back">↩</a></p></li></ol></section>
</div><footer class="theme-doc-footer"><a class="theme-edit-this-page">Edit this page</a></footer></article>
<nav class="pagination-nav"><a href="/docs/next">Next: Gaits</a></nav></div></div>
<div class="col"><div class="table-of-contents">
<ul><li><a href="#hip">The hip</a></li></ul></div></div></div></main></div>
<footer class="footer">Copyright</footer><script>var x = "script";</script></body></html>"""


def read(page: str | bytes) -> Document:
    composer = Composer()
    html.parse(page.encode() if isinstance(page, str) else page, composer, ReadOptions())
    return composer.document(file_id="p", file_name="p.html", mime_type="text/html", sha256="0")


def texts(page: str) -> list[str]:
    return [text for _, text in blocks(read(page))]


def test_a_docusaurus_page_is_its_chapter_and_nothing_else() -> None:
    document = read(DOCUSAURUS)
    assert blocks(document) == [
        ("heading", "Inverse Kinematics"),
        ("paragraph", "A leg has three joints.[1]"),
        ("footnote", "[1] Some have four."),
        ("paragraph", "tip"),
        ("paragraph", "Start at the hip."),
        ("heading", "The hip"),
        ("paragraph", "leg.py"),
        ("code", "def hip():\n    return 1"),
        ("paragraph", "Seen."),
        ("paragraph", "Behind a tab."),
        ("paragraph", "Proof"),
        ("paragraph", "By hand."),
    ]
    assert document.blocks[-1].headings == ("Inverse Kinematics", "The hip")
    assert (document.title, document.author, document.language) == ("Inverse Kinematics", "R. Vega", "en")


def test_a_page_without_an_article_is_its_body_without_the_site() -> None:
    page = (
        "<body><header>Logo</header><nav>Menu</nav><div id=sidebar>Ads</div><form><p>Text.</p></form>"
        "<aside>More</aside><article>One</article><article>Two</article><footer>Imprint</footer></body>"
    )
    assert texts(page) == ["Text.", "One", "Two"]


def test_an_article_that_holds_little_of_the_prose_is_not_the_page() -> None:
    page = f"<main><p>{'Long prose. ' * 20}</p><article><p>See also.</p></article></main>"
    assert texts(page)[1] == "See also."


@pytest.mark.parametrize(
    ("head", "title"),
    [
        ("<title>Gaits - Walking Machines</title>", "Gaits"),
        ("<title>Trot and Amble | Walking Machines</title>", "Trot and Amble"),
        ("<title>Trot - Amble</title>", "Trot - Amble"),
        ("<title>Trot – WM</title><meta property=og:site_name content=WM>", "Trot"),
        ("<meta property=og:title content='Seen by others'><title>x</title>", "Seen by others"),
        ("", "Gaits"),
    ],
)
def test_titles_lose_the_name_of_the_site(head: str, title: str) -> None:
    assert read(f"<head>{head}</head><main><h1>Gaits</h1><p>x</p></main>").title == title


@pytest.mark.parametrize(
    ("markup", "expected"),
    [
        ("<p><b>H</b>ello <i>big</i>\n  world<br>again</p>", ["Hello big world \nagain"]),
        ("<p>Mill House<br>\n 4 Ford Lane<br><br/>Harrow<br></p>", ["Mill House \n4 Ford Lane \nHarrow"]),
        (
            "<p><img alt='A map of three fords.'></p><p>So <img alt='It is not so.'></p>",
            ["A map of three fords.", "So"],
        ),
        ("<figure><img alt='Sails of a mill.'><figcaption>The mill</figcaption></figure>", ["The mill"]),
        ("<figure><img alt='Sails of a mill.'></figure><p><img alt='mill.png'></p>", ["Sails of a mill."]),
        ("<h2>The<br>Mill</h2><pre>a <br>b</pre>", ["The Mill", "a\nb"]),
        ("<div>a<div>b</div>c <span>d</span><span>e</span></div>", ["a", "b", "c de"]),
        ("<p>one<p>two", ["one", "two"]),
        ("<p>un<!-- x -->broken <wbr>word</p>", ["unbroken word"]),
        ("<p>It costs <del>40</del> <ins>50</ins> <s>crowns</s><strike>.</strike> pence.</p>", ["It costs 50 pence."]),
        ("<p>He said <q>so</q>.</p>", ["He said “so”."]),
        ("<p>漢<ruby>字<rp>(</rp><rt>ji</rt></ruby>だ</p>", ["漢字だ"]),
        ("<p>a<img alt='picture'>b<svg><text>c</text></svg></p><p hidden>d</p><p style='display: none'>e</p>", ["ab"]),
        (
            "<p>a <math><msup><mn>10</mn><mn>3</mn></msup></math>, <math><mfrac><mn>1</mn><mn>2</mn></mfrac></math>,"
            " <math><mfrac><mrow><mi>a</mi><mo>+</mo><mi>b</mi></mrow><mn>2</mn></mfrac></math>,"
            " <math><msup><mi>x</mi><mrow><mi>n</mi><mo>+</mo><mn>1</mn></mrow></msup></math>,"
            " <math><msup><mn>10</mn><mrow><mo>−</mo><mn>3</mn></mrow></msup></math>,"
            " <math><msqrt><mi>x</mi><mo>+</mo><mn>1</mn></msqrt></math>,"
            " <math><mtable><mtr><mtd><mn>1</mn></mtd><mtd><mn>0</mn></mtd></mtr></mtable></math>"
            " <math><msup><mi>f</mi><mo>′</mo></msup></math></p>",
            ["a 10³, 1/2, (a+b)/2, x^(n+1), 10⁻³, √(x+1), 1 0 f′"],
        ),
        ("<p>x <math><mi>E</mi> <mo>=</mo> <mn>1</mn><annotation>TeX</annotation></math>.</p>", ["x E=1."]),
        (
            "<p><span class=katex><span class=katex-mathml><math><semantics><mi>y</mi><annotation>y</annotation>"
            "</semantics></math></span><span class=katex-html aria-hidden=true>y</span></span></p>",
            ["y"],
        ),
    ],
)
def test_spaces_are_those_that_a_reader_sees(markup: str, expected: list[str]) -> None:
    assert texts(markup) == expected


@pytest.mark.parametrize(
    ("markup", "expected"),
    [
        ("<ul><li>a<ul><li>b<p>more</p></li></ul></li><li><p>c</p></li></ul>", ["- a", "- b", "more", "- c"]),
        ("<ol start=3><li>a<li value=9>b<li>c</ol>", ["3. a", "9. b", "10. c"]),
        ("<ol reversed><li>a<li>b</ol>", ["2. a", "1. b"]),
        ("<ol type=a start=26><li>z<li>aa</ol>", ["z. z", "aa. aa"]),
        ("<ol type=I start=4><li>a</ol><ol type=i start=1999><li>b</ol>", ["IV. a", "mcmxcix. b"]),
        ("<ol style='list-style-type: lower-alpha'><li>x</ol><ul style='list-style:none'><li>y</ul>", ["a. x", "y"]),
        ("<ol><li><ol type=a><li>x</ol></li><li></li><li>y</ol>", ["1. a. x", "3. y"]),
    ],
)
def test_list_items_keep_their_markers(markup: str, expected: list[str]) -> None:
    assert blocks(read(markup)) == [("list", text) for text in expected]


@pytest.mark.parametrize(
    ("entries", "expected"),
    [
        (
            "<dt>\n <dfn>Gait</dfn>\n</dt>\n<dd>\n <p>A way to walk.</p><p>Horses have five.</p></dd><dt>Tack<dd>Gear.",
            ["Gait: A way to walk.", "Horses have five.", "Tack: Gear."],
        ),
        ("<dt>Stoat<dt><p>Ermine</p><dd>A small animal.<dd>Its fur.",
         ["Stoat, Ermine: A small animal.", "Stoat, Ermine: Its fur."]),
        ("<dt>Foot<dd>A part.<dl><dt>Hoof<dd>Horn.</dl><dd>End.", ["Foot: A part.", "Hoof: Horn.", "End."]),
        ("<dt>Bit<dd>Iron.<dd><ul><li>x</ul><dd><p>Rod.<p>Cast.<dl><dd>Loose.</dl>",
         ["Bit: Iron.", "- x", "Bit: Rod.", "Cast.", "Loose."]),
        ("<dt>Reef<dd>A knot.<p>Flat.</p><dt>Bend<dd>Another.", ["Reef: A knot.", "Flat.", "Bend: Another."]),
        (f"<dt>{'a' * 201}<dd>b<dd>c", [f"{'a' * 201}: b", "c"]),
        ("<dt>a" + "<dd>b" * 22, ["a: b"] * 20 + ["b"] * 2),
        ("<div><dt>Gait —</dt><dd>A pace.</dd></div><div><dt>Bit:</dt><dd>Iron.</dd></div>",
         ["Gait — A pace.", "Bit: Iron."]),
        ("<dt>Who may ride?</dt><dd>Any member.</dd>", ["Who may ride? Any member."]),
        ("<dt>Tack<dd><ul><li>saddle</ul><dt>Empty<dd><dt>Bit<dd>Iron.", ["Tack", "- saddle", "Empty", "Bit: Iron."]),
        ("<dt>Feet<dd><dl><dt>Hoof<dd>Of horn.</dl>", ["Feet", "Hoof: Of horn."]),
    ],
)  # fmt: skip
def test_a_term_stands_with_its_definition(entries: str, expected: list[str]) -> None:
    assert blocks(read(f"<dl>{entries}</dl>")) == [("list", text) for text in expected]


def test_links_into_a_glossary_still_lead_to_their_entries() -> None:
    page = (
        "<p>A<sup><a href='#n'>1</a></sup> and B<sup><a href='#m'>2</a></sup>.</p>"
        "<dl><dt id=n>1<dd>Note.<dt>2<dd id=m><p>Other.</p></dl><p>End.</p>"
    )
    assert texts(page) == ["A[1] and B[2].", "[1] Note.", "[2] Other.", "End."]


def test_kinds() -> None:
    page = (
        "<blockquote><p>Said.</p><ul><li>x</li></ul></blockquote><figure><img><figcaption>A leg.</figcaption></figure>"
        "<pre>a\n  b</pre><ol><li><pre>c</pre></li></ol>"
    )
    assert blocks(read(page)) == [
        ("quote", "Said."), ("list", "- x"), ("caption", "A leg."), ("code", "a\n  b"), ("code", "c"),
    ]  # fmt: skip


@pytest.mark.parametrize("tag", ["main", "article", "div role=main"])
def test_an_aside_of_the_text_is_text_and_one_of_the_site_is_not(tag: str) -> None:
    page = (
        f"<aside>Outside.</aside><{tag}><p>The kiln has one door, and it stays shut.</p>"
        "<aside class=warning><p>Glaze is poison. <a href=x>More</a></p><aside>Wash your hands.</aside></aside>"
        "<aside><ul><li><a href=a>Another kiln</a><li><a href=b>A wheel</a></ul></aside>"
        "<aside class=related-posts>Read on.</aside><aside><form>Write to us.</form></aside>"
        "<aside role=complementary>Buy clay.</aside>"
    )
    expected = ["The kiln has one door, and it stays shut.", "Glaze is poison. More", "Wash your hands."]
    assert texts(page) == expected


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        ("<tr><th>A<th>B</tr><tr><td>1<td>2<br>3</tr>", "A | B\n1 | 2 3"),
        ("<tr><td colspan=2>both<td>c</tr><tr><td>1<td>2<td>3</tr>", "both | | c\n1 | 2 | 3"),
        ("<tr><td rowspan=2>a<td>b</tr><tr><td>c</tr><tr><td>d<td>e</tr>", "a | b\na | c\nd | e"),
        ("<tr><td>a<td rowspan=9>b</tr><tr><td>c</tr><tr></tr><tr><td></tr>", "a | b\nc | b"),
        ("<tr><td>a<td colspan=2 rowspan=2>b<td>c</tr><tr><td>d<td>e</tr>", "a | b | | c\nd | b | | e"),
        ("<thead><tr><th rowspan=9>a<th>b</thead><tr><td>c<td>d</tr>", "a | b\nc | d"),
        (f"<tr><td rowspan=2>{'a ' * 101}<td>b</tr><tr><td>c</tr>", f"{'a ' * 101}| b\n| c"),
        ("<tr><td>x<td></tr><tr><td></td></tr><tr><td><td>y|z</tr>", "x |\n| y|z"),
        ("<tr><td><p>one</p><ul><li>two</ul><td>b</tr>", "one - two | b"),
        ("<tr><td colspan=99999999999>a<td rowspan=-1>b</tr>", "a" + " |" * 100 + " b"),
    ],
)
def test_a_table_is_one_block(rows: str, expected: str) -> None:
    assert blocks(read(f"<table><caption>T</caption>{rows}</table>")) == [("caption", "T"), ("table", expected)]


@pytest.mark.parametrize(
    ("head", "expected"),
    [
        ("<tr><th rowspan=2>Loom<th colspan=2>Warp<tr><th>Ends<th>Ply", "Loom | Warp: Ends | Warp: Ply"),
        ("<tr><th>Loom<th>Ends<th>Ply<tr><th><th>per cm<th>", "Loom | Ends: per cm | Ply"),
        ("<tr><th colspan=3>Looms<tr><th>Loom<th>Ends<th>Ply", "Looms\nLoom | Ends | Ply"),
        ("<tr><th>a<th>b<th>c" * 4, "\n".join(["a | b | c"] * 4)),
        (f"<tr><th>Loom<th colspan=2>{'w' * 201}<tr><th>a<th>b<th>c", f"Loom: a | {'w' * 201}: b | c"),
    ],
)
def test_two_rows_of_heads_are_read_as_one(head: str, expected: str) -> None:
    page = f"<table><thead>{head}<tbody><tr><td>A<td>12<td>2</table>"
    assert blocks(read(page)) == [("table", f"{expected}\nA | 12 | 2")]


def test_a_head_that_stands_alone_in_its_row_names_a_group_of_rows() -> None:
    page = (
        "<table><tr><th>Plan<th>Price<tr><th>Home<th><tr><td>Small<td>£5<tr><th>Business<th><tr><td>Max<td>£50</table>"
    )
    assert blocks(read(page)) == [("table", "Plan | Price\nHome |\nSmall | £5\nBusiness |\nMax | £50")]


def test_rows_of_heads_are_known_by_their_cells_where_no_head_is_marked() -> None:
    heads, row = "<tr><th rowspan=2>Loom<th colspan=2>Warp<tr><th>Ends<th>Ply", "<tr><th>A<td>12<td>2"
    assert texts(f"<table>{heads}{row}</table>") == ["Loom | Warp: Ends | Warp: Ply\nA | 12 | 2"]
    assert texts("<table><tr><th>Loom<th>Ends<tr><th>A<th>12</table>") == ["Loom | Ends\nA | 12"]
    page = "<table><tr><th>Loom<th>Ends<tr><th>A<td>1<tr><th>Wheel<th>Spokes<tr><th>B<th>2</table>"
    assert texts(page) == ["Loom | Ends\nA | 1\nWheel | Spokes\nB | 2"]


def test_a_merged_cell_is_repeated_with_its_note_but_in_measure() -> None:
    page = '<table><tr><td rowspan=2>a<sup><a href="#n">1</a></sup><td>b</tr><tr><td>c</tr></table><p id=n>1 Note.</p>'
    assert blocks(read(page)) == [("table", "a[1] | b\na[1] | c"), ("footnote", "[1] Note.")]
    page = "<table><tr><td rowspan=2><i role=doc-pagebreak title=7></i>a<td>b<tr><td><i role=doc-pagebreak title=8></i>"
    assert [page.page.label for page in read(page + "c").pages] == ["7", "8"]
    wide = "<tr>" + f"<td rowspan=100 colspan=100>{'a' * 200}" * 100
    page = f"<table>{wide}{'<tr><td>b' * 99}</table>" * 10
    assert sum(map(len, texts(page))) < 12 * len(page)


def test_tables_that_lay_out_a_page_are_no_tables() -> None:
    page = "<table><tr><td>menu</td><td><h1>Title</h1><p>One.</p><table><tr><td>a<td>b</table></td></tr></table>"
    assert blocks(read(page)) == [
        ("paragraph", "menu"), ("heading", "Title"), ("paragraph", "One."), ("table", "a | b"),
    ]  # fmt: skip
    assert blocks(read("<table><tr><td>Only one.</table>")) == [("paragraph", "Only one.")]
    prose = "The mill burned. " * 70
    long = blocks(read(f"<table><tr><td>menu<td><p>{prose}</p><p>{prose}</p></table>"))
    assert long == [("paragraph", "menu"), ("paragraph", prose.strip()), ("paragraph", prose.strip())]


@pytest.mark.parametrize(
    ("page", "expected"),
    [
        ("A bale of 10<sup>4</sup> reeds, 2 <i>km</i><sup>2</sup> wide.", "A bale of 10⁴ reeds, 2 km² wide."),
        ("10<sup>-3</sup> kg/m<sup>3</sup> at 9.8 m/s<sup>2</sup>, CO<sub>2</sub>", "10⁻³ kg/m³ at 9.8 m/s², CO2"),
        ("A loom<sup>2</sup> of the 1<sup>st</sup> kind, I'm<sup>4</sup>", "A loom2 of the 1st kind, I'm4"),
        ("10<sup><sup>3</sup></sup> or 10<sup>3<p>new", "10³ or 10³"),
    ],
)
def test_powers_keep_their_raised_digits(page: str, expected: str) -> None:
    assert texts(f"<p>{page}</p>")[0] == expected


def test_a_raised_link_behind_a_number_is_a_note() -> None:
    page = '<p>Built in 1902<sup><a href="#n">3</a></sup>.</p><p id=n>3 Or later.</p>'
    assert texts(page) == ["Built in 1902[3].", "[3] Or later."]


@pytest.mark.parametrize(
    "page",
    [
        # pandoc
        '<p>A<a href="#fn1" class="footnote-ref" id="fnref1" role="doc-noteref"><sup>1</sup></a>.</p><p>B</p>'
        '<section class="footnotes" role="doc-endnotes"><hr><ol><li id="fn1"><p>Note<a href="#fnref1" '
        'class="footnote-back" role="doc-backlink">↩︎</a></p></li></ol></section>',
        # markdown-it
        '<p>A<sup class="footnote-ref"><a href="#fn1" id="fnref1">[1]</a></sup>.</p><p>B</p><section class="footnotes">'
        '<ol><li id="fn1" class="footnote-item"><p>Note <a href="#fnref1" class="footnote-backref">↩︎</a></p></li></ol>',
        # Sphinx
        '<p>A<a class="footnote-reference brackets" href="#id2" id="id1" role="doc-noteref"><span>[</span>1'
        '<span>]</span></a>.</p><p>B</p><aside class="footnote brackets" id="id2" role="doc-footnote">'
        '<span class="label"><span>[</span><a role="doc-backlink" href="#id1">1</a><span>]</span></span>'
        "<p>Note</p></aside>",
        # no types at all, both links raised
        '<p>A<sup><a href="#n1" id="r1">1</a></sup>.</p><p>B</p><h2>Notes</h2>'
        '<p id="n1"><sup><a href="#r1">1</a></sup> Note</p>',
        # a way back before the note, as in wikis
        '<p>A<sup><a href="#n1" id="r1">1</a></sup>.</p><p>B</p><li id="n1"><b><a href="#r1">^</a></b> Note</li>',
        '<p>A<sup><a href="#n1" id="r1">1</a></sup>.</p><p>B</p><p id="n1">[1] <a href="#r1">↑</a> Note</p>',
        # a link that names its place
        '<p>A<a href="#n1"><sup>1</sup></a>.</p><p>B</p><p><a name="n1"></a>1. Note</p>',
    ],
)
def test_notes_follow_what_refers_to_them(page: str) -> None:
    assert blocks(read(page)) == [("paragraph", "A[1]."), ("footnote", "[1] Note"), ("paragraph", "B")]


def test_a_note_is_not_robbed_of_a_number_that_is_not_its_label() -> None:
    note = '<p id="n">1914 was a bad year<sup><a href="#m">2</a></sup>.</p><p id="m">Very.</p>'
    assert texts(f'<p>A<sup><a href="#n">1</a></sup></p>{note}') == ["A[1]", "[1] 1914 was a bad year[2].", "[2] Very."]


def test_a_note_to_a_heading_is_no_part_of_the_outline() -> None:
    document = read('<h1>Gaits<sup><a href="#n">1</a></sup></h1><p>Walk.</p><p id="n">Of dogs.</p>')
    assert blocks(document) == [("heading", "Gaits[1]"), ("footnote", "[1] Of dogs."), ("paragraph", "Walk.")]
    assert {block.headings for block in document.blocks} == {("Gaits",)}


def test_a_heading_that_is_only_a_reference_names_itself() -> None:
    document = read('<h1>\u200b<sup><a href="#n">1</a></sup></h1><p>Walk.</p><p id="n">Of dogs.</p>')
    assert document.blocks[0].headings == ("[1]",)


def test_verses_that_link_each_other_are_no_notes() -> None:
    page = '<p><sup><a id="v1" href="#w1">1</a></sup> In the</p><p><sup><a id="w1" href="#v1">2</a></sup> beginning</p>'
    assert texts(page) == ["1 In the", "2 beginning"]


def test_page_numbers_of_a_printed_book_are_labels_and_no_text() -> None:
    document = read(
        '<p>It was <span class="pagenum"><a id="Page_12">[Pg 12]</a></span>the mill of 1788.</p>'
        '<p class="pagenum">{13}</p>'
        '<p>It <span class="x-ebookmaker-pageno" title="14"><a id="Page_14"></a></span>burned.</p>'
        '<p class="pagenum">What is as long as this is no page number.</p>'
    )
    assert blocks(document) == [
        ("paragraph", "It was the mill of 1788."),
        ("paragraph", "It burned."),
        ("paragraph", "What is as long as this is no page number."),
    ]
    assert [(page.page.label, document.text[page.start :][:3]) for page in document.pages] == [
        ("12", "the"), ("13", "It "), ("14", "bur"),
    ]  # fmt: skip


def test_a_heading_that_is_clicked_to_open_its_section_is_a_heading() -> None:
    page = (
        "<h2><button aria-expanded=false>Lamps</button></h2><p>Oil.</p><h2>Horns <button>Copy</button></h2><p>Air.</p>"
    )
    assert blocks(read(page + "<div hidden=until-found><p>Fog.</p></div><div hidden><p>Never.</p></div>")) == [
        ("heading", "Lamps"), ("paragraph", "Oil."), ("heading", "Horns"), ("paragraph", "Air."), ("paragraph", "Fog."),
    ]  # fmt: skip


def test_dialogs_are_text_when_they_are_open() -> None:
    assert texts("<dialog>Cookies?</dialog><dialog open>Open.</dialog><p style='DISPLAY : none'>No.</p>") == ["Open."]


@pytest.mark.parametrize(
    ("head", "encoding", "text"),
    [
        ("<meta charset='windows-1251'>", "cp1251", "Привет, мир"),
        ('<meta http-equiv="Content-Type" content="text/html; charset=Shift_JIS">', "cp932", "吾輩は猫である"),
        ("<meta charset=latin1>", "cp1252", "“smart” café"),
        ("<meta charset=ascii>", "cp1252", "naïve €"),
        ("\ufeff<meta charset=latin1>", "utf-8", "naïve"),
        ("\ufeff", "utf-16-le", "naïve — 漢字"),
        ("", "utf-8", "naïve — emoji 🦀 עברית"),
        ("<meta charset=no-such-thing>", "utf-8", "naïve"),
        ("<meta charset=utf-16>", "utf-8", "naïve"),
        ("<meta charset=latin1>", "utf-8", "naïve"),
        ("<!-- <meta charset=koi8-r> --><meta charset=iso-8859-2>", "iso8859-2", "Łódź"),
        ('<?xml version="1.0" encoding="iso-8859-2"?><!doctype html>', "iso8859-2", "Łódź"),
        ("<meta charset=iso-2022-jp>", "iso2022-jp", "水車"),
    ],
)
def test_encodings(head: str, encoding: str, text: str) -> None:
    document = read(f"{head}<p>{text}".encode(encoding))
    assert document.text == text
    assert document.notices == ()


@pytest.mark.parametrize(
    "head", ['<?xml version="1.0"?><html>', '<!DOCTYPE html>\n<html xmlns="http://www.w3.org/1999/xhtml">']
)
def test_an_empty_element_of_xhtml_swallows_no_text(head: str) -> None:
    page = f'{head}<head><title/><script src="a.js"/></head><body><p><a id="here"/>It <b/>burns.<br/>Always.</p></body>'
    assert texts(page) == ["It burns. \nAlways."]


def test_invalid_bytes_are_reported() -> None:
    document = read("<p>café crème brûlée</p><p>à la carte".encode() + b"\xff</p>")
    assert "crème brûlée" in document.text
    assert "not valid UTF-8" in reasons(document)


def test_links_and_canonical_address() -> None:
    data = DOCUSAURUS.encode()
    assert html.canonical_url(data, "https://book.example/docs/ik/?x=1") == "https://book.example/docs/ik"
    assert html.canonical_url(b"<p>x") is None
    assert html.links(data, "https://book.example/docs/ik") == [
        "https://book.example/", "https://book.example/docs/next",
    ]  # fmt: skip
    page = b'<base href="/b/"><a href="x#1">1</a><a href=" x ">2</a><a href="http://[bad">3</a><area href="../y">'
    assert html.links(page, "https://a.example/z") == ["https://a.example/b/x", "https://a.example/y"]


@pytest.mark.parametrize("page", ["", "<p> </p>", "<frameset><frame src=x></frameset>", "\0\0"])
def test_pages_without_text_give_no_blocks(page: str) -> None:
    assert read(page).blocks == ()


@pytest.mark.parametrize(
    "page",
    [
        "<div>" * 100_000 + "x",
        "<div></span><!-- </div> --><script></div></script><i title='</div>'>" * 30_000,
        "<p>" + "".join(f"<b id={number}>" for number in range(2_000)) + "</p>" + "<p>x</p>" * 3_000,
    ],
    ids=["deep", "deep in disguise", "formatting"],
)
def test_markup_that_explodes_is_refused_at_once(page: str) -> None:
    began = time.perf_counter()
    with pytest.raises(UnreadableFileError) as caught:
        read(page)
    assert caught.value.reason == "bomb"
    assert time.perf_counter() - began < 20


def test_deep_but_bearable_nesting_is_read() -> None:
    assert texts("<div>" * 4_000 + "<p>deep</p>") == ["deep"]


def test_time_stays_in_proportion() -> None:
    """Nested tables, text between blocks far inside inline elements, and code of many spans are looked at once."""
    began = time.process_time()
    assert len(texts("<table><tr><td>" * 1_000 + "<p>x" * 20_000)) == 20_000
    assert len(texts("<span>" * 2_000 + "x<p>y</p>" * 10_000)) == 20_000
    assert len(texts("<pre>" + "<span>if</span> " * 100_000)[0]) == 299_999
    assert time.process_time() - began < 10


def test_unclosed_paragraphs_and_items_are_not_deep() -> None:
    assert len(read("<ul>" + "<li>x<p>y" * 10_000).blocks) == 20_000


def test_signs_beside_headings_are_no_words() -> None:
    sphinx = (
        "<title>Bells &#8212; Clocks 1.0 documentation</title><h1>Bells<a class=headerlink href=#a>¶</a></h1><p>Iron."
    )
    assert read(sphinx).title == "Bells"
    wiki = "<h1>Bells</h1><h2>Ropes<span class=mw-editsection>[<a href=/e>edit</a>]</span></h2><p>Hemp.</p>"
    assert [block.headings for block in read(wiki).blocks][-1] == ("Bells", "Ropes")
