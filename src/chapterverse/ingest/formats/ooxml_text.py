"""Small facts about characters that Office files rely on: how numbers are written, and what symbol fonts draw."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

_ROMAN = ((1000, "m"), (900, "cm"), (500, "d"), (400, "cd"), (100, "c"), (90, "xc"), (50, "l"), (40, "xl"),
          (10, "x"), (9, "ix"), (5, "v"), (4, "iv"), (1, "i"))  # fmt: skip
_ONES = ("", *"One Two Three Four Five Six Seven Eight Nine Ten Eleven Twelve Thirteen Fourteen Fifteen Sixteen "
         "Seventeen Eighteen Nineteen".split())  # fmt: skip
_TENS = ("", "", *"Twenty Thirty Forty Fifty Sixty Seventy Eighty Ninety".split())


def _letters(number: int) -> str:
    """a … z, aa, bb …: Office repeats the letter."""
    return chr(ord("a") + (number - 1) % 26) * ((number + 25) // 26)


def _roman(number: int) -> str:
    text = ""
    for size, digits in _ROMAN:
        text += digits * (number // size)
        number %= size
    return text


def _ordinal(number: int) -> str:
    ending = "th" if number % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{ending}"


def _words(number: int) -> str:
    if number < 20:
        return _ONES[number]
    return _TENS[number // 10] + (f"-{_ONES[number % 10].lower()}" if number % 10 else "")


_WRITTEN: dict[str, tuple[int, Callable[[int], str]]] = {
    "lowerLetter": (26 * 10, _letters),
    "upperLetter": (26 * 10, lambda number: _letters(number).upper()),
    "lowerRoman": (3999, _roman),
    "upperRoman": (3999, lambda number: _roman(number).upper()),
    "ordinal": (1_000_000, _ordinal),
    "cardinalText": (99, _words),
    "decimalZero": (1_000_000, lambda number: f"{number:02}"),
    "decimalEnclosedCircle": (20, lambda number: chr(0x2460 + number - 1)),
}


def numeral(number: int, style: str) -> str:
    """A number in the way a WordprocessingML format word asks; plain digits where it knows no better."""
    most, write = _WRITTEN.get(style, (0, str))
    return write(number) if 1 <= number <= most else str(number)


# The Symbol font from 0x20 and from 0xA0; the pieces that build tall brackets are given as the whole bracket.
_SYMBOL = dict(
    enumerate(" !∀#∃%&∋()∗+,−./0123456789:;<=>?≅ΑΒΧΔΕΦΓΗΙϑΚΛΜΝΟΠΘΡΣΤΥςΩΞΨΖ[∴]⊥_‾αβχδεφγηιϕκλμνοπθρστυϖωξψζ{|}∼", 0x20)
) | dict(
    enumerate("€ϒ′≤⁄∞ƒ♣♦♥♠↔←↑→↓°±″≥×∝∂•÷≠≡≈…|—↵ℵℑℜ℘⊗⊕∅∩∪⊃⊇⊄⊂⊆∈∉∠∇®©™∏√⋅¬∧∨⇔⇐⇑⇒⇓◊⟨®©™∑((([[[{{{|□⟩∫∫∫∫)))]]]}}}", 0xA0)
)
_WINGDINGS = dict(
    zip(
        b' !"(*EFGHJKLNQRTUVlmnopqrstuvwxz\x9e\x9f\xa0\xa1\xa4\xa7\xa8\xaa\xab\xac\xad\xae\xb1\xd8\xdc'
        b"\xdf\xe0\xe1\xe2\xe8\xef\xf0\xf1\xf2\xf3\xfb\xfc\xfd\xfe",
        " ✏✂☎✉☜☞☝☟☺😐☹☠✈☼❄✝✞●❍■□□❑❒⬧⧫◆❖⬥⌧⌘·•▪○◉▪◻✦★✶✴✹⌖➢➲←→↑↓➔⇦⇨⇧⇩⇔✗✓☒☑",
        strict=True,
    )
) | {0x80 + number: chr(0x245F + number) for number in range(1, 11)}
_FONTS = {
    "symbol": _SYMBOL,
    "wingdings": _WINGDINGS,
    "wingdings 2": dict(zip(b"OPQRST\x95\x96\x97\x98\xa2\xa3", "✗✓☒☑☒☒•●●●■□", strict=True)),
    "webdings": dict(zip(b"ar356<gc", "✓✗◀▼▲■■□", strict=True)),
}
_PRIVATE = re.compile("[\uf020-\uf0ff]")
UNKNOWN_SYMBOL = "□"


def symbol(code: int, font: str | None) -> str:
    """The character that a symbol font draws for a code, which Office files shift into the private use area."""
    table = _FONTS.get((font or "symbol").lower())
    if 0xF020 <= code <= 0xF0FF:
        return (table or {}).get(code - 0xF000, UNKNOWN_SYMBOL)
    if table is not None and code <= 0xFF:
        return table.get(code, UNKNOWN_SYMBOL)
    return chr(code) if 0x20 <= code < 0xD800 or 0xE000 <= code <= 0x10FFFF else UNKNOWN_SYMBOL


def public(text: str, font: str | None) -> str:
    """Text in which characters of the private use area are written as what the font draws for them."""
    return _PRIVATE.sub(lambda found: symbol(ord(found.group()), font), text)


def table_text(rows: Iterable[Iterable[str]]) -> str:
    """One line for each row that says anything, its cells apart by " | "."""
    lines = (" | ".join(" ".join(cell.split()) for cell in row).rstrip() for row in rows)
    return "\n".join(line for line in lines if line.strip(" |"))
