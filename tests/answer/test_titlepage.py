"""The title page names its author and its title in lines."""

import pytest

from chapterverse.answer.titlepage import title_line

WHO, WHAT = "Who wrote this book?", "What is the title of this book?"


@pytest.mark.parametrize(
    ("question", "opening", "line"),
    [
        (WHO, "The Salt Road\n\nby Ada Marl, Warden of the Pans\n\nFor Josef.", "by Ada Marl, Warden of the Pans"),
        (WHO, "The Salt Road\nBy Ada Marl.\n\nAll rights reserved.", "By Ada Marl."),
        (WHO, "Title: The Salt Road\n\nAuthor: Ada Marl\n\nLanguage: English", "Author: Ada Marl"),
        (WHO, "Tales of the Pans, by Ada Marl\n\nOnce there was a road.", "Tales of the Pans, by Ada Marl"),
        (WHO, "The Salt Road\n\nTranslated by Ida Roe\n\nBY ADA MARL AND JOHN DE VERE", "BY ADA MARL AND JOHN DE VERE"),
        (WHO, "The Salt Road\n\nWritten by: Ada Marl", "Written by: Ada Marl"),
        (WHO, "The Salt Road\n\nwith an introduction by Ida Roe\n\nEdited by Karl Lund", None),
        (WHO, "By May the road was open.\n\nThe carts went by Sall to the sea.", None),
        (WHAT, "Title: The Salt Road\n\nAuthor: Ada Marl", "Title: The Salt Road"),
        (WHAT, "The Salt Road\n\nby Ada Marl", "The Salt Road"),
        (WHAT, "The road was opened in May.\nIt was long.", None),
        ("Who wrote the letter?", "Author: Ada Marl", None),
        ("When was this book published?", "Author: Ada Marl", None),
    ],
)
def test_the_line_is_found(question: str, opening: str, line: str | None) -> None:
    found = title_line(question, opening)
    assert (opening[slice(*found)] if found else None) == line
