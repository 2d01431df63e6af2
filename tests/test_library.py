"""The library end to end: real books, the real embedded engine, a deterministic embedder."""

from __future__ import annotations

import asyncio
import inspect
import json
import os
import re
import unicodedata
import zipfile
from collections.abc import Iterator
from math import inf
from pathlib import Path
from typing import Any

import pytest

from chapterverse.answer.cite import in_words
from chapterverse.answer.retrieve import Retrieval
from chapterverse.answer.scope import QueryScope
from chapterverse.errors import AstRagError, AstRagIndexError, AstRagValidationError, InvalidQueryError
from chapterverse.index.manifest import check_index_id
from chapterverse.index.sync import SyncResult
from chapterverse.library import AsyncLibrary, Ingestion, Library
from chapterverse.library.asynchronous import Asking
from chapterverse.library.catalogue import Parts
from chapterverse.library.terms import slug
from chapterverse.providers.fake import FakeEmbedder
from chapterverse.providers.service import Embeddings
from chapterverse.retry import Retry
from chapterverse.settings import Settings
from chapterverse.types import Chunking, Filter
from tests.ingest import pdfs


@pytest.fixture
def library(tmp_path: Path) -> Iterator[Library]:
    embeddings = Embeddings()
    embeddings.registry.register("fake", FakeEmbedder())
    settings = Settings(home=tmp_path / "home", embedding="fake")
    with Library(settings, embeddings=embeddings) as library:
        yield library


@pytest.fixture
def books(tmp_path: Path) -> Path:
    folder = tmp_path / "books"
    folder.mkdir()
    (folder / "bells.md").write_text("# Bells\n\nThe great bell weighs forty hundredweight.\n\n# Ropes\n\nHemp.\n")
    (folder / "sheep.md").write_text("# Sheep\n\nA fleece weighs seven pounds in a good year.\n")
    return folder


def test_add_search_and_inspect(library: Library, books: Path) -> None:
    result = library.add(books)
    assert result.record.name == "books"
    found = library.search("how heavy is the great bell").found
    assert found[0].entry.chunk.text.endswith("forty hundredweight.")
    assert found[0].entry.chunk.place.chapter == "Bells"
    inspection = library.inspect()
    assert [source.file_id for source in inspection.sources] == ["bells.md", "sheep.md"]
    assert inspection.sources[0].outline == (("Bells",), ("Ropes",))
    assert inspection.stats.chunks == 3


@pytest.mark.parametrize(
    ("name", "key"),
    [
        ("Report 2024_final", "report-2024_final"),
        ("Über Café", "uber-cafe"),
        ("Kell's clocks, vol. 1", "kell-s-clocks-vol-1-"),
        ("C++", "c-"),
        ("What?", "what-"),
        ("Война и мир", "book-adff256a"),
        ("Том 2", "2-"),
        ("🎉", "book-"),
        ("..", "book-"),
        ("a" * 80, "a" * 80),
        ("a" * 81, "a" * 71 + "-"),
    ],
)
def test_an_index_id_is_plain_and_its_own_whatever_the_name(name: str, key: str) -> None:
    found = slug(name)
    check_index_id(found)
    assert found.startswith(key)
    assert len(found) <= 80
    assert found == slug(unicodedata.normalize("NFD", name))
    assert found != slug(name + "!1")


@pytest.mark.parametrize("other", ["C#", "C", "C?", "+C", "C +"])
def test_names_that_differ_in_more_than_case_and_spaces_have_ids_of_their_own(other: str) -> None:
    assert slug("C++") == slug("c++") != slug(other)
    assert slug("Kell's bells") == slug("Kell’s  Bells") == slug("kell-s-bells")


def test_books_of_names_that_signs_tell_apart_are_kept_and_removed_apart(library: Library, books: Path) -> None:
    for name, book in (("C++", "bells.md"), ("C#", "sheep.md")):
        library.add(books / book, index=name)
        assert [source.file_id for source in library.inspect(name).sources] == [book]
    for unknown in ("C", "C?"):
        with pytest.raises(AstRagIndexError, match="There is no index"):
            library.remove(unknown)
    library.remove("c#")
    assert [record.name for record in library.indexes()] == ["C++"]


def test_an_index_whose_id_says_nothing_of_its_signs_is_still_found_by_its_name(
    library: Library, books: Path, tmp_path: Path
) -> None:
    library.export_index(tmp_path / "new.zip", library.add(books / "bells.md", index="C++").record.id)
    with zipfile.ZipFile(tmp_path / "new.zip") as new, zipfile.ZipFile(tmp_path / "old.zip", "w") as old:
        for name in new.namelist():
            data = new.read(name)
            old.writestr(name, json.dumps({**json.loads(data), "indexId": "c"}) if name == "index.json" else data)
    library.import_index(tmp_path / "old.zip")
    assert library.find("C++") != "c", "its own id goes first"
    library.remove("C++")
    assert library.find("C++") == library.find("c") == library.add(books / "sheep.md", index="C++").record.id == "c"
    assert library.add(books / "sheep.md", index="C#").record.id != "c"


