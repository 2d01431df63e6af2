"""What the five contracts ask for, item by item, under the names that `docs/traceability.md` uses.

A field is a leaf of a request or response; a section such as `source` is what holds it, and no item of its own.
"""

from __future__ import annotations


def _under(path: str, names: str) -> list[str]:
    return [f"{path}{name}" for name in names.split()]


def _call(name: str, takes: list[str], gives: list[str], raises: str = "") -> list[str]:
    return [
        f"{name}()",
        *(f"{name}({field})" for field in takes),
        *(f"{name} → {field}" for field in gives),
        *(f"{name} raises {error}" for error in raises.split()),
    ]


def _numbered(name: str, count: int, width: int = 1) -> list[str]:
    return [f"{name}{number:0{width}}" for number in range(1, count + 1)]


FUNCTIONS = [
    *_call(
        "search_book_content",
        ["query", "mode", "filters", *_under("filters.", "source_url chapter"), "top_k"],
        ["results", *_under("results.", "id text score source_url source_title content_preview")],
        "InvalidQueryError RetrievalError",
    ),
    *_call(
        "generate_response", ["query", "retrieved_content"], ["response", "sources"], "GenerationError NoContentError"
    ),
    *_call("validate_response", ["response", "content"], ["is_valid", "issues"]),
    *_call("format_response", ["response", "sources"], ["formatted_response"]),
]

_RANKING = [
    *_under("", "topK minScore mode vectorWeight lexicalWeight"),
    *_under("rerank.", "enabled topN"),
    *_under("filters.", "fileIds mimeTypes"),
]
_RETRIEVAL = [f"retrieval.{name}" for name in _RANKING]
_PROVIDERS = "openai gemini vertex_gemini openrouter perplexity"
_MIME_TYPES = "text/plain application/pdf application/vnd.google-apps.document application/vnd.google-apps.presentation"

SURFACE = [
    "import alias",
    *_call("configure", ["config", "options"], []),
    *_call("getConfig", [], []),
    *_call("clearConfig", [], []),
    *_call(
        "buildIndex",
        [
            *_under("source.", "folderId includeSubfolders includeMimeTypes excludeFileIds"),
            *_under("source.includeMimeTypes: ", _MIME_TYPES),
            *_under("index.", "indexName destinationFolderId indexFileId"),
            *_under("embedding.", "provider model providerOptions"),
            *_under("embedding.provider: ", f"{_PROVIDERS} custom"),
            *_under("chunking.", "chunkSizeChars chunkOverlapChars minChunkChars"),
            *_under("options.", "maxFiles maxChunks skipParseFailures"),
            "auth",
        ],
        [],
    ),
    *_call("syncIndex", ["request"], []),
    *_call(
        "search",
        [
            *_under("", "indexFileId query"),
            *_RETRIEVAL,
            *_under("retrieval.mode: ", "vector hybrid"),
            *_under("alias ", "topK minScore filters mode vectorWeight lexicalWeight rerank"),
            "auth",
            "embedding.providerOptions",
        ],
        [
            *_under("", "query topK minScore mode"),
            *_under("results.", "chunkId fileId fileName mimeType page slide section text"),
            *_under("results.", "score vectorScore lexicalScore finalScore rerankScore"),
            "usage",
        ],
    ),
    *_call(
        "answer",
        [
            *_under("", "indexFileId question history.role history.content"),
            *_RETRIEVAL,
            *_under("retrieval.mode: ", "vector hybrid"),
            *_under("generation.", "provider model auth providerOptions options.temperature options.maxOutputTokens"),
            *_under("generation.provider: ", _PROVIDERS),
            *_under("options.", "requireCitations insufficientEvidenceMessage"),
            "auth",
        ],
        [
            *_under("", "status answer"),
            *_under("status: ", "ok insufficient_context"),
            *_under("citations.", "citationId chunkId fileId fileName mimeType page slide"),
            *_under("citations.", "score vectorScore lexicalScore finalScore snippet"),
            *_under("retrieval.", "topK minScore mode returned"),
            "usage",
        ],
    ),
    *_call("inspectIndex", ["request"], []),
    *_call("embeddingProviders", [], []),
    *_call("embeddingCapabilities", ["provider"], []),
    *_call("registerEmbeddingProvider", ["name", "adapter", "options"], []),
    *_call("unregisterEmbeddingProvider", ["name"], []),
    *_numbered("Grounding policy ", 4),
    *(
        f"AstRag{name}Error"
        for name in ("", *"Validation Auth Source Index Retrieval EmbeddingCapability Grounding".split())
    ),
]


def _entity(name: str, fields: str) -> list[str]:
    return [*_under(f"{name}.", fields), f"{name}: validation", f"{name}: relationships"]


DATA_MODEL = [
    *_entity("Agent Response", "content sources confidence timestamp"),
    *_entity("Retrieved Content Chunk", "id content similarity_score source_metadata embedding"),
    *_entity("Source Reference", "url section page title"),
    *_entity("Query Scope", "type identifier description"),
    *_under("Query Scope.type: ", "full-book section-specific page-specific"),
    *_numbered("State transition ", 5),
    *_numbered("Validation rule ", 4),
]

PRODUCT = [
    *(item for story in range(1, 5) for item in (f"Story {story}", *_numbered(f"Story {story}, scenario ", 3))),
    *_numbered("Edge case ", 8),
    *_numbered("FR-", 20, 3),
    *(
        f"Entity: {name}"
        for name in (
            *("User Question", "Selected Text Context", "Query Embedding", "Retrieved Chunks"),
            *("Validation Result", "Agent Answer", "RAG Agent"),
        )
    ),
    *_numbered("SC-", 10, 3),
    *_numbered("Constraint ", 10),
]

RETRIEVAL = _call(
    "retrieve_chunks",
    ["query", "filters", *_under("filters.", "source_url chapter section"), "top_k"],
    ["list", *_under("", "text source_url score"), "empty list"],
    "CohereAPIError UnexpectedResponse ConnectionRefusedError",
)

SPECIFICATION = {
    "The functions of an agent": FUNCTIONS,
    "The RAG surface": SURFACE,
    "The data model": DATA_MODEL,
    "The product": PRODUCT,
    "The retrieval module": RETRIEVAL,
}
