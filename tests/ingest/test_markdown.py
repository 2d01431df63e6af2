"""Markdown becomes what a reader sees, block by block."""

from __future__ import annotations

from chapterverse.ingest.sentences import sentences, split
from tests.ingest.reading import blocks, parse


def read(text: str) -> list[tuple[str, str]]:
    return blocks(parse(text.encode(), "book.md"))


def test_headings_make_the_outline() -> None:
    document = parse(b"# One\n\nA.\n\n## Two *em*\n\nB.\n\nThree\n=====\n\nC.\n", "book.md")
    assert [(document.text[b.start : b.end], b.headings) for b in document.blocks] == [
        ("One", ("One",)),
        ("A.", ("One",)),
        ("Two em", ("One", "Two em")),
        ("B.", ("One", "Two em")),
        ("Three", ("Three",)),
        ("C.", ("Three",)),
    ]


def test_numbers_tell_what_lies_under_what_where_levels_do_not() -> None:
    titles = ["1 Air", "1.1. Soot", "Step 1.1.1. Filters", "Act 1.1.1.1 Buy", "Step 1.1.2. Fines", "Costs", "1.2 Ash"]
    text = "".join(f"## {title}\n\n" for title in [*titles, "11.2 Ice", "Appendix B", "B.1 Maps"])
    document = parse(text.encode(), "book.md")
    assert [block.headings for block in document.blocks] == [
        ("1 Air",),
        ("1 Air", "1.1. Soot"),
        ("1 Air", "1.1. Soot", "Step 1.1.1. Filters"),
        ("1 Air", "1.1. Soot", "Step 1.1.1. Filters", "Act 1.1.1.1 Buy"),
        ("1 Air", "1.1. Soot", "Step 1.1.2. Fines"),
        ("Costs",),
        ("1.2 Ash",),
        ("11.2 Ice",),
        ("Appendix B",),
        ("Appendix B", "B.1 Maps"),
    ]


def test_markup_goes_and_words_stay_apart() -> None:
    text = "A **bold** [link](http://x.example/y) and `code`,\nnext line<br>after, ![alt](x.png)~~gone~~"
    text += " &amp; \\*star\\*."
    assert read(text) == [("paragraph", "A bold link and code, next line \nafter, & *star*.")]


def test_lines_that_the_author_ends_stay_lines_and_are_one_sentence() -> None:
    text = "The rose is red,  \nthe violet\nblue,\\\nthe lily white. I\\\nknow.\n\n- Write to:<br>4 Ford Lane\n"
    text += "\n# The<br>Mill\n\n| a<br>b |   |\n|---|---|\n| c |   |\n| d | e |\n\n    vcs log \n    vcs show\n"
    document = parse(text.encode(), "book.md")
    assert blocks(document) == [
        ("paragraph", "The rose is red, \nthe violet blue, \nthe lily white. I \nknow."),
        ("list", "- Write to: \n4 Ford Lane"),
        ("heading", "The Mill"),
        ("table", "a b | \nc | \nd | e"),
        ("code", "vcs log\nvcs show"),
    ]
    cut = ["The rose is red, \nthe violet blue, \nthe lily white.", "I \nknow.", "- Write to: \n4 Ford Lane"]
    cut += ["The Mill", "a b |", "c |", "d | e", "vcs log", "vcs show"]
    assert [document.text[start:end] for start, end in sentences(document)] == cut
    assert [document.text[start:end] for start, end in split(document.text)] == cut


def test_what_is_struck_out_is_gone_with_its_notes_and_powers_are_raised() -> None:
    text = "Oil ~~the *old*[^1] hinge~~ <s>twice <del>or</del> thrice</s> once, ~~~but <s>only `</s>` ~~then."
    assert read(text + "\n\n[^1]: Gone.") == [("paragraph", "Oil once, ~~~but only </s> ~~then.")]
    text = "It holds 10<sup>3</sup> pins<sup>2</sup> on 4 cm<sup>2</sup>.</sup>"
    assert read(text) == [("paragraph", "It holds 10³ pins2 on 4 cm².")]


def test_lists_keep_their_markers_and_nesting() -> None:
    text = "3. three\n   still three\n4. four\n   - sub\n\n   second paragraph\n\n* star\n"
    assert read(text) == [
        ("list", "3. three still three"),
        ("list", "4. four"),
        ("list", "- sub"),
        ("list", "second paragraph"),
        ("list", "- star"),
    ]


