"""The title page names its author and its title in lines."""

import pytest

from chapterverse.answer.titlepage import may_name_author, title_line

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
        (
            WHO,
            "Salt and Health\n\nAda Marl¹, Josef K. Lund² and Ida van Roe1,2*\n\n¹ Pans of Sall",
            "Ada Marl¹, Josef K. Lund² and Ida van Roe1,2*",
        ),
        (WHO, "Salt and Health\n\nA Report\n\nAda Marl[1]\n\nSall, 1904", "Ada Marl[1]"),
        (WHO, "Salt Roads\n\nÉva de Lund and Ida Roe\n\nThe roads are long.", "Éva de Lund and Ida Roe"),
        (
            WHO,
            "Salt Pans\n\nDry Roads & Wet Feet\n\nAda Marl & Ida Roe\n\nOn wet roads feet suffer.",
            "Ada Marl & Ida Roe",
        ),
        (WHO, "Salt Pans\n\nPublic Health Agency, University of Sall\n\nHull, Leeds and York", None),
        (WHO, "Salt Pans\n\nSpring Term 1904\n\nAda Marl, Ida Roe,\nand others", None),
        (WHO, "Ada Marl and Ida Roe\n\nwere sisters.", None),
        (WHO, "Salt Roads\n\nAda Marl\n\nFor Josef Lund and Ida Roe\n\nChapter One", None),
        (WHO, "Salt Roads\n\nAda Marl\n\nJosef Lund, Ida Roe\n\nChapter One", None),
        (WHO, "Salt Roads\n\nChronicle Books, San Marco\n\nChapter One", None),
        ("Who wrote the letter?", "Author: Ada Marl", None),
        ("When was this book written?", "The Salt Road\n\nby Ada Marl", None),
        ("When was this book published?", "Author: Ada Marl", None),
        ("What is the title of chapter 3?", "Chapter III: Salt\n\nSalt is white.", "Chapter III: Salt"),
        ("What is the third chapter called?", "3 Salt\n\nSalt is white.", "3 Salt"),
        ("What's the heading of section 2.1 of the book?", "2.1. Dry Roads\n\nThey are dry.", "2.1. Dry Roads"),
        ("What is the title of chapter 3?", "Chapter 3\n\nSalt is white.", None),
        ("What is the title of chapter 3?", "Chapter 4: Roads\n\nThey are dry.", None),
        ("What is the title of chapter 3?", "Salt is white.", None),
        ("What is salt called in chapter 3?", "Chapter 3: Salt\n\nIt is called white gold.", None),
    ],
)
def test_the_line_is_found(question: str, opening: str, line: str | None) -> None:
    found = title_line(question, opening)
    assert (opening[slice(*found)] if found else None) == line


def test_a_sentence_without_a_name_names_no_author() -> None:
    assert not may_name_author("Who are the authors?", "Salt harms the roads of the valley.")
    assert may_name_author("Who are the authors?", "It was written by Ada Marl.")
    assert may_name_author("When did the author write this book?", "It was written in May.")
    assert may_name_author("Who salts the roads?", "The wardens do.")
