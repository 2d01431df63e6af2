"""Ask a book. Get an answer that quotes it, chapter and verse, or a plain refusal."""

__version__ = "0.1.0"