def test_list_items_are_tight_and_other_blocks_apart() -> None:
    document = parse(b"Intro.\n\n- a\n- b\n\nOutro.\n", "book.md")
    assert document.text == "Intro.\n\n- a\n- b\n\nOutro."


def test_a_term_stands_with_its_definition() -> None:
    text = "*Gait*[^1]\n: A way\n  to walk.\n\n  Horses have five.\n\n: A pace.\n\nTack:\n: - saddle\n  - bridle\n\n"
    assert read(text + "After.\n\n[^1]: Old.\n\n- Bit\n  : A mouthpiece.\n\nTold\n: ~~~\n  code\n  ~~~\n") == [
        ("paragraph", "Gait[1]: A way to walk."),
        ("footnote", "[1] Old."),
        ("paragraph", "Horses have five."),
        ("paragraph", "Gait: A pace."),
        ("paragraph", "Tack:"),
        ("list", "- saddle"),
        ("list", "- bridle"),
        ("paragraph", "After."),
        ("list", "- Bit: A mouthpiece."),
        ("paragraph", "Told:"),
        ("code", "code"),
    ]


def test_tables_are_rows() -> None:
    assert read("| Tower | Drop |\n|---|--:|\n| Stennet | 48 |\n| *Tollen* | |\n") == [
        ("table", "Tower | Drop\nStennet | 48\nTollen |"),
    ]


def test_a_note_of_a_heading_is_no_part_of_its_title() -> None:
    document = parse(b"# Hulls[^1]\n\nIron.\n\n[^1]: See there.\n", "book.md")
    assert blocks(document) == [("heading", "Hulls[1]"), ("footnote", "[1] See there."), ("paragraph", "Iron.")]
    assert {block.headings for block in document.blocks} == {("Hulls",)}


def test_footnotes_stand_after_the_block_that_refers_to_them() -> None:
    text = "One[^a] and two.\n\nNext[^b].\n\n[^b]: Second note.\n[^a]: First *note*,\n    continued.\n"
    assert read(text) == [
        ("paragraph", "One[a] and two."),
        ("footnote", "[a] First note, continued."),
        ("paragraph", "Next[b]."),
        ("footnote", "[b] Second note."),
    ]


def test_code_keeps_its_lines_and_quotes_are_quotes() -> None:
    assert read("```python\nif x:\n    y = 1\n```\n\n> Said\n> he.\n") == [
        ("code", "if x:\n    y = 1"),
        ("quote", "Said he."),
    ]


def test_captions() -> None:
    assert read("*Figure 3.1. Lines compared.*\n\n*Only emphasis.*\n") == [
        ("caption", "Figure 3.1. Lines compared."),
        ("paragraph", "Only emphasis."),
    ]


def test_front_matter_is_metadata() -> None:
    document = parse(b"---\ntitle: 'The Book'\nauthor: A. Writer\nlang: en\n---\n\n# Ch\n\nText.\n", "b.md")
    assert (document.title, document.author, document.language) == ("The Book", "A. Writer", "en")
    assert document.text == "Ch\n\nText."


def test_myst_directives_and_roles() -> None:
    text = (
        "(target-label)=\n# Title\n\nSee {ref}`the guide<target-label>` or {term}`data`.\n\n"
        "```{admonition} Be careful\n:class: tip\n\nHot *surface*.\n```\n\n"
        "```{figure} a.png\n---\nname: fig\n---\nA caption.\n```\n\n```{tableofcontents}\n```\n"
    )
    assert read(text) == [
        ("heading", "Title"),
        ("paragraph", "See the guide or data."),
        ("paragraph", "Be careful"),
        ("paragraph", "Hot surface."),
        ("caption", "A caption."),
    ]


def test_roles_leave_no_markup() -> None:
    text = (
        "(ford)=\n# The Ford\n\nIt sank {cite}`kell98,tate_04`, as {cite:t}`marl` says in {numref}`Figure %s <ford>`."
    )
    text += " See :ref:`the map <ford>`, :ref:`ford`, :doc:`a/b` and {eq}`sum`; a ratio 3:re:`x`."
    assert read(text)[-1] == (
        "paragraph",
        "It sank [kell98, tate_04], as [marl] says in Figure The Ford."
        " See the map, The Ford, a/b and sum; a ratio 3:re:x.",
    )


