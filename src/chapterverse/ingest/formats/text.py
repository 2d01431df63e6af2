"""Plain text: paragraphs between blank lines, chapters by their usual headings, pages by form feeds; or a table."""

from __future__ import annotations

import re

from chapterverse.ingest.composer import Composer
from chapterverse.ingest.formats.ooxml_text import table_text
from chapterverse.ingest.formats.separated import separated_values
from chapterverse.ingest.formats.text_pages import text_pages
from chapterverse.ingest.formats.western import western_encoding
from chapterverse.types import ReadOptions

_BOMS = (
    (b"\xef\xbb\xbf", "utf-8-sig"),
    (b"\xff\xfe\0\0", "utf-32"),
    (b"\0\0\xfe\xff", "utf-32"),
    (b"\xff\xfe", "utf-16"),
    (b"\xfe\xff", "utf-16"),
)
_ENCODINGS = (
    "cp1252 cp932 euc_jp gb18030 big5 cp949 cp1250 cp1251 cp1253 cp1254 cp1255 cp1256 cp1257 cp1258"
    " cp874 iso8859_2 koi8_r koi8_u".split()
)
"""What files that are not Unicode are written in, the likelier first; more candidates would make for more mistakes."""
_SAMPLE = 100_000
_JAPANESE = re.compile(rb"\x1b\$[@B].{1,200}?\x1b\([BJ]", re.DOTALL)
"""How Japanese mail is written: seven bits, with signs that change the character set."""
_PARAGRAPH = re.compile(r"\n[^\S\n]*\n\s*")
_NUMBER = (
    r"(?:[0-9]{1,3}|[ivxlcdm]{1,9}|[a-z]|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen"
    r"|fourteen|fifteen|sixteen|seventeen|eighteen|nineteen|twenty(?:-[a-z]+)?|the\s(?:first|second|third|last))"
)
_CHAPTER = re.compile(
    rf"(?:chapter|part|book|volume|letter|canto|act|appendix)\s+{_NUMBER}\b[.:]?(?:\s*[-–—:]?\s*\S.{{0,80}}(?<![.!?,;:]))?"
    r"|(?:prologue|epilogue|preface|foreword|introduction|afterword|contents|acknowledge?ments)[.:]?",
    re.IGNORECASE,
)
_TITLE = re.compile(r"^Title:[^\S\n]*(\S.*(?:\n[^\S\n]+\S.*){0,3})", re.MULTILINE)
_EARLY = 5000
"""Characters from the beginning, among which a library names the title of the book."""
_ROLE = re.compile(
    r"(?<![\w:`]):[a-z][\w+-]{0,30}(?::[\w+-]{1,30})?:`(?:([^`<]{1,200}?)\s*<[^`<>]{1,200}>|<?([^`<>]{1,200})>?)`"
)
"""A role of reStructuredText: `:ref:`words <target>``, or the target alone."""
_TERMINAL = re.compile(r".\x08(?!_)|\x08_|\x1b\[[0-9;?]*[@-~]")
"""How terminals and line printers were told of bold, underlined and coloured letters: struck twice, or by escapes."""
_UNDERLINE = re.compile(r"(={3,}|-{3,})\s*$")
_ITEM = re.compile(r"\s*(?:[-*•–]|\(?[0-9]{1,3}[.)]|\(?[a-z][.)])\s+\S")


def parse(data: bytes, composer: Composer, options: ReadOptions) -> None:  # noqa: ARG001 - one shape for all formats
    """Tell the composer about each paragraph."""
    text = decode(data, composer).replace("\r\n", "\n").replace("\r", "\n")
    text = _TERMINAL.sub("", text)
    if rows := separated_values(text):
        composer.add("table", table_text(rows))
        return
    text = _ROLE.sub(lambda role: role[1] or role[2], text)
    if title := _TITLE.search(text[:_EARLY]):
        composer.title = title[1]
    for number, page in enumerate(text_pages(text), 1):
        if "\f" in text:
            composer.page(number, page.label)
        for paragraph in _PARAGRAPH.split(page.text):
            _paragraph(paragraph.strip("\n"), composer)


def decode(data: bytes, composer: Composer) -> str:
    """The text of bytes whose encoding nobody states; what had to be guessed or lost is reported."""
    for mark, encoding in _BOMS:
        if data.startswith(mark):
            return data.decode(encoding, "replace")
    if 0 in data[:1024]:
        return data.decode("utf-16-be" if data[0] == 0 else "utf-16-le", "replace")
    if _JAPANESE.search(data, 0, _SAMPLE) and data.isascii():
        return data.decode("iso2022_jp", "replace")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        return _guess(data, error, composer)


def _guess(data: bytes, error: UnicodeDecodeError, composer: Composer) -> str:
    if _mostly_utf8(data, error):
        text = data.decode("utf-8", "replace")
        lost = text.count("\ufffd")
        composer.warn(f"{lost} bytes are not valid UTF-8 (the first at byte {error.start}); they read as \ufffd.")
        return text
    sample = data[max(0, error.start - 200) : error.start + _SAMPLE]
    encoding = western_encoding(sample) or _likeliest_encoding(sample)
    composer.warn(f"The text is not UTF-8; it was read as {encoding}.")
    return data.decode(encoding, "replace")


def _likeliest_encoding(sample: bytes) -> str:
    """The encoding whose text looks best; of several that do equally well, the most common one."""
    from charset_normalizer import from_bytes

    matches = from_bytes(sample, cp_isolation=_ENCODINGS)
    best = matches.best()
    if best is None:
        return _ENCODINGS[0]
    equal = {
        encoding
        for match in matches
        if (match.chaos, match.coherence) == (best.chaos, best.coherence)
        for encoding in (match.encoding, *(twin.encoding for twin in match.submatch))
    }
    return min(equal, key=_ENCODINGS.index)


def _mostly_utf8(data: bytes, error: UnicodeDecodeError) -> bool:
    """A few bad bytes among good multi-byte characters mean damaged UTF-8, not another encoding."""
    sample = data[max(0, error.start - _SAMPLE) : error.start + _SAMPLE].decode("utf-8", "replace")
    good = sum(1 for char in sample if char > "\x7f" and char != "\ufffd")
    return good > 2 * sample.count("\ufffd")


def _paragraph(text: str, composer: Composer) -> None:
    lines = text.split("\n") if len(text) < 20_000 else [text]
    if len(lines) == 2 and (rule := _UNDERLINE.match(lines[1])) and len(lines[0]) <= 100:
        composer.heading(lines[0], 1 if rule.group(1)[0] == "=" else 2)
    elif len(lines) <= 2 and _CHAPTER.fullmatch(" ".join(lines).strip()):
        composer.heading(text, 1)
    elif sum(1 for line in lines if _ITEM.match(line)) >= 2:
        _items(lines, composer)
    else:
        composer.add("paragraph", text)


def _items(lines: list[str], composer: Composer) -> None:
    """A list: each marked line opens an item, the lines below it belong to it."""
    items: list[list[str]] = [[]]
    for line in lines:
        if _ITEM.match(line):
            items.append([])
        items[-1].append(line)
    for item in items:
        text = " ".join(item)
        composer.add("list" if _ITEM.match(text) else "paragraph", text)
