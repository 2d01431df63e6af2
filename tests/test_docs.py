"""The documentation is executed: commands, examples, links."""

from __future__ import annotations

import doctest
import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PAGES = sorted([ROOT / "README.md", ROOT / "CONTRIBUTING.md", *ROOT.glob("docs/**/*.md"), ROOT / "sample/README.md"])
MODELS = ROOT / "src/chapterverse/models"
LINKING = [*PAGES, *sorted([*MODELS.rglob("README.md"), *ROOT.glob("training/README.md")])]
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\[[^\]]*\]\((?!https?:|mailto:)([^)#\s]*)(?:#([^)\s]+))?[^)]*\)")
HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)


def blocks(language: str) -> list[tuple[Path, int, str]]:
    return [
        (page, page.read_text()[: block.start()].count("\n") + 1, block[2])
        for page in PAGES
        for block in BLOCK.finditer(page.read_text())
        if block[1] == language
    ]


def named(cases: list[tuple[Path, int, str]]) -> list[str]:
    return [f"{page.relative_to(ROOT)}:{line}" for page, line, _ in cases]


CONSOLE = blocks("console")


@pytest.mark.parametrize(("page", "line", "block"), CONSOLE, ids=named(CONSOLE))
def test_console_examples_print_what_the_page_says(page: Path, line: int, block: str, tmp_path: Path) -> None:
    for example in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
        command, _, expected = example.partition("\n")
        program, *arguments = shlex.split(command)
        assert program == "chapterverse", f"{page}:{line} runs {program}"
        done = subprocess.run(
            [sys.executable, "-c", "from chapterverse.surfaces.cli import main; main()", *arguments],
            capture_output=True, text=True, cwd=tmp_path, check=False,
            env={**os.environ, "NO_COLOR": "1", "COLUMNS": "120", "CHAPTERVERSE_HOME": str(tmp_path / "home")},
        )  # fmt: skip
        printed = done.stdout + done.stderr
        flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
        matches = doctest.OutputChecker().check_output(expected, printed, flags)
        assert matches, f"{page}:{line}: $ {command} printed:\n{printed}"


PYTHON = blocks("python")


@pytest.mark.parametrize(("page", "line", "block"), PYTHON, ids=named(PYTHON))
def test_python_examples_do_what_the_page_says(
    page: Path, line: int, block: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    if ">>>" not in block:
        exec(compile(block, f"{page}:{line}", "exec"), {})
        return
    test = doctest.DocTestParser().get_doctest(block, {}, page.name, str(page), line)
    failures: list[str] = []
    doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE).run(test, out=failures.append)
    assert not failures, "".join(failures)


@pytest.mark.parametrize("page", LINKING, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    for target, anchor in LINK.findall(page.read_text()):
        there = page.parent / target if target else page
        assert there.exists(), target
        if anchor:
            headings = [re.sub(r"[^\w -]", "", heading.lower()) for heading in HEADING.findall(there.read_text())]
            assert anchor in [heading.replace(" ", "-") for heading in headings], f"{target}#{anchor}"


def test_the_card_has_the_checksums_of_the_files_that_ship() -> None:
    card = re.findall(r"^\| `(.+)` \| `([0-9a-f]{64})` \|$", (MODELS / "README.md").read_text(), re.MULTILINE)
    assert dict(card) == json.loads((MODELS / "reader/manifest.json").read_text())["sha256"]


def test_every_page_is_reachable_from_the_readme() -> None:
    readme = (ROOT / "README.md").read_text()
    for page in ROOT.glob("docs/*.md"):
        assert f"docs/{page.name}" in readme, page.name


def test_every_reason_that_a_file_is_not_read_for_is_explained() -> None:
    sources = [path.read_text() for path in (ROOT / "src/chapterverse/ingest").rglob("*.py")]
    reasons = {one for text in sources for one in re.findall(r'UnreadableFileError\(\s*"(\w+)"', text)}
    reasons |= {one for text in sources for one in re.findall(r'reason = "(\w+)" if', text)}
    explained = set(re.findall(r"`(\w+)`", (ROOT / "docs/safety.md").read_text().partition("## Reasons")[2]))
    assert {"damaged", "missing", "refused"} <= reasons <= explained


def test_make_targets_in_the_readme_exist() -> None:
    targets = set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    mentioned = set(re.findall(r"\bmake ([a-z][\w-]*)", (ROOT / "README.md").read_text()))
    assert {"demo", "test"} <= mentioned <= targets | {"make"}
