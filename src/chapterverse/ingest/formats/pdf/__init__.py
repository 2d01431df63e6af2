"""PDF: glyphs on pages become paragraphs, headings, tables and notes that know their page.

file        bytes → an open document, or a typed refusal; metadata, page labels, bookmarks
page        one page → spans of words on a baseline, and the rulings drawn between them
rows        spans that share a baseline → cells
furniture   running heads and page numbers → taken out of the text, kept as page labels
layout      spans → lines in reading order, column by column, with tables cut out of them (`tables`)
notes       small lines under the text → footnotes, tied to their references
passages    lines → paragraphs, list items, captions, across columns and pages (`words` undoes hyphenation)
headings    bookmarks, or else type sizes → the outline
reader      the order of all this
"""

from chapterverse.ingest.formats.pdf.reader import parse

__all__ = ["parse"]
