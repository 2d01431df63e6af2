"""What a Qdrant server takes: the requests that the server store makes, as the published OpenAPI describes them.

Written by hand for github.com/qdrant/qdrant, docs/redoc/master/openapi.json (November 2026), as far as the store could
use it; a test compares the fields with the models that Qdrant's client generates from that file. Objects are closed: a
field that is misspelt, or that belongs elsewhere, is refused.
"""

from __future__ import annotations

from typing import Any

from jsonschema import Draft202012Validator

Schema = dict[str, Any]


def _closed(required: tuple[str, ...] = (), **properties: Schema) -> Schema:
    return {
        "type": "object",
        "properties": properties,
        "required": list(required),
        "additionalProperties": False,
    }


def _list_of(items: Schema) -> Schema:
    return {"type": "array", "items": items}


def _either(*schemas: Schema) -> Schema:
    return {"anyOf": list(schemas)}


ANY: Schema = {}
TEXT: Schema = {"type": "string"}
FLAG: Schema = {"type": "boolean"}
NUMBER: Schema = {"type": "number"}
COUNT: Schema = {"type": "integer", "minimum": 0}
POSITIVE: Schema = {"type": "integer", "minimum": 1}
PAYLOAD: Schema = {"type": "object"}

_UUID: Schema = {"type": "string", "pattern": "^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$"}
POINT_ID = _either(COUNT, _UUID)
SHARD_KEY = _either(TEXT, COUNT, _list_of(_either(TEXT, COUNT)))

SPARSE = _closed(("indices", "values"), indices=_list_of(COUNT), values=_list_of(NUMBER))
DENSE = {"type": "array", "items": NUMBER, "minItems": 1}
VECTOR = _either(DENSE, SPARSE)

MATCH = _either(
    _closed(("value",), value=_either(TEXT, {"type": "integer"}, FLAG)),
    _closed(("any",), any=_either(_list_of(TEXT), _list_of({"type": "integer"}))),
)
RANGE = _closed((), lt=NUMBER, gt=NUMBER, gte=NUMBER, lte=NUMBER)
FIELD_CONDITION = {**_closed(("key",), key=TEXT, match=MATCH, range=RANGE), "minProperties": 2}
HAS_ID = _closed(("has_id",), has_id=_list_of(POINT_ID))
_CONDITIONS = _list_of(_either(FIELD_CONDITION, HAS_ID))
FILTER = _closed((), must=_CONDITIONS, must_not=_CONDITIONS, should=_CONDITIONS)

WITH_PAYLOAD = _either(FLAG, _list_of(TEXT))
WITH_VECTOR = _either(FLAG, _list_of(TEXT))

DENSE_PARAMS = _closed(
    ("size", "distance"),
    size=POSITIVE,
    distance={"enum": ["Cosine", "Euclid", "Dot", "Manhattan"]},
    datatype={"enum": ["float32", "uint8", "float16"]},
    on_disk=FLAG,
)
SPARSE_PARAMS = _closed((), index=PAYLOAD, modifier={"enum": ["none", "idf"]})
NEW_ALIAS = _closed(("collection_name", "alias_name"), collection_name=TEXT, alias_name=TEXT)
ALIAS_ACTION = _either(
    _closed(("create_alias",), create_alias=NEW_ALIAS),
    _closed(("delete_alias",), delete_alias=_closed(("alias_name",), alias_name=TEXT)),
)

_REQUESTS: dict[tuple[str, str], Schema] = {
    ("PUT", "/collections/{}"): _closed(
        (),
        vectors={"type": "object", "additionalProperties": DENSE_PARAMS},
        sparse_vectors={"type": "object", "additionalProperties": SPARSE_PARAMS},
        shard_number=POSITIVE,
        replication_factor=POSITIVE,
        write_consistency_factor=POSITIVE,
        on_disk_payload=FLAG,
    ),
    ("DELETE", "/collections/{}"): _closed(),
    ("PUT", "/collections/{}/index"): _closed(
        ("field_name",),
        field_name=TEXT,
        field_schema={"enum": ["keyword", "integer", "float", "geo", "text", "bool", "datetime", "uuid"]},
    ),
    ("PUT", "/collections/{}/points"): _closed(
        ("points",),
        points=_list_of(
            _closed(
                ("id", "vector"),
                id=POINT_ID,
                vector={"type": "object", "additionalProperties": VECTOR},
                payload=PAYLOAD,
            )
        ),
        shard_key=SHARD_KEY,
    ),
    ("POST", "/collections/{}/points"): _closed(
        ("ids",), ids=_list_of(POINT_ID), with_payload=WITH_PAYLOAD, with_vector=WITH_VECTOR, shard_key=SHARD_KEY
    ),
    ("POST", "/collections/{}/points/payload"): _closed(
        ("payload",), payload=PAYLOAD, points=_list_of(POINT_ID), filter=FILTER, key=TEXT, shard_key=SHARD_KEY
    ),
    ("POST", "/collections/{}/points/payload/delete"): _closed(
        ("keys",), keys=_list_of(TEXT), points=_list_of(POINT_ID), filter=FILTER, shard_key=SHARD_KEY
    ),
    ("POST", "/collections/{}/points/delete"): _either(
        _closed(("points",), points=_list_of(POINT_ID), shard_key=SHARD_KEY),
        _closed(("filter",), filter=FILTER, shard_key=SHARD_KEY),
    ),
    ("POST", "/collections/{}/points/query"): _closed(
        (),
        query=_either(VECTOR, POINT_ID, _closed(("nearest",), nearest=_either(VECTOR, POINT_ID))),
        using=TEXT,
        filter=FILTER,
        params=PAYLOAD,
        score_threshold=NUMBER,
        limit=POSITIVE,
        offset=COUNT,
        with_payload=WITH_PAYLOAD,
        with_vector=WITH_VECTOR,
        shard_key=SHARD_KEY,
    ),
    ("POST", "/collections/{}/points/scroll"): _closed(
        (),
        offset=POINT_ID,
        limit=POSITIVE,
        filter=FILTER,
        with_payload=WITH_PAYLOAD,
        with_vector=WITH_VECTOR,
        order_by=ANY,
        shard_key=SHARD_KEY,
    ),
    ("POST", "/collections/{}/points/count"): _closed((), filter=FILTER, exact=FLAG, shard_key=SHARD_KEY),
    ("POST", "/collections/aliases"): _closed(("actions",), actions=_list_of(ALIAS_ACTION)),
    ("GET", "/collections"): _closed(),
    ("GET", "/aliases"): _closed(),
    ("GET", "/"): _closed(),
}
"""By method and path, in which {} is a collection or an alias; requests without a body have an empty one here."""

REQUESTS = {call: Draft202012Validator(schema) for call, schema in _REQUESTS.items()}