def test_a_book_in_any_script_is_added_and_asked_by_its_name(library: Library, tmp_path: Path) -> None:
    book = tmp_path / "Война и мир.txt"
    book.write_text("Князь Андрей лежал на Праценской горе.")
    assert library.add(book).record.name == "Война и мир"
    library.add(tmp_path / "Война и мир.txt", index="🎉")
    assert library.search("Где лежал князь Андрей?", index="Война и мир").found
    assert library.search("Где лежал князь Андрей?", index="🎉").found
    with pytest.raises(AstRagValidationError, match="blank"):
        library.add(book, index="  ")


def test_a_page_is_found_by_what_citations_call_it(library: Library, tmp_path: Path) -> None:
    texts = ("The bell was cast in June.", "The bell was hung in July.", "The bell cracked in August.")
    (tmp_path / "plain.pdf").write_bytes(pdfs.simple(*texts))
    (tmp_path / "labelled.pdf").write_bytes(pdfs.labelled(b"0 << /S /r >> 2 << /S /D >>", *texts))
    for name, pages, others in (("plain", "123", "4i"), ("labelled", "i1", "3")):
        library.add(tmp_path / f"{name}.pdf")
        for page in pages + others:
            found = library.search("When was the bell?", index=name, scope=QueryScope("page-specific", page)).found
            assert bool(found) == (page in pages), (name, page)
    document = library.document("plain.pdf", "plain")
    place = document.place(start := document.text.index(texts[1]), start + len(texts[1]))
    assert in_words("Bells", place) == "Bells, page 2"


def test_a_book_is_opened_and_asked_in_one_breath(library: Library, books: Path, tmp_path: Path) -> None:
    settings, parts = library.settings, {"embeddings": library.embeddings}
    library.add(books, index="bells")  # another index of that name: `open` must not mix its books with it
    with Library.open(books / "bells.md", settings, **parts) as opened:
        assert "forty hundredweight" in opened.ask("How much does the great bell weigh?").text
        assert [source.file_id for source in opened.inspect().sources] == ["bells.md"]
        key = opened.record().id
    (books / "bells.md").write_text("# Bells\n\nThe great bell weighs fifty hundredweight.\n")
    with Library.open(books / "bells.md", settings, **parts) as again:
        assert "fifty hundredweight" in again.ask("How much does the great bell weigh?").text
        assert again.record().id == key
        assert len(again.indexes()) == 2
    assert settings.index is None
    with Library.open(tmp_path / "home", settings, **parts) as kept:
        assert len(kept.indexes()) == 2
    with Library.open(tmp_path / "new", settings, **parts) as empty:
        assert empty.indexes() == []
    with pytest.raises(AstRagError, match=r"no-such-book\.pdf"):
        Library.open(tmp_path / "no-such-book.pdf", settings, **parts)


def test_a_web_app_among_the_books_makes_them_no_indexes(library: Library, books: Path) -> None:
    (books / "app").mkdir()
    (books / "app" / "manifest.json").write_text('{"name": "Bells"}')
    with Library.open(books, library.settings, embeddings=library.embeddings) as opened:
        assert [source.file_id for source in opened.inspect().sources] == ["bells.md", "sheep.md"]


@pytest.mark.parametrize("path", ["~nosuchuser/book.pdf", "book\0.pdf", f"{'long' * 100}.pdf"])
def test_a_path_that_cannot_be_is_told_like_one_that_is_not(library: Library, path: str) -> None:
    for take in (library.add, lambda path: Library.open(path, library.settings, embeddings=library.embeddings)):
        with pytest.raises(AstRagError, match="There is no file or folder"):
            take(path)


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"file_ids": "bells.md"}, "filters.file_ids is 'bells.md'; it must be a list of texts"),
        ({"chapters": (5,)}, "filters.chapters is"),
        ({"slides": (True,)}, "filters.slides is"),
        ({"pages": (5,)}, "filters.pages is (5,); it must be two numbers, the first page and the last"),
        ({"pages": (9, 5)}, "filters.pages is (9, 5)"),
        ({"pages": ("1", "2")}, "filters.pages is"),
        ({"read_until": "20"}, "read_until is '20'"),
    ],
)
def test_a_place_that_cannot_be_is_refused_by_name(options: dict[str, Any], told: str) -> None:
    with pytest.raises(AstRagValidationError, match=re.escape(told)):
        Filter(**options)


@pytest.mark.parametrize(
    "options",
    [
        {"min_score": inf},
        {"vector_weight": inf},
        {"lexical_weight": -1},
        {"vector_weight": 1e308, "lexical_weight": 1e308},
    ],
)
def test_weights_that_leave_nothing_are_refused_by_name(options: dict[str, float]) -> None:
    with pytest.raises(AstRagValidationError, match=next(iter(options))):
        Retrieval(**options)  # type: ignore[arg-type]