def test_references_without_words_read_as_what_they_point_to() -> None:
    text = (
        "(rr-plan)=\n(plan)=\n\n# The *Data* Plan\n\nSimilar to a [](#rr-plan), or {ref}`plan`, is {ref}`<plan>`.\n\n"
        ":::{note} In [](#plan)\n:::\n\n```{figure} x.png\nSee [](#PLAN)\n```\n\n"
        "| a | b |\n|---|---|\n| [](#plan) | x[^1] |\n\n[^1]: As [](#plan) says.\n"
    )
    assert read(text) == [
        ("heading", "The Data Plan"),
        ("paragraph", "Similar to a The Data Plan, or The Data Plan, is The Data Plan."),
        ("paragraph", "In The Data Plan"),
        ("caption", "See The Data Plan"),
        ("table", "a | b\nThe Data Plan | x[1]"),
        ("footnote", "[1] As The Data Plan says."),
    ]


def test_references_to_other_files_get_no_words_of_ours() -> None:
    text = "A [](#rr-rdm-dmp), [](../a/field%20notes.md), [](x.md#plan), {doc}`../old_maps`, {ref}`er-self`."
    told = "A rr-rdm-dmp, ../a/field notes.md, x.md#plan, ../old_maps, er-self."
    assert read(text) == [("paragraph", told)]
    assert read("(plan)=\n# Ours\n\nSee [](plan), not [](plan.md) or [](x.md#plan).")[-1] == (
        "paragraph", "See Ours, not plan.md or x.md#plan.",
    )  # fmt: skip
    text = "At [](https://x.example/a-b), [](doi:10.5/a-b), [![badge](b.png)](https://x.example/), [](<>) `{ref}`."
    assert read(text) == [("paragraph", "At https://x.example/a-b, doi:10.5/a-b, , {ref}.")]


def test_a_label_above_an_endless_heading_is_read_in_time() -> None:
    assert read("(a)=\n# x" + " " * 100_000 + "y #\n\nSee [](#a).")[-1] == ("paragraph", "See a.")


def test_docusaurus_admonitions_and_mdx() -> None:
    text = "import Tabs from '@theme/Tabs';\n\n# T\n\n:::note Careful\n\nInside.\n\n:::\n\n<div><b>Raw</b> html</div>\n"
    assert read(text) == [
        ("heading", "T"),
        ("paragraph", "Careful"),
        ("paragraph", "Inside."),
        ("paragraph", "Raw html"),
    ]


def test_only_lines_of_mdx_are_left_out() -> None:
    text = (
        "import {Tide, Ebb} from \"@site/tides\";\nimport Map from './map.js'\nexport const depth = 3;\n"
        "export default ({children}) => <main>{children}</main>;\n\nexport default Layout;\n\nBelow.\n\n"
        "```js\nimport Map from './map.js';\nexport default Map;\n```\n\n"
        "```python\nimport tides\nfrom tides import ebb\n```\n\n"
        "import goods from abroad only with a licence.\n\nexport default settings before you go on,\n"
        "import them from the file 'ford'\n\n- import Tide from 'tides'\n"
    )
    assert read(text) == [
        ("paragraph", "Below."),
        ("code", "import Map from './map.js';\nexport default Map;"),
        ("code", "import tides\nfrom tides import ebb"),
        ("paragraph", "import goods from abroad only with a licence."),
        ("paragraph", "export default settings before you go on, import them from the file 'ford'"),
        ("list", "- import Tide from 'tides'"),
    ]


def test_mkdocs_admonitions_are_paragraphs_under_their_title() -> None:
    text = (
        '!!! danger "Low *bridge*"\n    Lower the mast.\n\n    - Wait.\n\n    Then go on.\n\nAfter.\n\n'
        "???+ tip\n\n    Ask the keeper.\n\n"
        '- Item\n\n    !!! note ""\n        Inside.\n\n'
        "!!! hurrah\nfor the crew\n\n??? who knows\n"
    )
    assert read(text) == [
        ("paragraph", "Low bridge"),
        ("paragraph", "Lower the mast."),
        ("list", "- Wait."),
        ("paragraph", "Then go on."),
        ("paragraph", "After."),
        ("paragraph", "Tip"),
        ("paragraph", "Ask the keeper."),
        ("list", "- Item"),
        ("list", "Inside."),
        ("paragraph", "!!! hurrah for the crew"),
        ("paragraph", "??? who knows"),
    ]


def test_alerts_are_paragraphs_under_their_label() -> None:
    text = "> [!WARNING]\n> Mind the *gap*.\n>\n> It is wide.\n\n> [!tip]- Old `rope`\n\n> Said.\n>\n> [a] so\n"
    assert read(text) == [
        ("paragraph", "Warning"),
        ("paragraph", "Mind the gap."),
        ("paragraph", "It is wide."),
        ("paragraph", "Old rope"),
        ("quote", "Said."),
        ("quote", "[a] so"),
    ]


