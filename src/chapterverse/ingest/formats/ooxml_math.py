"""Office equations as one line of readable text: (a+b)/2, x^2, √(x), ∑_(i=1)^n i."""

from __future__ import annotations

from collections.abc import Callable

from chapterverse.ingest.formats.equations import grouped
from chapterverse.ingest.formats.ooxml import Element, attribute, child, walk

Parts = list[tuple[str, str]]
"""The element's arguments in order: their names and their lines."""

_NOT_WRITTEN = frozenset({"w:rPr", "w:del", "w:moveFrom"})


def linear(root: Element) -> str:
    """An `m:oMath` as one line."""
    opened: list[Parts] = [[]]
    for start, name, element in walk(root, _closed):
        if start:
            opened.append([])
            continue
        parts = opened.pop()
        if name in ("m:t", "w:t"):
            opened[-1].append((name, element.text or ""))
        elif name == "w:br":
            opened[-1].append((name, " "))
        elif not _closed(name, element):
            opened[-1].append((name, _WRITERS.get(name, _joined)(parts, element)))
    return _joined(opened[0], root)


def _closed(name: str, _element: Element) -> bool:
    return name in _NOT_WRITTEN or (name.startswith("m:") and name.endswith("Pr"))


def _joined(parts: Parts, _element: Element) -> str:
    return "".join(text for _, text in parts)


def _argument(parts: Parts, name: str) -> str:
    return next((text.strip() for found, text in parts if found == name), "")


def _property(element: Element, name: str, default: str) -> str:
    """A value out of the element's own `…Pr`; given without a value it means "nothing"."""
    local = element.tag.rpartition("}")[2]
    found = child(element, f"m:{local}Pr", f"m:{name}")
    return default if found is None else attribute(found, "m:val") or ""


def _fraction(parts: Parts, element: Element) -> str:
    bar = "¦" if _property(element, "type", "bar") == "noBar" else "/"
    return f"{grouped(_argument(parts, 'm:num'))}{bar}{grouped(_argument(parts, 'm:den'))}"


def _scripts(parts: Parts, _element: Element) -> str:
    below, above = _argument(parts, "m:sub"), _argument(parts, "m:sup")
    return grouped(_argument(parts, "m:e")) + _limits(below, above)


def _scripts_before(parts: Parts, _element: Element) -> str:
    return _limits(_argument(parts, "m:sub"), _argument(parts, "m:sup")) + grouped(_argument(parts, "m:e"))


def _limits(below: str, above: str) -> str:
    return (f"_{grouped(below)}" if below else "") + (f"^{grouped(above)}" if above else "")


def _large_operator(parts: Parts, element: Element) -> str:
    sign = _property(element, "chr", "∫")
    return f"{sign}{_limits(_argument(parts, 'm:sub'), _argument(parts, 'm:sup'))} {_argument(parts, 'm:e')}"


def _root(parts: Parts, _element: Element) -> str:
    degree = _argument(parts, "m:deg")
    return "√" + (f"[{degree}]" if degree else "") + f"({_argument(parts, 'm:e')})"


def _brackets(parts: Parts, element: Element) -> str:
    inner = _property(element, "sepChr", "|").join(text for name, text in parts if name == "m:e")
    return _property(element, "begChr", "(") + inner + _property(element, "endChr", ")")


def _function(parts: Parts, _element: Element) -> str:
    return f"{_argument(parts, 'm:fName')} {_argument(parts, 'm:e')}"


def _limit_below(parts: Parts, _element: Element) -> str:
    return _argument(parts, "m:e") + _limits(_argument(parts, "m:lim"), "")


def _limit_above(parts: Parts, _element: Element) -> str:
    return _argument(parts, "m:e") + _limits("", _argument(parts, "m:lim"))


def _accent(parts: Parts, element: Element) -> str:
    return grouped(_argument(parts, "m:e")) + _property(element, "chr", "\u0302")


def _bar(parts: Parts, element: Element) -> str:
    return grouped(_argument(parts, "m:e")) + ("\u0305" if _property(element, "pos", "bot") == "top" else "\u0332")


def _phantom(parts: Parts, element: Element) -> str:
    return "" if _property(element, "show", "1") in ("0", "off", "false") else _argument(parts, "m:e")


def _row(parts: Parts, _element: Element) -> str:
    return ", ".join(text for _, text in parts)


def _stack(parts: Parts, _element: Element) -> str:
    return "; ".join(text for _, text in parts)


def _matrix(parts: Parts, element: Element) -> str:
    return f"[{_stack(parts, element)}]"


_WRITERS: dict[str, Callable[[Parts, Element], str]] = {
    "m:f": _fraction,
    "m:sSup": _scripts,
    "m:sSub": _scripts,
    "m:sSubSup": _scripts,
    "m:sPre": _scripts_before,
    "m:nary": _large_operator,
    "m:rad": _root,
    "m:d": _brackets,
    "m:func": _function,
    "m:limLow": _limit_below,
    "m:limUpp": _limit_above,
    "m:acc": _accent,
    "m:bar": _bar,
    "m:phant": _phantom,
    "m:mr": _row,
    "m:m": _matrix,
    "m:eqArr": _stack,
}
