"""The wheel carries all it needs: installed into an empty environment, it runs."""

from __future__ import annotations

import subprocess
import sys
import sysconfig
import venv
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(out), str(ROOT)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return next(out.glob("*.whl"))


def make_environment(folder: Path) -> Path:
    venv.create(folder, with_pip=True)
    return folder / ("Scripts" if sys.platform == "win32" else "bin")


def check_installed(bin_folder: Path, folder: Path) -> None:
    where = subprocess.run(
        [bin_folder / "python", "-c", "import chapterverse; print(chapterverse.__file__)"],
        capture_output=True, text=True, check=True, cwd=folder,
    )  # fmt: skip
    assert Path(where.stdout.strip()).is_relative_to(folder)
    shown = subprocess.run(
        [bin_folder / "chapterverse", "read", "sample"], capture_output=True, text=True, check=False, cwd=folder
    )
    assert shown.returncode == 0, shown.stderr
    assert "Chapter 12" in shown.stdout


def test_it_carries_the_sample_book_and_no_strangers(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    for suffix in (".md", ".pdf", ".epub", ".docx", ".pptx", ".html"):
        assert f"chapterverse/sample/the-clocks-of-harrow-vale{suffix}" in names
    assert "chapterverse/sample/questions.jsonl" in names
    assert "chapterverse/surfaces/http/static/index.html" in names
    assert "chapterverse/py.typed" in names
    assert all(name.startswith(("chapterverse/", "chapterverse-")) for name in names)


def test_it_runs_in_an_empty_environment(wheel: Path, tmp_path: Path) -> None:
    bin_folder = make_environment(tmp_path)
    install = [bin_folder / "python", "-m", "pip", "install", "--quiet", "--no-index", "--no-deps", wheel]
    subprocess.run(install, check=True, capture_output=True)
    # The dependencies are the pinned ones beside us; tests never reach a package registry.
    packages = subprocess.run(
        [bin_folder / "python", "-c", "import sysconfig; print(sysconfig.get_paths()['purelib'])"],
        capture_output=True, text=True, check=True,
    ).stdout.strip()  # fmt: skip
    (Path(packages) / "dependencies.pth").write_text(sysconfig.get_paths()["purelib"] + "\n")
    check_installed(bin_folder, tmp_path)