def test_attributes_of_headings_are_no_text() -> None:
    text = "(lock)=\n# The lock {#lock .wide}\n\n[](#lock)\n\n## Keys {-}\n\n## Set {a, b}\n\n## {#only}\n"
    assert [words for _, words in read(text)] == ["The lock", "The lock", "Keys", "Set {a, b}"]


def test_raw_html_is_read_as_html() -> None:
    text = (
        "<table>\n<tr><th>Code</th><th>Text</th></tr>\n\n<tr><td>X1</td><td>Lid <b>open</b></td></tr>\n</table>\n\n"
        "- Do:\n\n  <div>this</div>\n\n<ol start=3><li>one<li>two</ol>\n\n<!-- no -->\n\n<script>x</script>\n"
    )
    assert read(text) == [
        ("table", "Code | Text\nX1 | Lid open"),
        ("list", "- Do:"),
        ("list", "this"),
        ("list", "3. one"),
        ("list", "4. two"),
    ]


def test_line_endings_of_windows_change_nothing() -> None:
    text = (
        "---\ntitle: The Ford\nauthor: 'A. Writer'\n---\n\nimport Tabs from '@theme/Tabs';\n\n"
        "(ford)=\n# The ford {#f}\n\n"
        "Red,  \nblue\\\ngreen\nand *more*, see {ref}`ford`[^1].\n\n[^1]: A note\n    of two lines.\n\n"
        "- one\n- two\n\n  more\n\n3) three\n\n| a | b |\n|---|---|\n| c | d |\n\n```python\nif x:\n    y\n```\n\n"
        "    indented\n    code\n\n> [!NOTE]\n> Mind it.\n\n> A quote\n> goes on.\n\n!!! tip\n    Ask.\n\n"
        ":::note Careful\n\nInside.\n\n:::\n\n```{admonition} Hot\n:class: tip\n\nVery.\n```\n\n"
        "```{figure} a.png\n---\nname: x\n---\nA caption.\n```\n\nGait\n: A way to walk.\n\n<div>\nraw\n</div>\n\n"
        "Below\n=====\n\n*Figure 1. Lines.*\n"
    )
    expected, found = (parse(text.replace("\n", end).encode(), "book.md") for end in ("\n", "\r\n"))
    assert (found.text, found.blocks) == (expected.text, expected.blocks)
    assert (found.title, found.author) == (expected.title, expected.author) == ("The Ford", "A. Writer")
    assert "\r" not in found.text


def test_a_picture_alone_is_told_by_its_words_if_they_are_a_sentence() -> None:
    text = "![A map of the three fords.](m.png)\n\n![m.png](m.png) ![The old mill](o.png)\n\n"
    text += (
        "Press ![The key with a red dot.](k.png) now, as [told](https://x.example/a) at https://x.example/b_c_d.\n\n"
    )
    text += '- ![A boat lies on sand.](b.png)\n\n<p><img src="n.png" alt="A net hangs to dry."></p>\n'
    assert read(text) == [
        ("caption", "A map of the three fords."),
        ("paragraph", "Press now, as told at https://x.example/b_c_d."),
        ("list", "- A boat lies on sand."),
        ("caption", "A net hangs to dry."),
    ]


def test_underscores_inside_of_a_name_are_no_emphasis() -> None:
    assert read("The max_retry_count is _five_, not `pool_size`.") == [
        ("paragraph", "The max_retry_count is five, not pool_size.")
    ]


def test_deep_nesting_and_odd_input_end() -> None:
    assert read("> " * 5000 + "deep\n\nAfter.")[-1] == ("paragraph", "After.")
    assert read("[" * 20_000) == [("paragraph", "[" * 20_000)]
    assert read("*a " * 20_000)[0][1].startswith("*a *a")


def test_tabs_of_mkdocs_are_no_code() -> None:
    text = (
        'Or:\n\n=== "On *here*"\n\n    Install it.\n\n    - One\n\n    ``` sh\n    apt\n    ```\n\n\n    Go.\n\n'
        '=== "Mac"\n\n    !!! note\n        Mind it.\n\nAfter.\n\n=== "Prose"\n\nTitle\n===\n'
    )
    assert read(text) == [
        ("paragraph", "Or:"),
        ("paragraph", "On here"),
        ("paragraph", "Install it."),
        ("list", "- One"),
        ("code", "apt"),
        ("paragraph", "Go."),
        ("paragraph", "Mac"),
        ("paragraph", "Note"),
        ("paragraph", "Mind it."),
        ("paragraph", "After."),
        ("paragraph", '=== "Prose"'),
        ("heading", "Title"),
    ]


