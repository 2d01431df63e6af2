"""The command line as a user meets it: a real process, its output and its exit code."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from chapterverse.answer.prompts import NOT_IN_BOOK
from chapterverse.errors import AstRagValidationError
from chapterverse.surfaces.cli import app


def chapterverse(
    *arguments: str | Path, said: str = "", encoding: str = "utf-8", **environment: str
) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", "from chapterverse.surfaces.cli import main; main()", *map(str, arguments)]
    env = {**os.environ, "COLUMNS": "200", "NO_COLOR": "1", **environment}
    return subprocess.run(
        command, input=said, capture_output=True, encoding=encoding, env=env, check=False, timeout=120
    )


def test_read_shows_the_outline_with_printed_pages() -> None:
    done = chapterverse("read", "sample")
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[0].startswith("The Clocks of Harrow Vale")
    assert "application/pdf" in lines[1]
    assert any("Chapter 3: The Weight and the Drop" in line and "p. " in line for line in lines)
    assert done.stderr == ""


def test_read_as_json() -> None:
    report = json.loads(chapterverse("read", "sample", "--json").stdout)
    (book,) = report["documents"]
    assert book["words"] > 12_000
    assert book["pages"] > 50
    chapters = [entry for entry in book["outline"] if entry["level"] == 1 and entry["title"].startswith("Chapter")]
    assert len(chapters) == 12
    assert chapters[0]["page_label"] == "1"
    assert chapters[0]["page"] > 1
    assert report["failed"] == report["warnings"] == []


def test_read_a_folder_with_bad_files(tmp_path: Path) -> None:
    (tmp_path / "good.md").write_text("# Good\n\nText.\n")
    (tmp_path / "empty.pdf").write_bytes(b"")
    done = chapterverse("read", tmp_path)
    assert done.returncode == 3
    assert "not read empty.pdf: The file is empty (0 bytes)." in done.stdout
    assert "Good" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["read", "no-such-book.pdf"], 1, "no file or folder 'no-such-book.pdf'"),
        (["read", "ftp://x.example/book"], 1, "not supported"),
        (["read", "http://127.0.0.1:9/"], 1, "If you trust it, allow private addresses (--allow-private)."),
        (["add", "sample", "--embedding", "openai:other"], 1, "From Python it can be used, with its dimensions;"),
        (["read"], 2, "Missing argument"),
        (["read", "sample", "--nonsense"], 2, "No such option"),
        (["frobnicate"], 2, "No such command"),
    ],
)
def test_errors_are_readable_and_have_codes(arguments: list[str], code: int, message: str) -> None:
    done = chapterverse(*arguments)
    assert done.returncode == code
    assert message in done.stderr
    assert "Traceback" not in done.stderr


def test_bytes_that_are_no_text_are_refused_with_the_name_of_their_field(tmp_path: Path, clocks_home: Path) -> None:
    broken = os.fsdecode(b"who \xff built it")
    book = tmp_path / "book.txt"
    book.write_text("The bell weighs ten tons.")
    for field, arguments in {
        "question": ["ask", broken],
        "file_ids": ["search", "who built it", "--file", broken],
        "index": ["add", str(book), "--index", broken],
        "exclude": ["add", str(book), "--exclude", broken],
    }.items():
        done = chapterverse(*arguments, CHAPTERVERSE_HOME=str(clocks_home))
        assert done.returncode == 2, done.stderr
        assert done.stderr.startswith(f"chapterverse: {field}: this is not valid text")


def test_the_command_line_is_a_module_too_and_an_index_is_named_alike_everywhere(clocks_home: Path) -> None:
    command = [sys.executable, "-m", "chapterverse", "inspect"]
    env = {**os.environ, "CHAPTERVERSE_HOME": str(clocks_home), "NO_COLOR": "1"}
    told = [
        subprocess.run([*command, *named], capture_output=True, text=True, env=env, check=False)
        for named in (["clocks"], ["-i", "clocks"], ["--index", "clocks"], [], ["clocks", "-i", "clocks"])
    ]
    assert {one.stdout for one in told[:4]} == {told[0].stdout}
    assert told[0].stdout.startswith("clocks (clocks)")
    assert (told[4].returncode, "named twice" in told[4].stderr) == (2, True)


def test_too_many_files_say_how_to_go_on(tmp_path: Path) -> None:
    for i in range(3):
        (tmp_path / f"{i}.txt").write_text("x")
    done = chapterverse("read", tmp_path, "--max-files", "2")
    assert done.returncode == 2
    assert "3 files" in done.stderr
    assert chapterverse("read", tmp_path, "--max-files", "2", "--exclude", "0.txt").returncode == 0


def test_output_into_a_closed_pipe_is_no_error(tmp_path: Path) -> None:
    for i in range(400):
        (tmp_path / f"{i:03}-{'long' * 30}.txt").write_text("x")
    code = "from chapterverse.surfaces.cli import main; main()"
    reader = subprocess.Popen(
        [sys.executable, "-c", code, "read", str(tmp_path), "--json"], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert reader.stdout is not None
    assert reader.stderr is not None
    reader.stdout.read(10)
    reader.stdout.close()
    assert b"Traceback" not in reader.stderr.read()
    reader.stderr.close()
    reader.wait(60)


def test_ctrl_c_is_told_and_has_its_code(clocks_home: Path) -> None:
    watching = subprocess.Popen(
        [sys.executable, "-m", "chapterverse", "watch"],
        env={**os.environ, "CHAPTERVERSE_HOME": str(clocks_home), "PYTHONUNBUFFERED": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # a shell's background jobs ignore it
    )
    assert watching.stdout is not None
    assert watching.stdout.readline().startswith("Watching")
    watching.send_signal(signal.SIGINT)
    _, told = watching.communicate(timeout=60)
    assert (watching.returncode, told) == (130, "chapterverse: stopped.\n")


def test_an_output_without_the_characters_of_a_book_gets_escapes(tmp_path: Path) -> None:
    selection = "The “great bell” of Röda weighs 9 tons \U0001f514."
    asked = ["ask", "How much does the great bell of Röda weigh?", "--selected", selection]
    for encoding, escaped in (("ascii", r"bell\u201d of R\xf6da"), ("latin-1", r"bell\u201d of Röda")):
        told = chapterverse(*asked, PYTHONIOENCODING=encoding, CHAPTERVERSE_HOME=str(tmp_path), encoding=encoding)
        assert (told.returncode, told.stderr) == (0, "")
        assert escaped in told.stdout
        record = json.loads(chapterverse(*asked, "--json", PYTHONIOENCODING=encoding, encoding=encoding).stdout)
        assert record["citations"][0]["quote"] == selection


def test_streams_may_be_closed(tmp_path: Path) -> None:
    for call, code in (("list --json >&-", 0), ("ask -s - 'Who built it?' <&-", 2), ("inspect nothing 2>&-", 1)):
        done = subprocess.run(
            ["sh", "-c", f"{sys.executable} -m chapterverse {call}"],
            env={**os.environ, "CHAPTERVERSE_HOME": str(tmp_path)},
            capture_output=True,
            text=True,
            check=False,
        )
        assert (done.returncode, "Traceback" in done.stderr) == (code, False), done.stderr


def test_a_question_can_come_from_stdin(tmp_path: Path) -> None:
    text, home = "The bell was cast in 1702.", {"CHAPTERVERSE_HOME": str(tmp_path)}
    told = chapterverse("ask", "-", "--selected", text, said="When was the\nbell cast?\n", **home)
    assert (told.returncode, told.stdout.splitlines()[:1]) == (0, [text])
    both = chapterverse("ask", "-", "--selected", "-", said=text, **home)
    assert (both.returncode, "not both" in both.stderr) == (2, True)


def test_rows_of_a_table_are_lines_to_other_programs(tmp_path: Path) -> None:
    name = f"{'a-very-long-name-' * 6}of-a-book.md"
    (tmp_path / name).write_text("# A book\n\nThe bell was cast in 1702.\n")
    (tmp_path / "other.md").write_text("# Another book\n\nThe mill was built in 1810.\n")
    environment = {key: value for key, value in os.environ.items() if key != "COLUMNS"}
    command = [sys.executable, "-m", "chapterverse", "read", str(tmp_path)]
    told = subprocess.run(command, capture_output=True, text=True, env=environment, check=False).stdout
    assert [line.split()[:3] for line in told.splitlines()[1:2]] == [[name, "A", "book"]]


def test_start_up_imports_nothing_heavy() -> None:
    code = (
        "import sys; from chapterverse.surfaces import cli;"
        "heavy = {'lxml', 'pypdfium2', 'nupunkt', 'numpy', 'onnxruntime', 'qdrant_client', 'qdrant_edge', 'agents',"
        " 'openai', 'httpx2', 'selectolax', 'markdown_it', 'google'};"
        "print(sorted(heavy & {name.partition('.')[0] for name in sys.modules}))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_ask_and_search_within_a_place(
    clocks_home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("CHAPTERVERSE_HOME", str(clocks_home))

    def run(*arguments: str) -> Any:
        assert app([*arguments, "--json"], standalone_mode=False) == 0
        return json.loads(capsys.readouterr().out)

    question = "What did Ambrose Kell place in a new apprentice's hand?"
    inside = run("ask", question, "--page", "12")
    assert (inside["status"], inside["citations"][0]["page_label"]) == ("ok", "12")
    for outside in (("--scope", "Chapter 9"), ("--read-until", "9"), ("--file", "another.pdf")):
        said = run("ask", question, *outside)
        assert (said["status"], [c for c in said["matched_chunks"] if c["page_label"] == "12"]) == ("refused", []), (
            outside
        )
    assert {one["page_label"] for one in run("search", "a weight", "--section", "page 12")["results"]} <= {"11", "12"}
    selected = ("--selected", "A weight.")
    for wrong, told in (
        (("--section", "Chapter 3", "--page", "12"), "not both"),
        ((*selected, "--page", "12"), "is answered from alone"),
        ((*selected, "--file", "a.pdf"), "is answered from alone"),
        ((*selected, "--index", "clocks"), "is answered from alone"),
        (("--index", ""), "must not be blank"),
    ):
        with pytest.raises(AstRagValidationError, match=told):
            app(["ask", question, *wrong], standalone_mode=False)


def test_what_a_book_says_is_printed_to_the_letter(
    clocks_home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("CHAPTERVERSE_HOME", str(clocks_home))
    question, quote = "Which folder holds the maps?", "The folder that holds the maps [bold] is :key: C:\\maps\\"
    app(["ask", question, "-s", quote], standalone_mode=False)
    told = capsys.readouterr().out.splitlines()
    assert told[:3] == [quote, "[1] selected text", f"    “{quote}”"]
    app(["ask", question, "-s", "Maps are made of paper.\n\nKell drew them.\\", "--explain"], standalone_mode=False)
    assert capsys.readouterr().out.endswith("answer:\n  Maps are made of paper. Kell drew them.\\\n")
    app(["ask", question, "-s", "Maps are made of paper. " * 9, "--explain"], standalone_mode=False)
    assert capsys.readouterr().out.endswith("\n  " + "Maps are made of paper. " * 8 + "Maps are…\n")


def test_names_and_headings_are_printed_to_the_letter_and_take_over_no_terminal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("CHAPTERVERSE_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("COLUMNS", "200")
    folder = tmp_path / "books"
    folder.mkdir()
    heading, name = "[red]Danger[/red] :smile: zone [/i]", "m[/k] :key:\x1b]0;x"
    (folder / "bell\x1b[2J\x9b.md").write_text(f"# {heading}\n\nThe bell was cast in 1702.\n")
    (folder / "empty[b]\x1b[2J.md").write_text("<!-- nothing -->\n")
    (folder / "mill.md").write_text("# Mill\n\nThe mill was built in 1810.\n")
    shown = "m[/k] :key:␛]0;x"
    for arguments, expected in (
        (["read", str(folder)], [heading, "bell␛[2J�.md", "empty[b]␛[2J.md"]),
        (["read", str(folder / "bell\x1b[2J\x9b.md")], [heading]),
        (["add", str(folder), "--index", name], [f"Indexed {shown}: ", "warning empty[b]␛[2J.md: "]),
        (["sync"], [f"{shown}: nothing has changed"]),
        (["list"], [shown]),
        (["inspect"], [heading, shown, "bell␛[2J�.md"]),
        (["search", "bell cast"], [heading, "The bell was cast in 1702."]),
        (["ask", "When was the bell cast?", "--save", str(tmp_path / "[b].json")], ["bell␛[2J�.md"]),
        (["verify", str(tmp_path / "[b].json"), "--book", str(tmp_path / "books" / "mill.md")], ["bell␛[2J�.md"]),
        (["export", str(tmp_path / "[i]kept.zip")], [f"Wrote {shown} to ", "[i]kept.zip"]),
        (["list", "--json"], [r"m[/k] :key:\u001b]0;x"]),
        (["search", "bell cast", "--json"], [r"bell\u001b[2J\u009b.md"]),
    ):
        assert app(arguments, standalone_mode=False) in (0, 1, 3)
        told = capsys.readouterr()
        assert not set(told.out + told.err) & {"\x1b", "\x9b"}, arguments
        assert [one for one in expected if one not in told.out] == [], (arguments, told.out)
    failed = chapterverse("inspect", name + "[/x]", CHAPTERVERSE_HOME=str(tmp_path / "home"))
    assert (failed.returncode, "\x1b" in failed.stderr) == (1, False)
    assert failed.stderr.startswith("chapterverse: There is no index 'm[/k] :key:")


def test_a_receipt_is_verified_and_a_forged_one_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "receipt.json"
    selected = "The great bell was cast in 1702 by Josiah Penhale."
    app(["ask", "Who cast the bell?", "--selected", selected, "--save", str(path)], standalone_mode=False)
    capsys.readouterr()
    verify = ["verify", str(path), "--book", str(tmp_path)]
    assert app(verify, standalone_mode=False) == 0
    assert capsys.readouterr().out.splitlines() == [
        "ok The quote stands in the selected text.",
        "ok The receipt is as it was written, by its hash; it is not signed.",
    ]
    data = json.loads(path.read_text())
    data["answer"] = "Josiah Penhale beat his apprentices with the bell."
    data["sentences"][0].update(kind="statement", text=data["answer"])
    path.write_text(json.dumps(data))
    assert app(verify, standalone_mode=False) == 1
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines()] == ["ok", "unsupported", "altered"]


def test_more_time_can_be_allowed() -> None:
    asked = ["ask", "Who cast the bell?", "-s", "The great bell was cast in 1702 by Josiah Penhale."]
    hurried = chapterverse(*asked, CHAPTERVERSE_DEADLINE="0.0001")
    assert hurried.returncode == 1
    assert "allow more time, with --deadline SECONDS or CHAPTERVERSE_DEADLINE." in hurried.stderr
    assert chapterverse(*asked, "--deadline", "200", CHAPTERVERSE_DEADLINE="0.0001").returncode == 0
    for wrong, said in (
        (chapterverse(*asked, "--deadline", "inf"), "The deadline is inf s;"),
        (chapterverse("list", CHAPTERVERSE_DEADLINE="0"), "deadline (CHAPTERVERSE_DEADLINE): "),
    ):
        assert (wrong.returncode, wrong.stdout) == (2, "")
        assert said in wrong.stderr
        assert "Traceback" not in wrong.stderr


def test_an_answer_shows_its_confidence(
    clocks_home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("CHAPTERVERSE_HOME", str(clocks_home))
    app(
        ["ask", "Who cast the bell?", "-s", "The great bell was cast in 1702 by Josiah Penhale."], standalone_mode=False
    )
    *_, last = capsys.readouterr().out.splitlines()
    assert re.fullmatch(r"confidence ■+□* \d+%", last)
    app(["ask", "How do I bake a cake?"], standalone_mode=False)
    assert capsys.readouterr().out == f"{NOT_IN_BOOK}\n"


def test_nobody_to_ask_which_index_and_files_that_cannot_be_used(tmp_path: Path) -> None:
    home = {"CHAPTERVERSE_HOME": str(tmp_path / "home")}
    for name in ("bells", "mills"):
        (tmp_path / f"{name}.md").write_text("# A book\n\nThe great bell was cast in 1702.\n")
    assert chapterverse("add", tmp_path / "bells.md", tmp_path / "mills.md", "--quiet", **home).returncode == 0
    asked = chapterverse("ask", "When was the great bell cast?", **home)
    assert asked.returncode == 1
    assert "There are: bells, mills. Say --index NAME, or set CHAPTERVERSE_INDEX." in asked.stderr
    removed = chapterverse("remove", "bells", **home)
    assert (removed.returncode, "There is nobody to ask: say --yes" in removed.stderr) == (1, True)
    receipt = tmp_path / "nowhere" / "receipt.json"
    saved = chapterverse("ask", "When was the great bell cast?", "--index", "bells", "--save", receipt, **home)
    assert (saved.returncode, "1702" in saved.stdout) == (1, True)
    assert saved.stderr == f"chapterverse: {receipt} cannot be used: No such file or directory.\n"
    kept = tmp_path / "receipt.json"
    nobody, listens = os.pipe()
    os.close(nobody)
    command = [sys.executable, "-c", "from chapterverse.surfaces.cli import main; main()", "ask", "When was it cast?"]
    options = ["--selected", "The great bell was cast in 1702.", "--save", str(kept)]
    subprocess.run([*command, *options], stdout=listens, stderr=subprocess.DEVNULL, env=os.environ | home, check=False)
    os.close(listens)
    assert "1702" in kept.read_text(), "a receipt is kept though nobody reads the answer, as behind `| head`"
