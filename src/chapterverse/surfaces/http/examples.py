from typing import Any

ASK: dict[int | str, dict[str, Any]] = {}
