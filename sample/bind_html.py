"""Binds one self-contained HTML page."""

from __future__ import annotations

from xml.sax.saxutils import escape

from manuscript import Book
from markup import Markup

STYLE = """\
body { max-width: 36em; margin: 2em auto; padding: 0 1em; font: 1.1em/1.55 Georgia, serif; color: #222; }
h1 { font-weight: normal; margin-top: 3em; }
h2 { font-size: 1.15em; margin-top: 2em; }
figcaption, caption { font-style: italic; font-size: 0.9em; text-align: left; margin: 0.5em 0; }
table { border-collapse: collapse; font-size: 0.9em; margin: 1.5em 0; }
th, td { text-align: left; padding: 0.2em 1em 0.2em 0; vertical-align: top; }
thead th, tbody tr:last-child td { border-bottom: 1px solid #888; }
.notes { margin-top: 2em; border-top: 1px solid #ccc; font-size: 0.85em; }
sup { line-height: 0; }
"""


def bind(book: Book) -> str:
    markup = Markup()
    contents = "\n".join(
        f'<li><a href="#chapter-{number}">{escape(chapter.title.plain)}</a></li>'
        for number, chapter in enumerate(book.chapters, 1)
    )
    chapters = "\n\n".join(
        f'<article id="chapter-{number}">\n{markup.chapter(chapter, f"chapter-{number}")}\n</article>'
        for number, chapter in enumerate(book.chapters, 1)
    )
    return f"""\
<!DOCTYPE html>
<html lang="en-GB">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="author" content="{escape(book.author)}">
<title>{escape(book.title)}</title>
<style>
{STYLE}</style>
</head>
<body>
<main>
<article id="front">
{markup.chapter(book.front, "front")}
</article>

<nav aria-label="Contents">
<ol>
{contents}
</ol>
</nav>

{chapters}
</main>
</body>
</html>
"""
