"""The library: books that are indexed, kept in step with their sources, searched and asked.

This is the only place that joins ingest, index, reading, answer and providers. `Library` is for plain code, and
`AsyncLibrary`, which does the work, for code that runs in an event loop.
"""

from chapterverse.library.asking import Generation
from chapterverse.library.asynchronous import AsyncLibrary, SearchResult
from chapterverse.library.blocking import Library
from chapterverse.library.catalogue import Inspection
from chapterverse.library.embedding import Access
from chapterverse.library.offers import Ingestion, SourceSpec

__all__ = ["Access", "AsyncLibrary", "Generation", "Ingestion", "Inspection", "Library", "SearchResult", "SourceSpec"]
