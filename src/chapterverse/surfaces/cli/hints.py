"""The library's advice in the words of the command line."""

from __future__ import annotations

_HINTS = {
    "Name one of them.": "Say --index NAME, or set CHAPTERVERSE_INDEX.",
    "To use it all the same, give its dimensions.": (
        "From Python it can be used, with its dimensions; a server of your own with any model is `openai:MODEL`, at the"
        " address in OPENAI_BASE_URL."
    ),
    "allow_private_addresses": "--allow-private",
    "allow more time with CHAPTERVERSE_DEADLINE.": "allow more time, with --deadline SECONDS or CHAPTERVERSE_DEADLINE.",
    "drop it with remove_source, or add the place where it is now as replacing it.": (
        "`chapterverse remove INDEX --source ADDRESS` drops it, and `chapterverse add NEW --index INDEX --replacing"
        " ADDRESS` puts another place in its stead."
    ),
    "name it as replacing itself to choose anew": "say --replacing with its own address to choose anew",
    "or pass replace_old.": "or say --replace.",
    "selected_text is": "--selected is",
}
"""What the library advises, and how that is said on the command line."""


def with_flags(message: str) -> str:
    """A message of the library that names the command line's own options."""
    for hint, flag in _HINTS.items():
        message = message.replace(hint, flag)
    return message