@pytest.mark.parametrize("history", [["x"], "x", None, [None], [{"role": "user"}]])
def test_a_history_of_another_shape_is_refused_by_name(library: Library, books: Path, history: Any) -> None:
    library.add(books)
    with pytest.raises(InvalidQueryError, match="history takes turns"):
        library.ask("How heavy is it?", history=history)


def test_the_async_library_opens_a_book_too(library: Library, books: Path) -> None:
    async def weight() -> str:
        async with await AsyncLibrary.open(books, library.settings, embeddings=library.embeddings) as opened:
            return (await opened.ask("How much does the great bell weigh?")).text

    assert "forty hundredweight" in asyncio.run(weight())


def test_the_sample_book_is_searched_by_chapter_and_page(library: Library) -> None:
    library.add("sample")
    where_is = "longest drop longest interval"
    (best, *_) = library.search(where_is, scope=QueryScope("section-specific", "Chapter 3")).found
    assert best.entry.chunk.place.chapter == "Chapter 3: The Weight and the Drop"
    everywhere = library.search("the clock", scope=QueryScope("section-specific", "Chapter 5")).found
    assert everywhere
    assert {one.entry.chunk.place.chapter for one in everywhere} == {"Chapter 5: The Five Towers"}
    on_page = library.search("the clock", scope=QueryScope("page-specific", "12")).found
    assert on_page
    for one in on_page:
        place = one.entry.chunk.place
        assert place.first_page is not None
        assert place.last_page is not None
        assert "12" in (place.first_page.label, place.last_page.label)
    assert not library.search("the clock", scope=QueryScope("section-specific", "Chapter 44")).found


def test_what_was_read_so_far(library: Library) -> None:
    library.add("sample")
    found = library.search("bells and striking", where=Filter(read_until=20), settings=Retrieval(min_score=0)).found
    assert found
    assert all(one.entry.chunk.place.last_page.number <= 20 for one in found)  # type: ignore[union-attr, operator]


def test_sync_embeds_only_what_changed(library: Library, books: Path) -> None:
    library.add(books)
    unchanged = library.sync()
    assert (unchanged.persisted, unchanged.unchanged_sources, unchanged.reembedded_chunks) == (False, 2, 0)
    (books / "sheep.md").write_text("# Sheep\n\nA fleece weighs nine pounds in a good year.\n")
    (books / "geese.md").write_text("# Geese\n\nGeese guard the yard.\n")
    trial = library.sync(dry_run=True)
    assert (trial.persisted, trial.added_sources, trial.updated_sources) == (False, 1, 1)
    assert "seven" in library.search("fleece").found[0].entry.chunk.text
    done = library.sync()
    assert (done.persisted, done.added_chunks, done.removed_chunks, done.reembedded_chunks) == (True, 2, 1, 2)
    assert "nine" in library.search("fleece").found[0].entry.chunk.text
    os.rename(books / "geese.md", books / "birds.md")
    renamed = library.sync()
    assert (renamed.added_sources, renamed.removed_sources, renamed.reembedded_chunks) == (1, 1, 0)


def test_a_second_book_joins_an_index(library: Library, books: Path, tmp_path: Path) -> None:
    library.add(books / "bells.md", index="shelf")
    library.add(books / "sheep.md", index="shelf")
    assert [source.file_id for source in library.inspect("shelf").sources] == ["bells.md", "sheep.md"]
    other = tmp_path / "other"
    other.mkdir()
    (other / "bells.md").write_text("# Small bells\n\nA handbell weighs a pound.\n")
    library.add(other, index="shelf")
    assert [source.file_id for source in library.inspect("shelf").sources] == ["bells.md", "other/bells.md", "sheep.md"]
    assert library.sync("shelf").unchanged_sources == 3


def held(library: Library, index: str) -> dict[str, str]:
    """The text of every file that an index holds, by its id."""
    return {one.file_id: library.document(one.file_id, index).text for one in library.inspect(index).sources}


@pytest.fixture
def volumes(tmp_path: Path) -> list[Path]:
    """Three folders of one name, each with another book in a file of one name."""
    folders = []
    for place, weight in (("a", "one ton"), ("b", "two tons"), ("c", "three tons")):
        folders.append(tmp_path / place / "docs")
        folders[-1].mkdir(parents=True)
        (folders[-1] / "intro.md").write_text(f"The bell weighs {weight}.")
    return folders


def test_sources_of_one_name_never_take_each_others_place(library: Library, volumes: list[Path]) -> None:
    for folder in volumes:
        library.add(folder, index="three")
    there = {
        "intro.md": "The bell weighs one ton.",
        "docs/intro.md": "The bell weighs two tons.",
        "docs-2/intro.md": "The bell weighs three tons.",
    }
    assert held(library, "three") == there
    assert library.sync("three").unchanged_sources == 3
    for folder in reversed(volumes):
        again = library.add(folder, index="three")
        assert (again.persisted, held(library, "three")) == (False, there)  # type: ignore[union-attr]


