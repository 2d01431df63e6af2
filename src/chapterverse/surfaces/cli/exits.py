"""Exit codes."""

from __future__ import annotations

OK = 0
FAILED = 1
USAGE = 2
"""The call or its input is wrong."""
PARTIAL = 3
"""Some files were left out, or there are warnings."""
STOPPED = 130
"""With Ctrl-C."""
