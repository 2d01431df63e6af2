"""A stand-in for a Qdrant server: the REST calls that the server store makes, answered by the embedded engine."""

from __future__ import annotations

import json
import re
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import jsonschema
import qdrant_edge as qdrant

from chapterverse.index.shard import engine_filter
from tests.index.published import REQUESTS

SCHEMAS = {"keyword": qdrant.PayloadSchemaType.Keyword, "integer": qdrant.PayloadSchemaType.Integer}


class Refusal(Exception):
    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


class StandIn:
    """Takes what the published interface takes, in strict mode, as Qdrant's cloud is: no filter without an index.

    `fail_next` holds status codes that the next requests are answered with, one each.
    """

    def __init__(self, folder: Path, api_key: str | None = None, version: str = "1.15.0") -> None:
        self.api_key = api_key
        self.version = version
        self.fail_next: list[int] = []
        self.requests: list[str] = []
        self.created: list[dict[str, Any]] = []
        self._folder = folder
        self._shards: dict[str, qdrant.EdgeShard] = {}
        self._indexed: dict[str, dict[str, str]] = {}
        self.aliases: dict[str, str] = {}
        self._lock = threading.Lock()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        self._thread.start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}"

    @property
    def collections(self) -> list[str]:
        return sorted(self._shards)

    @property
    def point_count(self) -> int:
        return sum(shard.info().points_count for shard in self._shards.values())

    def stop(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()
        for shard in self._shards.values():
            shard.close()

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        standin = self

        class Handler(BaseHTTPRequestHandler):
            def handle_any(self) -> None:
                body = self.rfile.read(int(self.headers.get("content-length") or 0))
                path = self.path.partition("?")[0]
                try:
                    if standin.api_key and self.headers.get("api-key") != standin.api_key:
                        raise Refusal(401, "Must provide an API key")
                    with standin._lock:
                        answer = standin._answer(self.command, path, json.loads(body) if body else {})
                    self.reply(200, answer)
                except Refusal as refusal:
                    self.reply(refusal.status, {"status": {"error": str(refusal)}, "time": 0})

            def reply(self, status: int, answer: Any) -> None:
                content = json.dumps(answer).encode()
                self.send_response(status)
                self.send_header("content-type", "application/json")
                self.send_header("content-length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

            def log_message(self, format: str, *args: Any) -> None:
                pass

            do_GET = do_PUT = do_POST = do_DELETE = handle_any

        return Handler

    def _answer(self, method: str, path: str, body: dict[str, Any]) -> Any:
        self.requests.append(f"{method} {path}")
        self._check_request(method, path, body)
        if self.fail_next:
            raise Refusal(self.fail_next.pop(0), "told to fail")
        if path == "/":
            return {"title": "qdrant", "version": self.version}
        return {"result": self._route(method, path, body), "status": "ok", "time": 0.0}

    @staticmethod
    def _check_request(method: str, path: str, body: dict[str, Any]) -> None:
        """As the published interface has it, or it is refused, as a server would."""
        named = path if path == "/collections/aliases" else re.sub(r"^(/collections)/[^/]+", r"\1/{}", path)
        try:
            REQUESTS[method, named].validate(body)
        except (KeyError, jsonschema.ValidationError) as error:
            raise Refusal(400, f"Format error in JSON body: {error}") from error

    def _route(self, method: str, path: str, body: dict[str, Any]) -> Any:
        if (method, path) == ("GET", "/aliases"):
            return {"aliases": [{"alias_name": a, "collection_name": c} for a, c in self.aliases.items()]}
        if (method, path) == ("POST", "/collections/aliases"):
            return self._change_aliases(body["actions"])
        if (method, path) == ("GET", "/collections"):
            return {"collections": [{"name": name} for name in self._shards]}
        found = re.fullmatch(r"/collections/([^/]+)(/.*)?", path)
        assert found, f"{method} {path} is not covered"
        name, rest = found.group(1), found.group(2) or ""
        if (method, rest) == ("PUT", ""):
            return self._create(name, body)
        name = self.aliases.get(name, name)
        if name not in self._shards:
            raise Refusal(404, f"Not found: Collection `{name}` doesn't exist!")
        if (method, rest) == ("DELETE", ""):
            self._shards.pop(name).close()
            return True
        if (method, rest) == ("PUT", "/index"):
            self._indexed[name][body["field_name"]] = body["field_schema"]
        self._check_filter(name, body.get("filter", {}))
        return getattr(self, CALLS[method, rest])(self._shards[name], body)

    def _check_filter(self, name: str, where: dict[str, Any]) -> None:
        for condition in (*where.get("must", ()), *where.get("must_not", ())):
            if "has_id" in condition:
                continue
            needed = "integer" if "range" in condition else "keyword"
            if self._indexed[name].get(condition["key"]) != needed:
                missing = f'Index required but not found for "{condition["key"]}" of one of the following types: '
                raise Refusal(400, f"Bad request: {missing}[{needed}]. Help: Create an index for this key or use a")

    def _create(self, name: str, body: dict[str, Any]) -> bool:
        if name in self._shards:
            raise Refusal(409, "Collection already exists!")
        assert body["vectors"]["dense"]["distance"] == "Cosine"
        assert body["vectors"]["dense"]["datatype"] == "float16"
        assert body["sparse_vectors"]["bm25"]["modifier"] == "idf"
        config = qdrant.EdgeConfig(
            vectors={
                "dense": qdrant.EdgeVectorParams(
                    size=body["vectors"]["dense"]["size"],
                    distance=qdrant.Distance.Cosine,
                    datatype=qdrant.VectorStorageDatatype.Float16,
                )
            },
            sparse_vectors={"bm25": qdrant.EdgeSparseVectorParams(modifier=qdrant.Modifier.Idf)},
        )
        folder = self._folder / name
        folder.mkdir()
        self._shards[name] = qdrant.EdgeShard.create(str(folder), config)
        self._indexed[name] = {}
        self.created.append(body)
        return True

    def _change_aliases(self, actions: list[dict[str, Any]]) -> bool:
        for action in actions:
            if "delete_alias" in action:
                self.aliases.pop(action["delete_alias"]["alias_name"])
            else:
                create = action["create_alias"]
                self.aliases[create["alias_name"]] = create["collection_name"]
        return True

    def _index(self, shard: qdrant.EdgeShard, body: dict[str, Any]) -> Any:
        schema = SCHEMAS[body["field_schema"]]
        return self._update(shard, qdrant.UpdateOperation.create_field_index(body["field_name"], schema))

    def _upsert(self, shard: qdrant.EdgeShard, body: dict[str, Any]) -> Any:
        points = []
        for point in body["points"]:
            vectors = dict(point["vector"])
            if "bm25" in vectors:
                vectors["bm25"] = qdrant.SparseVector(vectors["bm25"]["indices"], vectors["bm25"]["values"])
            points.append(qdrant.Point(point["id"], vectors, point["payload"]))
        return self._update(shard, qdrant.UpdateOperation.upsert_points(points))

    def _set_payload(self, shard: qdrant.EdgeShard, body: dict[str, Any]) -> Any:
        operation = qdrant.UpdateOperation.set_payload_by_filter(engine_filter(body["filter"]), body["payload"])
        return self._update(shard, operation)

    def _delete_payload(self, shard: qdrant.EdgeShard, body: dict[str, Any]) -> Any:
        operation = qdrant.UpdateOperation.delete_payload_by_filter(engine_filter(body["filter"]), body["keys"])
        return self._update(shard, operation)

    def _delete(self, shard: qdrant.EdgeShard, body: dict[str, Any]) -> Any:
        return self._update(shard, qdrant.UpdateOperation.delete_points_by_filter(engine_filter(body["filter"])))

    def _query(self, shard: qdrant.EdgeShard, body: dict[str, Any]) -> Any:
        vector = body["query"]["nearest"] if "nearest" in body["query"] else body["query"]
        if isinstance(vector, dict):
            vector = qdrant.SparseVector(vector["indices"], vector["values"])
        request = qdrant.QueryRequest(
            limit=body["limit"],
            query=qdrant.Query.Nearest(vector, using=body["using"]),
            filter=engine_filter(body["filter"]),
            with_payload=body["with_payload"],
            with_vector=body["with_vector"],
        )
        found = shard.query(request)
        return {"points": [{**self._point(point), "score": point.score, "version": 0} for point in found]}

    def _retrieve(self, shard: qdrant.EdgeShard, body: dict[str, Any]) -> Any:
        return [self._point(point) for point in shard.retrieve(body["ids"], body["with_payload"], body["with_vector"])]

    def _scroll(self, shard: qdrant.EdgeShard, body: dict[str, Any]) -> Any:
        request = qdrant.ScrollRequest(
            offset=body.get("offset"),
            limit=body["limit"],
            filter=engine_filter(body["filter"]),
            with_payload=body["with_payload"],
            with_vector=body["with_vector"],
        )
        found, following = shard.scroll(request)
        offset = None if following is None else str(following)
        return {"points": [self._point(point) for point in found], "next_page_offset": offset}

    def _count(self, shard: qdrant.EdgeShard, body: dict[str, Any]) -> Any:
        return {"count": shard.count(qdrant.CountRequest(filter=engine_filter(body["filter"])))}

    @staticmethod
    def _update(shard: qdrant.EdgeShard, operation: qdrant.UpdateOperation) -> Any:
        shard.update(operation)
        return {"operation_id": 0, "status": "completed"}

    @staticmethod
    def _point(point: Any) -> dict[str, Any]:
        vector = dict(point.vector) if isinstance(point.vector, dict) else None
        if vector and "bm25" in vector:
            vector["bm25"] = {"indices": vector["bm25"].indices, "values": vector["bm25"].values}
        return {"id": str(point.id), "payload": point.payload, "vector": vector}


CALLS = {
    ("PUT", "/index"): "_index",
    ("PUT", "/points"): "_upsert",
    ("POST", "/points"): "_retrieve",
    ("POST", "/points/payload"): "_set_payload",
    ("POST", "/points/payload/delete"): "_delete_payload",
    ("POST", "/points/delete"): "_delete",
    ("POST", "/points/query"): "_query",
    ("POST", "/points/scroll"): "_scroll",
    ("POST", "/points/count"): "_count",
}
