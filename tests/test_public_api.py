"""What is promised is there, and nothing is there by accident."""

from __future__ import annotations

import inspect
import subprocess
import sys

import pytest

import chapterverse
from chapterverse import errors


def test_every_public_name_exists_and_is_documented() -> None:
    assert chapterverse.__all__ == sorted(set(chapterverse.__all__))
    assert dir(chapterverse) == chapterverse.__all__
    for name in chapterverse.__all__:
        value = getattr(chapterverse, name)
        assert name == "__version__" or inspect.getdoc(value), name


def test_names_are_grouped_by_the_module_they_live_in() -> None:
    homes = {name for names in chapterverse._HOMES.values() for name in names}
    assert homes | {"__version__"} == set(chapterverse.__all__)


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        _ = chapterverse.nonsense


def test_importing_the_package_is_light() -> None:
    code = "import sys, chapterverse; print(len([m for m in sys.modules if m.startswith('chapterverse')]))"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "1\n"


def test_the_error_tree_is_the_one_drawn_in_its_docstring() -> None:
    drawn: dict[str, str] = {}
    path: list[tuple[int, str]] = []
    for line in (errors.__doc__ or "").splitlines():
        name = next((word for word in line.split() if word.endswith("Error")), None)
        if name is None or "Each carries" in line:
            continue
        depth = line.index(name)
        while path and path[-1][0] >= depth:
            path.pop()
        if path:
            drawn[name] = path[-1][1]
        path.append((depth, name))
    real = {
        name: cls.__bases__[0].__name__
        for name, cls in vars(errors).items()
        if inspect.isclass(cls) and issubclass(cls, errors.AstRagError) and cls is not errors.AstRagError
    }
    assert drawn == real


@pytest.mark.parametrize("name", [name for name, cls in vars(errors).items() if inspect.isclass(cls)])
def test_every_error_carries_what_a_caller_needs(name: str) -> None:
    cls = getattr(errors, name)
    if not issubclass(cls, errors.AstRagError):
        return
    cause = ValueError("why")
    arguments = ("damaged", "said") if cls is errors.UnreadableFileError else ("said",)
    error = cls(*arguments, details={"field": "x"}, cause=cause, retryable=True)
    assert (error.message, str(error), error.cause, error.retryable) == ("said", "said", cause, True)
    assert error.details["field"] == "x"
    assert error.__cause__ is cause


def test_an_unreachable_store_is_a_refused_connection() -> None:
    assert issubclass(errors.StoreUnreachableError, ConnectionRefusedError)
    assert errors.StoreUnreachableError("x").retryable