def test_a_link_is_followed_to_where_it_leads_now(library: Library, tmp_path: Path) -> None:
    for version, weight in (("v1", "one ton"), ("v2", "two tons")):
        (tmp_path / version).mkdir()
        (tmp_path / version / "bell.md").write_text(f"The bell weighs {weight}.")
    current = tmp_path / "current"
    current.symlink_to("v1")
    assert library.add(current).record.id == "current"
    again = library.add(tmp_path / "v1", index="current")
    assert (again.unchanged_sources, len(library.inspect("current").sources)) == (1, 1)  # type: ignore[union-attr]
    library.add(current, index="current")
    current.unlink()
    current.symlink_to("v2")
    assert library.sync("current").updated_sources == 1
    assert held(library, "current") == {"bell.md": "The bell weighs two tons."}
    library.add(tmp_path / "v1", index="current")
    current.unlink()
    current.symlink_to("v1")
    library.remove_source("current", tmp_path / "v1")
    assert library.inspect("current").sources[0].source_id == str(current)


def test_other_patterns_for_a_source_drop_nothing_unasked(library: Library, books: Path) -> None:
    (books / "geese.txt").write_text("Geese guard the yard.")
    library.add(books, index="farm", spec={"include": ("*.md",)})
    with pytest.raises(
        AstRagValidationError, match=r"'\*\.md'; with include '\*\.txt' it would lose bells\.md, sheep\.md\. "
    ):
        library.add(books, index="farm", spec={"include": ("*.txt",)})
    assert list(held(library, "farm")) == ["bells.md", "sheep.md"]
    library.add(books, index="farm", spec={"include": ("*.md", "*.txt")})
    assert list(held(library, "farm")) == ["bells.md", "geese.txt", "sheep.md"]
    (books / "sheep.md").unlink()
    library.add(books, index="farm", spec={"include": ("*.md", "*.txt")})
    assert list(held(library, "farm")) == ["bells.md", "geese.txt"], "what is gone at the same patterns goes"
    library.add(books, index="farm", spec={"include": ("*.txt",)}, replacing=[books])
    assert list(held(library, "farm")) == ["geese.txt"]


def test_a_file_that_appears_under_the_id_of_another_sources_loses_none(library: Library, volumes: list[Path]) -> None:
    first, second, _ = volumes
    for folder in (first, second):
        library.add(folder, index="two")
    (first / "docs").mkdir()
    (first / "docs" / "intro.md").write_text("The mill grinds oats.")
    result = library.sync("two")
    assert (result.added_sources, result.updated_sources, result.removed_sources) == (1, 1, 0)
    assert held(library, "two") == {
        "intro.md": "The bell weighs one ton.",
        "docs/intro.md": "The mill grinds oats.",
        "docs-2/intro.md": "The bell weighs two tons.",
    }
    assert library.sync("two").unchanged_sources == 3


def test_a_book_that_cannot_be_read_any_more_moves_aside_too(library: Library, volumes: list[Path]) -> None:
    first, second, _ = volumes
    (second / "farm.pdf").write_bytes(pdfs.simple("The farm has nine cows."))
    for folder in (first, second):
        library.add(folder, index="two")
    farm = held(library, "two")["docs/farm.pdf"]
    (second / "farm.pdf").write_bytes(b"%PDF-1.7 cut off")
    (first / "docs").mkdir()
    (first / "docs" / "intro.md").write_text("The mill grinds oats.")
    (first / "docs" / "farm.pdf").write_bytes(pdfs.simple("The farm has ten goats."))
    library.sync("two")
    there = held(library, "two")
    assert there["docs-2/farm.pdf"] == farm
    assert "goats" in there["docs/farm.pdf"]
    assert library.search("nine cows", index="two").found[0].entry.chunk.file_id == "docs-2/farm.pdf"


def hide(path: Path) -> None:
    """Make a file one that is there, and cannot be looked at."""
    path.unlink()
    os.mkfifo(path)


@pytest.mark.skipif(os.name != "posix", reason="there are no named pipes")
def test_a_file_that_cannot_be_looked_at_moves_aside_too(library: Library, volumes: list[Path]) -> None:
    first, second, _ = volumes
    (first / "farm.md").write_text("The farm has nine cows.")
    (second / "docs").mkdir()
    (second / "docs" / "intro.md").write_text("The mill grinds oats.")
    for folder in (first, second):
        library.add(folder, index="two")
    hide(first / "farm.md")
    second.rename(second.parent / "away")
    (first / "docs" / "docs").mkdir(parents=True)
    (first / "docs" / "docs" / "intro.md").write_text("The mill stands still.")
    before = sorted(held(library, "two").values())
    for _ in range(2):
        library.sync("two")
        assert sorted(held(library, "two").values()) == sorted([*before, "The mill stands still."])
    assert library.sync("two").counts()["unchanged_sources"] == len(before) + 1