def test_links_between_pages_are_their_words() -> None:
    text = "See [[Great Bell|the great one]], [[Ropes]], [[Ropes#Hemp]] and [[#Oak]].\n\n![[bell.png]]\n\n"
    kept = "The matrix [[1, 2]], `[[code]]` and [[words](https://example.org)] stay; so does [[ -f x ]]."
    assert read(text + kept) == [
        ("paragraph", "See the great one, Ropes, Ropes > Hemp and Oak."),
        ("paragraph", "The matrix [[1, 2]], [[code]] and [words] stay; so does [[ -f x ]]."),
    ]


def test_what_is_written_for_machines_is_no_text() -> None:
    text = (
        '{: .no_toc }\n\n{/* to\nbe done */}\n\n%% to be\ndone %%\n\n1. one\n{:start="3"}\n\n* TOC\n{:toc}\n\n'
        "[Button](#){ .md-button #go } and %%hidden%%words{.wide}, 5%% of {props.value}, {} and {.5}; 6%% more.\n\n"
        "```\n%%time\n%%sh {: .x }\n```\n"
    )
    assert read(text) == [
        ("list", "1. one"),
        ("list", "- TOC"),
        ("paragraph", "Button and words, 5%% of {props.value}, {} and {.5}; 6%% more."),
        ("code", "%%time\n%%sh {: .x }"),
    ]


def test_edits_are_accepted_and_marks_are_no_text() -> None:
    text = (
        "# A ==great== hull\n\nIt is {++**iron**++}{--wood--}, {~~5~>6~~} m{>>sure?<<} {==long==};"
        " ==plates== of ==an *inch*==.\n\n"
        "`{++code++}` and `a ==b== c`, if a == b and c == d or x==y==z.\n"
    )
    assert read(text) == [
        ("heading", "A great hull"),
        ("paragraph", "It is iron, 6 m long; plates of an inch."),
        ("paragraph", "{++code++} and a ==b== c, if a == b and c == d or x==y==z."),
    ]


def test_tags_and_comments_of_site_generators_are_no_text() -> None:
    text = (
        '{% include note.html text="x" %}\n\n{%- if sails -%}It sails.{% endif %} {{ page.date }}{{< ref "x" >}}\n\n'
        "{% comment %} not\nyet {% endcomment %}\n\n% a comment\n% of two lines\n\n"
        '+++ {"tags": ["x"]}\n\n5\n% of them.\n\n`{% raw %}`\n\n+++\n\n```\n% {% raw %}\n```\n'
    )
    assert read(text) == [
        ("paragraph", "It sails. {{ page.date }}"),
        ("paragraph", "5 % of them."),
        ("paragraph", "{% raw %}"),
        ("code", "% {% raw %}"),
    ]
    assert read("% The Hull\n% Ada Keeper\n") == [("paragraph", "% The Hull % Ada Keeper")]


def test_toml_front_matter_is_front_matter() -> None:
    document = parse(b'+++\ntitle = "Hulls"\nauthor = "Ada Keeper"\ndraft = true\n+++\n\nIron.\n', "book.md")
    assert (document.title, document.author, document.text) == ("Hulls", "Ada Keeper", "Iron.")


def test_tables_of_myst_are_tables() -> None:
    listed = "* - Hull\n  - Plates\n* - *Dido*\n  - 12\n\n    of iron\n* - Ajax\n  -\n"
    text = f"```{{list-table}} Of hulls\n:header-rows: 1\n\n{listed}```\n\n"
    text += '```{csv-table} Of masts\n:header: Hull, Masts\n\n"Dido, old", 3\nAjax, 2\n```\n\n'
    text += "```{list-table} None\n- One.\n```\n\n```{csv-table}\n" + "x" * 200_000 + "\n```\n"
    assert read(text) == [
        ("caption", "Of hulls"),
        ("table", "Hull | Plates\nDido | 12 of iron\nAjax |"),
        ("caption", "Of masts"),
        ("table", "Hull | Masts\nDido, old | 3\nAjax | 2"),
        ("paragraph", "None"),
        ("list", "- One."),
        ("paragraph", "x" * 200_000),
    ]
