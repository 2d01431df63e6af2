"""Office equations become one line that a reader understands."""

from __future__ import annotations

import pytest

from tests.ingest.office_docx import p, paragraphs, r, read


def m(text: str) -> str:
    return f"<m:r><m:t>{text}</m:t></m:r>"


def e(content: str, name: str = "e") -> str:
    return f"<m:{name}>{content}</m:{name}>"


def with_properties(name: str, properties: dict[str, str], content: str) -> str:
    given = "".join(f'<m:{key} m:val="{value}"/>' for key, value in properties.items())
    return f"<m:{name}><m:{name}Pr>{given}</m:{name}Pr>{content}</m:{name}>"


SQUARE = f"<m:sSup>{e(m('x'))}{e(m('2'), 'sup')}</m:sSup>"


@pytest.mark.parametrize(
    ("equation", "line"),
    [
        (f"<m:f>{e(m('a+b'), 'num')}{e(m('2'), 'den')}</m:f>", "(a+b)/2"),
        (f"<m:sSup>{e(m('x'))}{e(m('2'), 'sup')}</m:sSup>{m('=y')}", "x^2=y"),
        (f"<m:sSubSup>{e(m('x'))}{e(m('i'), 'sub')}{e(m('n+1'), 'sup')}</m:sSubSup>", "x_i^(n+1)"),
        (f"<m:rad><m:deg/>{e(m('x+1'))}</m:rad>", "√(x+1)"),
        (f"<m:rad>{e(m('3'), 'deg')}{e(m('x'))}</m:rad>", "√[3](x)"),
        (
            with_properties("nary", {"chr": "∑"}, e(m("i=1"), "sub") + e(m("n"), "sup") + e(m("i"))),
            "∑_(i=1)^n i",
        ),
        (with_properties("d", {"begChr": "[", "endChr": "]", "sepChr": ","}, e(m("a")) + e(m("b"))), "[a,b]"),
        (f"<m:d>{e(m('x'))}</m:d>", "(x)"),
        (with_properties("f", {"type": "noBar"}, e(m("n"), "num") + e(m("k"), "den")), "n¦k"),
        (with_properties("bar", {"pos": "top"}, e(m("x"))), "x\u0305"),
        (m("a") + with_properties("phant", {"show": "0"}, e(m("b"))), "a"),
        (f"<m:sPre>{e(m('2'), 'sub')}{e(m('4'), 'sup')}{e(m('He'))}</m:sPre>", "_2^4He"),
        (f"<m:limUpp>{e(m('max'))}{e(m('n'), 'lim')}</m:limUpp>", "max^n"),
        (f"<m:func>{e(m('sin'), 'fName')}{e(m('x'))}</m:func>", "sin x"),
        (f"<m:limLow>{e(m('lim'))}{e(m('x→0'), 'lim')}</m:limLow>", "lim_(x→0)"),
        (f"<m:acc>{e(m('x'))}</m:acc>", "x\u0302"),
        (f"<m:m><m:mr>{e(m('a'))}{e(m('b'))}</m:mr><m:mr>{e(m('c'))}{e(m('d'))}</m:mr></m:m>", "[a, b; c, d]"),
        (f"<m:eqArr>{e(m('x=1'))}{e(m('y=2'))}</m:eqArr>", "x=1; y=2"),
        (f"<m:f>{e(SQUARE, 'num')}{e(m('2'), 'den')}</m:f><w:del>{m('z')}</w:del>", "(x^2)/2"),
    ],
)
def test_equations_are_one_readable_line(equation: str, line: str) -> None:
    body = (
        p(r("Let ") + f"<m:oMath>{equation}</m:oMath>" + r(" be."))
        + f"<m:oMathPara><m:oMath>{equation}</m:oMath></m:oMathPara>"
    )
    assert read(body) == paragraphs(f"Let {line} be.", line)
