"""What each vendor takes: its embeddings request, as the vendor publishes it. Written by hand, November 2026.

Objects are closed: a field that is misspelt, or that only another vendor has, is refused. Where a vendor's SDK is
generated from what it publishes, a test compares the fields with the SDK's.
"""

from __future__ import annotations

from typing import Any

Schema = dict[str, Any]

_TEXT: Schema = {"type": "string", "minLength": 1}
_SIZE: Schema = {"type": "integer", "minimum": 1}


def _closed(required: tuple[str, ...] = (), **properties: Schema) -> Schema:
    return {"type": "object", "properties": properties, "required": list(required), "additionalProperties": False}


def _up_to(most: int, items: Schema = _TEXT) -> Schema:
    return {"type": "array", "minItems": 1, "maxItems": most, "items": items}


# https://docs.cohere.com/reference/embed (POST /v2/embed)
COHERE = _closed(
    ("model", "input_type"),
    model=_TEXT,
    input_type={"enum": ["search_document", "search_query", "classification", "clustering", "image"]},
    texts=_up_to(96),
    images={"type": "array", "maxItems": 1},
    inputs={"type": "array", "maxItems": 96},
    max_tokens=_SIZE,
    output_dimension={"enum": [256, 512, 1024, 1536]},
    embedding_types={"type": "array", "items": {"enum": ["float", "int8", "uint8", "binary", "ubinary", "base64"]}},
    truncate={"enum": ["NONE", "START", "END"]},
    priority={"type": "integer", "minimum": 0, "maximum": 999},
)

# https://developers.openai.com/api/reference/resources/embeddings (POST /v1/embeddings)
_OPENAI_FIELDS = {
    "input": {"anyOf": [_TEXT, _up_to(2048)]},
    "model": _TEXT,
    "encoding_format": {"enum": ["float", "base64"]},
    "dimensions": _SIZE,
    "user": _TEXT,
}
OPENAI = _closed(("input", "model"), **_OPENAI_FIELDS)

# https://openrouter.ai/docs/api/api-reference/embeddings/create-embeddings (POST /api/v1/embeddings)
OPENROUTER = _closed(("input", "model"), **_OPENAI_FIELDS, input_type=_TEXT, provider={"type": "object"})

# https://docs.perplexity.ai/api-reference/embeddings-post (POST /v1/embeddings)
PERPLEXITY = _closed(
    ("input", "model"),
    input={"anyOf": [_TEXT, _up_to(512)]},
    model={"enum": ["pplx-embed-v1-0.6b", "pplx-embed-v1-4b"]},
    encoding_format={"enum": ["base64_int8", "base64_binary"]},
    dimensions={"type": "integer", "minimum": 128, "maximum": 2560},
)

TASK_TYPE: Schema = {
    "enum": [
        "SEMANTIC_SIMILARITY",
        "CLASSIFICATION",
        "CLUSTERING",
        "RETRIEVAL_DOCUMENT",
        "RETRIEVAL_QUERY",
        "CODE_RETRIEVAL_QUERY",
        "QUESTION_ANSWERING",
        "FACT_VERIFICATION",
    ]
}
_PARTS: Schema = {"type": "array", "minItems": 1, "items": _closed(("text",), text={"type": "string"})}
_CONTENT = _closed(("parts",), parts=_PARTS, role={"type": "string"})
EMBED_CONFIG = _closed(
    (),
    taskType=TASK_TYPE,
    title=_TEXT,
    outputDimensionality=_SIZE,
    autoTruncate={"type": "boolean"},
    documentOcr={"type": "boolean"},
    audioTrackExtraction={"type": "boolean"},
)

# https://ai.google.dev/api/embeddings (POST /{version}/models/{model}:batchEmbedContents)
GEMINI = _closed(
    ("requests",),
    requests=_up_to(
        100,
        _closed(
            ("model", "content"),
            model={"type": "string", "pattern": "^models/"},
            content=_CONTENT,
            taskType=TASK_TYPE,
            title=_TEXT,
            outputDimensionality=_SIZE,
            embedContentConfig=EMBED_CONFIG,
        ),
    ),
)

# https://cloud.google.com/vertex-ai/generative-ai/docs/model-reference/text-embeddings-api (POST …:predict); a request
# to gemini-embedding-001 takes a single text.
VERTEX = _closed(
    ("instances",),
    instances=_up_to(1, _closed(("content",), content=_TEXT, task_type=TASK_TYPE, title=_TEXT)),
    parameters=_closed((), autoTruncate={"type": "boolean"}, outputDimensionality=_SIZE),
)

# https://docs.cloud.google.com/python/docs/reference/aiplatform/latest/
# google.cloud.aiplatform_v1beta1.types.EmbedContentRequest (POST …:embedContent)
VERTEX_CONTENT = _closed(
    ("content",),
    content=_CONTENT,
    title=_TEXT,
    taskType=TASK_TYPE,
    outputDimensionality=_SIZE,
    autoTruncate={"type": "boolean"},
    embedContentConfig=EMBED_CONFIG,
)