@pytest.mark.skipif(os.name != "posix", reason="there are no named pipes")
def test_what_cannot_be_read_belongs_to_the_place_that_is_put_in_the_stead_of_its_own(
    library: Library, books: Path, tmp_path: Path
) -> None:
    (books / "geese.md").write_text("Geese guard the yard.")
    mill = tmp_path / "mill.md"
    mill.write_text("The mill grinds oats.")
    for book in (books, mill):
        library.add(book, index="farm")
    hide(books / "geese.md")
    (books / "sheep.md").write_text("")
    there = held(library, "farm")
    moved = books.rename(tmp_path / "moved")
    library.add(moved, index="farm", replacing=[books])
    assert held(library, "farm") == there
    assert {one.source_id for one in library.inspect("farm").sources} == {str(moved), str(mill)}
    books.mkdir()
    (books / "new.md").write_text("Something else lies here now.")
    library.add(books, index="farm")
    moved = moved.rename(tmp_path / "gone")
    library.sync("farm")
    assert there.items() <= held(library, "farm").items(), "what lies at the old place is another's"
    assert library.remove_source("farm", tmp_path / "moved").removed_sources == 3
    assert sorted(held(library, "farm")) == ["mill.md", "new.md"]
    assert library.sync("farm").removed_sources == 0


def test_an_import_is_called_what_it_is_to_be_called(library: Library, books: Path, tmp_path: Path) -> None:
    library.add(books / "bells.md", index="C++")
    library.export_index(tmp_path / "c.zip", "C++")
    assert library.import_index(tmp_path / "c.zip", "c").name == "c"
    library.add(books / "sheep.md", index="C")
    assert library.find("C++") != library.find("C") == "c"
    library.remove("C++")
    assert [record.id for record in library.indexes()] == ["c"]


def test_a_source_that_is_gone_keeps_what_it_had_and_holds_up_no_other(library: Library, books: Path) -> None:
    for name in ("bells.md", "sheep.md"):
        library.add(books / name, index="pair")
    (books / "sheep.md").unlink()
    (books / "bells.md").write_text("The great bell has cracked.")
    for dry_run in (True, False):
        result = library.sync("pair", dry_run=dry_run)
        assert (result.updated_sources, result.removed_sources, result.unchanged_sources) == (1, 0, 1)
        [warning] = result.warnings
        assert warning.file_id == str(books / "sheep.md")
        assert "There is no file or folder" in warning.reason
    assert held(library, "pair")["bells.md"] == "The great bell has cracked."
    assert library.sync("pair", chunking=Chunking(400, 50, 100)).unchanged_sources == 2
    assert "seven pounds" in library.search("fleece", index="pair").found[0].entry.chunk.text
    with pytest.raises(AstRagError, match="no file or folder"):
        library.sync("pair", ingestion=Ingestion(skip_failures=False))
    (books / "bells.md").unlink()
    with pytest.raises(AstRagError, match=r"no file or folder .*bells\.md"):
        library.sync("pair")


def test_a_source_can_be_dropped(library: Library, books: Path) -> None:
    for name in ("bells.md", "sheep.md"):
        library.add(books / name, index="pair")
    (books / "sheep.md").unlink()
    with pytest.raises(
        AstRagValidationError, match=r"no source 'geese\.md'\. Its sources are .*bells\.md', .*sheep\.md'"
    ):
        library.remove_source("pair", "geese.md")
    assert library.remove_source("pair", books / "sheep.md").removed_sources == 1
    assert library.sync("pair").warnings == ()
    assert list(held(library, "pair")) == ["bells.md"]
    with pytest.raises(AstRagIndexError, match="remove the index instead"):
        library.remove_source("pair", books / "bells.md")


