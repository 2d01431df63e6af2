"""What the RAG surface returns: the engine's results under the contract's names, and nothing else."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from pydantic.alias_generators import to_camel

from chapterverse.answer.retrieve import Retrieval
from chapterverse.contracts.fields import CITATION, INDEX_SOURCE, RERANKED_RESULT, SEARCH_RESULT, view
from chapterverse.index.build import BuildResult
from chapterverse.index.manifest import SCHEMA_VERSION
from chapterverse.index.sync import SyncResult
from chapterverse.library import Inspection, SearchResult
from chapterverse.protocols import EmbeddingUsage
from chapterverse.types import Answer, Citation, Notice

Body = dict[str, Any]

_NO_GENERATION = {"requests": 0, "input_tokens": 0, "output_tokens": 0}
_ANSWERED = frozenset({"ok", "partial", "conflict"})
_SIZES = {"size": "chunkSizeChars", "overlap": "chunkOverlapChars", "minimum": "minChunkChars"}


def camel(value: Any) -> Any:
    """Plain data with camelCase keys."""
    if isinstance(value, Mapping):
        return {to_camel(key): camel(inner) for key, inner in value.items()}
    return [camel(inner) for inner in value] if isinstance(value, list | tuple) else value


def built(result: BuildResult, index_file_id: str) -> Body:
    return {
        "indexFileId": index_file_id,
        "indexName": result.record.name,
        "chunkCount": result.chunk_count,
        "sourceCount": result.source_count,
        "createdAt": result.record.created_at,
        "updatedAt": result.record.updated_at,
        "warnings": _warnings(result.warnings),
    }


def synced(result: SyncResult, index_file_id: str, dry_run: bool) -> Body:
    counts = camel({name: value for name, value in asdict(result).items() if isinstance(value, int)})
    return {
        "indexFileId": index_file_id,
        "dryRun": dry_run,
        **counts,
        "updatedAt": result.record.updated_at,
        "warnings": _warnings(result.warnings),
    }


def inspected(inspection: Inspection, index_file_id: str) -> Body:
    """The index record, and how much it holds."""
    record = inspection.record
    return {
        "indexFileId": index_file_id,
        "schemaVersion": SCHEMA_VERSION,
        "indexId": record.id,
        "indexName": record.name,
        "createdAt": record.created_at,
        "updatedAt": record.updated_at,
        "embedding": asdict(record.embedding),
        "chunking": {_SIZES[name]: value for name, value in record.chunking.items()},
        "retrievalDefaults": _ranking(record.retrieval_defaults),
        "sourceConfig": {"sources": [_source(spec) for spec in record.source_config.get("sources", [])]},
        "sources": [view(source, INDEX_SOURCE) for source in inspection.sources],
        "sync": camel(record.sync),
        "chunkCount": inspection.stats.chunks,
        "sourceCount": inspection.stats.sources,
        "sizeBytes": inspection.stats.size_bytes,
    }


def _ranking(defaults: Mapping[str, Any]) -> Body:
    top_n = defaults.get("rerank_top_n")
    shown: Body = camel({name: value for name, value in defaults.items() if name != "rerank_top_n"})
    return {**shown, "rerank": {"enabled": True, "topN": top_n}} if top_n else shown


def _source(spec: Mapping[str, Any]) -> Body:
    mime_types = spec["include_mime_types"]
    return {
        "folderId": spec["address"],
        "includeSubfolders": spec["include_subfolders"],
        "includeMimeTypes": None if mime_types is None else list(mime_types),
        "excludeFileIds": list(spec["exclude_file_ids"]),
    }


def searched(result: SearchResult) -> Body:
    settings = result.settings
    table = RERANKED_RESULT if settings.rerank_top_n else SEARCH_RESULT
    return {
        "query": result.query,
        "topK": settings.top_k,
        "minScore": settings.min_score,
        "mode": settings.mode,
        "results": [view(found, table) for found in result.found],
        **({} if result.found else {"nothingBecause": result.nothing_because}),
        "usage": usage(asdict(result.usage), {}, result.diagnostics.seconds),
    }


def answered(answer: Answer, settings: Retrieval, insufficient: str) -> Body:
    """An answer, or that there is too little context for one; a question back to the user is passed on as it is."""
    ok = answer.status in _ANSWERED
    return {
        "status": "ok" if ok else "insufficient_context",
        "answer": insufficient if answer.status == "refused" else answer.text,
        "citations": [view(citation, CITATION) for citation in _cited(answer.citations)] if ok else [],
        "retrieval": {
            "topK": settings.top_k,
            "minScore": settings.min_score,
            "mode": settings.mode,
            "returned": len(answer.passages),
        },
        "usage": usage(answer.usage.get("embedding", {}), answer.usage.get("generation", {}), answer.timings),
    }


def _cited(citations: Sequence[Citation]) -> list[Citation]:
    """One citation for each passage: the engine has one for each quote."""
    first: dict[str, Citation] = {}
    for citation in citations:
        first.setdefault(citation.id, citation)
    return list(first.values())


def usage(embedding: Mapping[str, Any], generation: Mapping[str, Any], seconds: Mapping[str, float]) -> Body:
    """The one shape of usage, whatever was used."""
    timings = {stage: round(time * 1000, 3) for stage, time in seconds.items()}
    return {
        "embedding": camel({**asdict(EmbeddingUsage()), **embedding}),
        "generation": camel({**_NO_GENERATION, **generation}),
        "timingsMs": camel(timings),
    }


def _warnings(notices: Sequence[Notice]) -> list[Body]:
    return [camel(asdict(notice)) for notice in notices]
