"""`/v1/chat/completions` and `/v1/models`: questions, answers and errors in OpenAI's shapes. Views, with no logic."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, StrictBool, StrictStr

from chapterverse.answer.cite import describe
from chapterverse.answer.render import footnote_piece, footnoted, footnotes
from chapterverse.contracts.ask import place_fields
from chapterverse.errors import AstRagValidationError
from chapterverse.types import Answer, AnswerSentence, Citation, IndexRecord

Body = dict[str, Any]
Link = Callable[[Citation], str]
"""Where a citation can be read."""

_NEUTRAL: Mapping[str, Sequence[Any]] = {
    "n": (1,),
    "top_p": (1,),
    "presence_penalty": (0,),
    "frequency_penalty": (0,),
    "logprobs": (False,),
    "response_format": ({"type": "text"},),
    "modalities": (["text"],),
    "tools": ([],),
    "tool_choice": ("none", "auto"),
    "parallel_tool_calls": (True, False),
    "store": (False,),
}
"""What clients send without wanting anything; any other value would want something that a book cannot do."""
_PARAM = re.compile(r"([a-z_]+(?:\.\w+)*): ")
"""The field that a complaint begins with."""
_CODES = {(401, "Unauthorized"): "invalid_api_key", (404, "AstRagIndexError"): "model_not_found"}
_RATE_LIMITED, _SERVER = 429, 500


class ContentPart(BaseModel):
    """A part of a message; only text can be asked."""

    type: Literal["text"]
    text: StrictStr


def _as_parts(content: Any) -> Any:
    """A text is its only part; null, as a refusal or a call of a tool has it, says nothing."""
    if content is None:
        return []
    return [{"type": "text", "text": content}] if isinstance(content, str) else content


class Message(BaseModel):
    """One turn of a conversation."""

    role: Literal["system", "developer", "user", "assistant"]
    content: Annotated[list[ContentPart], BeforeValidator(_as_parts)]

    @property
    def text(self) -> str:
        return "\n".join(part.text for part in self.content)


class StreamOptions(BaseModel):
    model_config = ConfigDict(extra="forbid")

    include_usage: StrictBool = False


class ChatRequest(BaseModel):
    """A conversation whose last message is the question."""

    model_config = ConfigDict(extra="allow")

    model: StrictStr = Field(description="The index to ask")
    messages: list[Message] = Field(min_length=1)
    stream: StrictBool | None = None
    stream_options: StreamOptions | None = None
    temperature: float | None = Field(default=None, ge=0, le=2)
    max_tokens: int | None = Field(default=None, ge=1)
    max_completion_tokens: int | None = Field(default=None, ge=1)
    user: StrictStr | None = None
    metadata: dict[str, str] | None = None

    def check(self) -> None:
        """Refuse what cannot be done here, rather than leave it out."""
        for name, value in (self.model_extra or {}).items():
            if value is not None and value not in _NEUTRAL.get(name, ()):
                raise AstRagValidationError(
                    f"{name}: this is not supported. A book is asked one question and quoted; leave {name} out."
                )
        if self.messages[-1].role != "user":
            raise AstRagValidationError("messages: the last message must be the user's: it is the question.")

    @property
    def question(self) -> str:
        return self.messages[-1].text

    @property
    def history(self) -> list[dict[str, str]]:
        """What was said before; a system message is neither a question nor an answer."""
        turns = (one for one in self.messages[:-1] if one.role in ("user", "assistant"))
        return [{"role": one.role, "content": one.text} for one in turns]

    @property
    def limits(self) -> dict[str, Any]:
        """What the request says about writing."""
        given = {"temperature": self.temperature, "max_tokens": self.max_completion_tokens or self.max_tokens}
        return {name: value for name, value in given.items() if value is not None}


class Completion:
    """The answer to one request, whole or in chunks; both say the same."""

    def __init__(self, request_id: str, model: str, created: int, link: Link) -> None:
        self._head = {"id": f"chatcmpl-{request_id}", "created": created, "model": model}
        self._link = link
        self._before: AnswerSentence | None = None

    def whole(self, answer: Answer) -> Body:
        """The response to a request that does not stream."""
        text = footnoted(answer)
        message = {"role": "assistant", "content": text, "refusal": None, "annotations": self._annotations(answer)}
        choice = {"index": 0, "message": message, "finish_reason": "stop", "logprobs": None}
        return {
            **self._head,
            "object": "chat.completion",
            "choices": [choice],
            "usage": _usage(answer),
            "chapterverse": _verdict(answer),
        }

    def opening(self) -> Body:
        return self._chunk({"role": "assistant", "content": ""})

    def sentence(self, sentence: AnswerSentence) -> Body:
        piece = footnote_piece(sentence, self._before)
        self._before = sentence
        return self._chunk({"content": piece})

    def ending(self, answer: Answer) -> list[Body]:
        """What is left to say when all sentences have been said: the footnotes, or that nothing can be said."""
        rest = footnotes(answer.citations) if self._before else footnoted(answer)
        delta = {"content": rest, "annotations": self._annotations(answer)}
        return [self._chunk(delta), {**self._chunk({}, "stop"), "chapterverse": _verdict(answer)}]

    def usage(self, answer: Answer) -> Body:
        return {**self._chunk({}), "choices": [], "usage": _usage(answer)}

    def _chunk(self, delta: Body, finish_reason: str | None = None) -> Body:
        choice = {"index": 0, "delta": delta, "finish_reason": finish_reason, "logprobs": None}
        return {**self._head, "object": "chat.completion.chunk", "choices": [choice]}

    def _annotations(self, answer: Answer) -> list[Body]:
        """A URL citation for each mark in the text."""
        found, text = [], ""
        for number, sentence in enumerate(answer.sentences):
            text += footnote_piece(sentence, answer.sentences[number - 1] if number else None)
            at = len(text) - sum(len(f"[{cited + 1}]") for cited in sentence.citations)
            for cited in sentence.citations:
                end = at + len(f"[{cited + 1}]")
                found.append(self._annotation(answer.citations[cited], at, end))
                at = end
        return found

    def _annotation(self, citation: Citation, start: int, end: int) -> Body:
        place = {"quote": citation.quote, "file_id": citation.file_id, **place_fields(citation.place)}
        shown = {"start_index": start, "end_index": end, "title": describe(citation), "url": self._link(citation)}
        return {"type": "url_citation", "url_citation": {**shown, **place}}


def openai_model(record: IndexRecord) -> Body:
    """An index as a model."""
    created = int(datetime.fromisoformat(record.updated_at).timestamp())
    return {"id": record.id, "object": "model", "created": created, "owned_by": "chapterverse"}


class ChatError(BaseModel):
    message: str
    type: str
    param: str | None
    code: str | None


class ChatErrorBody(BaseModel):
    """What an error is answered with where OpenAI's clients ask."""

    error: ChatError


def openai_error(status: int, name: str, detail: str) -> Body:
    """An error as OpenAI's clients expect it; `name` is what the service calls it elsewhere."""
    kind = "server_error" if status >= _SERVER else "invalid_request_error"
    named = _PARAM.match(detail)
    return {
        "error": {
            "message": detail,
            "type": "rate_limit_error" if status == _RATE_LIMITED else kind,
            "param": named[1] if named else None,
            "code": _CODES.get((status, name)),
        }
    }


def _usage(answer: Answer) -> Body:
    """Tokens of the model that wrote; the local one takes none."""
    took = answer.usage.get("generation", {})
    read, written = took.get("input_tokens", 0), took.get("output_tokens", 0)
    return {"prompt_tokens": read, "completion_tokens": written, "total_tokens": read + written}


def _verdict(answer: Answer) -> Body:
    """What OpenAI's shape has no room for."""
    return {
        "status": answer.status,
        "reason": answer.reason,
        "grounded": bool(answer.citations),
        "confidence": answer.confidence,
    }