def test_a_source_of_which_nothing_can_be_read_can_be_dropped(library: Library, books: Path, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    library.add(books, index="pair")
    library.add(tmp_path / "empty", index="pair")
    (tmp_path / "empty").rmdir()
    assert library.sync("pair").warnings
    library.remove_source("pair", tmp_path / "empty")
    assert library.sync("pair").warnings == ()


def test_a_source_that_has_moved_keeps_its_ids_and_vectors(library: Library, books: Path, volumes: list[Path]) -> None:
    for folder in volumes[:2]:
        library.add(folder, index="two")
    before = held(library, "two")
    place = volumes[1].rename(books / "moved")
    result = library.add(place, index="two", replacing=[volumes[1]])
    assert isinstance(result, SyncResult)
    assert (result.unchanged_sources, result.removed_sources, result.reembedded_chunks) == (2, 0, 0)
    assert held(library, "two") == before
    assert {one.source_id for one in library.inspect("two").sources} == {str(volumes[0]), str(place)}
    assert library.sync("two").persisted is False
    with pytest.raises(AstRagValidationError, match="no source"):
        library.add(books / "bells.md", index="two", replacing=[volumes[1]])


@pytest.mark.anyio
async def test_a_book_that_joins_meanwhile_is_not_lost(books: Path, tmp_path: Path) -> None:
    (books / "clocks.md").write_text("# Clocks\n\nThe striking train is wound on Mondays.\n")
    embeddings = Embeddings()
    embeddings.registry.register("fake", FakeEmbedder())

    class Slow(AsyncLibrary):
        """Takes so long to look at a source that another book joins first."""

        async def _look(self, *args: Any) -> Any:
            await AsyncLibrary(settings, store=self.store, embeddings=embeddings).add(books / "sheep.md", index="shelf")
            return await super()._look(*args)

    settings = Settings(home=tmp_path / "home", embedding="fake")
    async with AsyncLibrary(settings, embeddings=embeddings) as library:
        await library.add(books / "bells.md", index="shelf")
        with pytest.raises(AstRagIndexError, match="changed by somebody else meanwhile") as refused:
            await Slow(settings, store=library.store, embeddings=embeddings).add(books / "clocks.md", index="shelf")
        assert refused.value.retryable
        await library.add(books / "clocks.md", index="shelf")
        there = (await library.inspect("shelf")).sources
        assert [source.file_id for source in there] == ["bells.md", "clocks.md", "sheep.md"]


@pytest.mark.anyio
async def test_what_is_stored_with_an_index_while_it_is_profiled_is_kept(books: Path, tmp_path: Path) -> None:
    embeddings = Embeddings()
    embeddings.registry.register("fake", FakeEmbedder())
    learnt = {"answer_threshold": 0.7, "target": 0.02, "reader": "any"}

    class Calibrated(AsyncLibrary):
        async def _profiled(self, *args: Any) -> Any:
            await self.calibrate(learnt)
            return await super()._profiled(*args)

    async with Calibrated(Settings(home=tmp_path / "home", embedding="fake"), embeddings=embeddings) as library:
        for name in ("bells.md", "sheep.md"):
            added = await library.add(books / name, index="shelf")
            assert added.record == await library.record("shelf")
            assert added.record.calibration == learnt
            assert "vocabulary" in added.record.profile
            await library.calibrate({})


@pytest.mark.anyio
async def test_a_book_is_added_though_somebody_else_writes_before_its_profile(
    books: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    embeddings = Embeddings()
    embeddings.registry.register("fake", FakeEmbedder())
    monkeypatch.setattr("chapterverse.library.indexes._PATIENCE", Retry(1))

    class Overtaken(AsyncLibrary):
        async def _profiled(self, *args: Any) -> Any:
            async with await self.store.update("shelf"):
                return await super()._profiled(*args)

    settings = Settings(home=tmp_path / "home", embedding="fake")
    async with AsyncLibrary(settings, embeddings=embeddings) as library:
        overtaken = Overtaken(settings, store=library.store, embeddings=embeddings)
        for name in ("bells.md", "sheep.md"):
            added = await overtaken.add(books / name, index="shelf")
            assert (added.warnings, added.record.profile) == ((), {})
            assert name in [source.file_id for source in (await library.inspect("shelf")).sources]
            assert (await library.sync("shelf", dry_run=True)).record.profile == {}
            made = await library.sync("shelf")
            assert (made.persisted, made.record) == (False, await library.record("shelf"))
            assert "vocabulary" in made.record.profile


@pytest.mark.anyio
async def test_a_book_is_added_though_its_profile_fails(books: Path, tmp_path: Path) -> None:
    class Forgetful(FakeEmbedder):
        async def embed(self, texts: Any, input_type: Any, *args: Any) -> Any:
            if input_type == "query":
                raise AstRagError("The provider is down.")
            return await super().embed(texts, input_type, *args)

    embeddings = Embeddings()
    embeddings.registry.register("fake", Forgetful())
    async with AsyncLibrary(Settings(home=tmp_path / "home", embedding="fake"), embeddings=embeddings) as library:
        added = await library.add(books, index="shelf")
        [warning] = added.warnings
        assert "not yet what it is about: `chapterverse sync`" in warning.reason
        assert warning.reason.endswith("The provider is down.")
        assert await library.record("shelf") == added.record


def test_other_chunking_rebuilds(library: Library, books: Path) -> None:
    library.add("sample", index="clocks")
    before = library.inspect("clocks").stats.chunks
    result = library.sync("clocks", chunking=Chunking(400, 50, 100))
    assert result.persisted
    assert library.inspect("clocks").stats.chunks > 2 * before
    assert library.inspect("clocks").record.chunking == {"size": 400, "overlap": 50, "minimum": 100}


@pytest.mark.parametrize("changed", [{"chunking": Chunking(400, 50, 100)}, {"embedding": "local"}])
def test_a_book_that_joins_with_other_ways_leaves_none_out(
    library: Library, books: Path, tmp_path: Path, changed: dict[str, Any]
) -> None:
    library.add(books / "sheep.md", index="shelf")
    (books / "sheep.md").unlink()  # what was added once need not lie there any more
    library.add("sample", index="shelf")
    before = library.inspect("shelf")
    added = library.add(books / "bells.md", index="shelf", **changed)
    assert isinstance(added, SyncResult)
    assert (added.added_sources, added.removed_sources, added.unchanged_sources, added.warnings) == (1, 0, 2, ())
    after = library.inspect("shelf")
    assert set(after.sources).issuperset(before.sources) == ("embedding" in changed)
    assert {one.file_id for one in after.sources} == {"bells.md", *(one.file_id for one in before.sources)}
    assert (after.stats.chunks > 2 * before.stats.chunks) == ("chunking" in changed)
    for question, words in (("How much does a fleece weigh?", "seven pounds"), ("great bell", "forty hundredweight")):
        assert words in library.search(question, index="shelf").found[0].entry.chunk.text


def test_a_book_that_cannot_be_read_any_more_outlasts_a_rebuild(library: Library, books: Path) -> None:
    (books / "farm.pdf").write_bytes(pdfs.simple("The farm has nine cows."))
    library.add(books, index="shelf")
    whole = held(library, "shelf")
    (books / "farm.pdf").write_bytes(b"%PDF-1.7 cut off")
    for size, change in ((400, library.sync), (300, lambda index, **how: library.add(books, index=index, **how))):
        result = change("shelf", chunking=Chunking(size, 50, 100))
        assert (result.updated_sources, result.removed_sources, result.unchanged_sources) == (0, 0, 3)  # type: ignore[union-attr]
        assert [notice.file_name for notice in result.warnings] == ["farm.pdf"]
        assert held(library, "shelf") == whole
        assert library.record("shelf").chunking["size"] == size
    with pytest.raises(AstRagError, match="farm"):
        library.sync("shelf", chunking=Chunking(200, 50, 100), ingestion=Ingestion(skip_failures=False))


def test_a_book_that_is_there_and_cannot_be_read_stays(library: Library, books: Path) -> None:
    (books / "farm.pdf").write_bytes(pdfs.simple("The farm has nine cows."))
    library.add(books, index="shelf")
    whole = held(library, "shelf")
    (books / "bells.md").write_text("")
    (books / "farm.pdf").write_bytes(bytes(range(32)) * 9)
    (books / "cover.png").write_bytes(b"\x89PNG" + bytes(range(32)))
    for change in (library.sync, lambda index: library.add(books, index=index)):
        result = change("shelf")
        assert (result.persisted, result.unchanged_sources) == (False, 3)  # type: ignore[union-attr]
        assert sorted(notice.file_name for notice in result.warnings) == ["bells.md", "cover.png", "farm.pdf"]
        assert held(library, "shelf") == whole
    (books / "bells.md").unlink()
    assert library.sync("shelf").removed_sources == 1


def test_books_below_a_folder_that_cannot_be_looked_at_stay(library: Library, books: Path) -> None:
    for name in ("lent", "lent too"):
        (books / name).mkdir()
        (books / name / "mill.md").write_text(f"The mill of {name} grinds oats.")
    library.add(books, index="shelf")
    (books / "lent").rename(books.parent / "away")
    (books / "lent").symlink_to(books.parent / "away")  # out of the folder, where nothing is read
    result = library.sync("shelf")
    assert (result.persisted, result.removed_sources, result.unchanged_sources) == (False, 0, 4)
    assert [notice.file_id for notice in result.warnings] == ["lent"]
    (books / "lent").unlink()
    assert library.sync("shelf").removed_sources == 1


def test_another_embedding_brings_its_own_weights(library: Library, books: Path) -> None:
    library.add(books, index="shelf", embedding="local")
    weights = library.inspect("shelf").record.retrieval_defaults
    assert weights == {"vector_weight": 0.85, "lexical_weight": 0.15}, "those of the model's card"
    library.sync("shelf", embedding="fake")
    record = library.inspect("shelf").record
    assert record.embedding.provider == "fake"
    assert record.retrieval_defaults == {"vector_weight": 0.65, "lexical_weight": 0.35}


def test_an_index_of_a_model_that_is_no_longer_shipped_is_made_anew_by_a_sync(books: Path, tmp_path: Path) -> None:
    settings = Settings(home=tmp_path / "home")
    with Library(settings) as library:
        present = library.add(books, index="farm").record.embedding.model
    manifest = tmp_path / "home" / "farm" / "manifest.json"
    manifest.write_text(manifest.read_text().replace(present, "of-old"))
    with Library(settings) as library:
        with pytest.raises(AstRagError, match=r"local:of-old, which this version .* no longer has\. Sync it"):
            library.search("What does a fleece weigh?", index="farm")
        assert library.search("fleece", index="farm", settings=Retrieval(mode="lexical")).found, "words need no model"
        result = library.sync(index="farm")
        assert result.record.embedding.model == present
        assert library.search("What does a fleece weigh?", index="farm").found


def test_an_index_remembers_its_last_sync(library: Library, books: Path) -> None:
    library.add(books, index="shelf")
    assert library.inspect("shelf").record.sync == {}
    (books / "sheep.md").write_text("# Sheep\n\nA fleece weighs eight pounds.\n")
    done = library.sync("shelf")
    remembered = dict(library.inspect("shelf").record.sync)
    assert remembered.pop("synced_at") == done.record.updated_at
    assert remembered == done.counts()
    assert (remembered["updated_sources"], remembered["reembedded_chunks"]) == (1, 1)
    library.sync("shelf")
    assert library.inspect("shelf").record.sync["synced_at"] == done.record.updated_at, "nothing was to be done"


@pytest.mark.parametrize("address", ["", " "])
def test_a_blank_address_is_not_the_present_folder(
    library: Library, books: Path, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(books)
    for index in (None, "shelf"):
        with pytest.raises(AstRagError, match="no file or folder ''"):
            library.add(address, index=index)


def test_a_bad_file_is_a_warning_or_an_error(library: Library, books: Path) -> None:
    (books / "broken.pdf").write_bytes(b"%PDF-1.7 nothing else")
    with pytest.raises(AstRagError, match="broken"):
        library.add(books, index="strict", ingestion=Ingestion(skip_failures=False))
    assert library.indexes() == []
    result = library.add(books)
    assert [notice.file_name for notice in result.warnings] == ["broken.pdf"]
    assert library.inspect().stats.sources == 2


def test_where_nothing_can_be_indexed_the_error_says_why(library: Library, tmp_path: Path) -> None:
    (tmp_path / "empty.txt").touch()
    with pytest.raises(AstRagIndexError, match=r"nothing to index: .+ empty\.txt: The file is empty"):
        library.add(tmp_path / "empty.txt")
    folder = tmp_path / "many"
    folder.mkdir()
    for name in "abcde":
        (folder / f"{name}.epub").write_bytes(b"PK\x03\x04 cut off")
    with pytest.raises(AstRagIndexError, match=r"a\.epub: The file is damaged .+ 2 more were left out\.$") as nothing:
        library.add(folder)
    assert nothing.value.message.count("a.epub") == 1


def test_a_damaged_file_is_told_of_once(library: Library, books: Path) -> None:
    (books / "cut.epub").write_bytes(b"PK\x03\x04 cut off")
    assert [notice.file_name for notice in library.add(books, index="shelf").warnings] == ["cut.epub"]
    assert [notice.file_name for notice in library.sync("shelf").warnings] == ["cut.epub"]


def test_limits_are_errors_before_anything_is_stored(library: Library, books: Path) -> None:
    with pytest.raises(AstRagValidationError, match="2 files"):
        library.add(books, ingestion=Ingestion(max_files=1))
    with pytest.raises(AstRagValidationError, match="more than 2 chunks"):
        library.add(books, ingestion=Ingestion(max_chunks=2))
    assert library.indexes() == []
    truncated = library.add(books, ingestion=Ingestion(max_files=1, truncate=True))
    assert any("only the first 1" in notice.reason for notice in truncated.warnings)


def test_which_index(library: Library, books: Path) -> None:
    with pytest.raises(AstRagIndexError, match="none yet"):
        library.search("anything")
    library.add(books / "bells.md", index="One")
    assert library.search("bell").record.name == "One"
    library.add(books / "sheep.md", index="Two")
    with pytest.raises(AstRagIndexError, match="one, two"):
        library.search("bell")
    with pytest.raises(AstRagIndexError, match="no index 'three'"):
        library.search("bell", index="three")
    library.remove("two")
    assert [record.id for record in library.indexes()] == ["one"]


@pytest.mark.parametrize("question", ["", "   ", "?!…", "x" * 1001])
def test_questions_that_cannot_be_asked(library: Library, books: Path, question: str) -> None:
    library.add(books)
    with pytest.raises(InvalidQueryError):
        library.search(question)


def test_modes_and_their_scores(library: Library, books: Path) -> None:
    library.add(books)
    vector = library.search("great bell", settings=Retrieval(mode="vector", min_score=0)).found
    assert all(one.lexical is None and one.final == one.vector for one in vector)
    lexical = library.search("great bell", settings=Retrieval(mode="lexical", min_score=0)).found
    assert all(one.vector is None and one.lexical and one.lexical > 0 for one in lexical)
    hybrid = library.search("great bell", settings=Retrieval(mode="hybrid", min_score=0)).found
    best = max(one.lexical or 0.0 for one in hybrid)
    least = min(one.lexical or 0.0 for one in hybrid)
    for one in hybrid:
        assert one.vector is not None
        assert one.lexical is not None
        expected = 0.65 * (one.vector + 1) / 2 + 0.35 * (one.lexical - least) / (best - least)
        assert one.final == pytest.approx(expected, abs=1e-6)
    nothing = library.search("great bell", settings=Retrieval(min_score=5))
    assert (nothing.found, nothing.diagnostics.empty_because) == ((), "below_threshold")


def test_blocking_calls_work_inside_a_running_loop(library: Library, books: Path) -> None:
    library.add(books)

    async def inside() -> int:
        return len(library.search("bell").found)

    assert asyncio.run(inside()) > 0


def test_plain_code_is_told_what_it_may_give() -> None:
    for name in ("add", "ask", "search", "sync"):
        plain = inspect.signature(getattr(Library, name))
        assert plain == inspect.signature(getattr(AsyncLibrary, name))
        assert all(one.kind is not one.VAR_KEYWORD for one in plain.parameters.values())
    asked = set(inspect.signature(AsyncLibrary.ask).parameters)
    assert set(Asking.__annotations__) == asked - {"self", "question", "watch"}
    assert {"self", "settings", *Parts.__annotations__} == set(inspect.signature(AsyncLibrary.__init__).parameters)
