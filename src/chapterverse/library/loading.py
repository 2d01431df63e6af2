"""Loading the agent: the SDK that it is built with is most of what a first question waits for."""

from __future__ import annotations

import gc
import sys
from concurrent.futures import Future, ThreadPoolExecutor
from functools import cache
from importlib import import_module
from importlib.util import find_spec, module_from_spec, spec_from_file_location
from pathlib import Path

_AGENT = "chapterverse.answer.models"
_MCP_ERRORS = "mcp.shared.exceptions"


@cache
def agent_loading() -> Future[None]:
    """The agent as it is being loaded, once in a process, in a thread that no other work waits for."""
    thread = ThreadPoolExecutor(1, thread_name_prefix="chapterverse-loading")
    loading = thread.submit(load_agent)
    thread.shutdown(wait=False)
    return loading


def load_agent() -> None:
    """Import the agent with its SDK."""
    first, collecting = _AGENT not in sys.modules, gc.isenabled()
    gc.disable()  # an import makes a hundred thousand objects, and all of them stay
    try:
        if first and "mcp" not in sys.modules:
            _load_mcp_errors()
        import_module(_AGENT)
        if first:
            gc.freeze()  # nor need later collections look at them, of which the last is at exit
    finally:
        if collecting:
            gc.enable()


def _load_mcp_errors() -> None:
    """Load the one module of `mcp` that the SDK imports without its package.

    The package would bring its clients and servers: a third of all that there is to import, and none of it is used.
    Whoever imports the package later finds this module in its place.
    """
    package = find_spec("mcp")
    folder = next(iter(package.submodule_search_locations or ()), None) if package else None
    spec = spec_from_file_location(_MCP_ERRORS, Path(folder, "shared", "exceptions.py")) if folder else None
    if spec is None or spec.loader is None:
        return
    sys.modules[_MCP_ERRORS] = module = module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except ImportError:  # another version, built otherwise: the SDK imports it whole
        del sys.modules[_MCP_ERRORS]
