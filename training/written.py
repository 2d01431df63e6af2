"""Questions and claims written by hand about passages of public texts and about passages of our own.

`written/*.txt` hold blocks, one for each passage:

    ## 6.001                                      the passage's name; 121.04.7 is a page of a book, others go with it
    P| The passage, a line for each paragraph.    only where the passage is our own
    A| question | the passage's words that answer it, or their place in it: 120:134
    E| question | place | place                   one whose answer takes several sentences: each of their places
    N| question that the passage does not answer, though it seems to
    T| sentence that the passage bears out
    F| sentence that it does not

`written/passages.jsonl` says where the other passages are found: which characters of which context of the training
data (by hash) or of which book. `written/requests.txt` holds what people ask that no passage answers, a line each.
"""

from __future__ import annotations

import hashlib
import json
import random
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from multiprocessing import get_context
from pathlib import Path

import numpy as np
from examples import Example, Row, Span, held_out, most, sentence_around
from nupunkt import sent_spans
from perturb import edit
from retell import difference, variants
from scipy.sparse import csr_matrix
from sklearn.feature_extraction.text import TfidfVectorizer

from chapterverse.ingest.read import read_all
from chapterverse.ingest.sources import open_source

CELL = " | "
FOLDER = Path(__file__).with_name("written")
HELD = 10
NEAR = 3
NEAR_CLAIMS = 1
"""Other passages that a question or a claim is put to, those that share most words with it."""
SIBLINGS = 2
"""Other pages of its book that a question is put to, whatever their words."""
THINNED = 2
"""Copies of a passage with some of its sentences left out."""
SENTENCES = 2
"""Sentences of a passage that are retold, beside what was written of it."""
FILES = {"drafts": "written draft", "sources": "written source"}
EXCERPT = 180
"""Words of a long source that a claim is put to, in sentences that share most words with it; of a shorter passage half
as many."""
STRANGERS = 8
"""Passages that a request is put to."""


@dataclass
class Block:
    """One passage with what was written about it."""

    name: str
    passage: str = ""
    source: str = "own"
    made_of: tuple[str, ...] = ()
    """What the passage was taken from: contexts by their hash, books by their name."""
    answered: list[tuple[str, str]] = field(default_factory=list)
    several: list[tuple[str, tuple[Span, ...]]] = field(default_factory=list)
    absent: list[str] = field(default_factory=list)
    true: list[str] = field(default_factory=list)
    false: list[str] = field(default_factory=list)
    claimed: str = ""
    """The kind of its claims, where its file tells it: as models draft them (`drafts*.txt`: they join facts and are put
    freely), or of long sources (`sources*.txt`)."""

    @property
    def book(self) -> str:
        """What is held out together: pages of one book (`121.04.7`) speak of the same things."""
        return self.name.rsplit(".", 1)[0] if self.name.count(".") == 2 else self.name

    @property
    def base(self) -> dict[str, object]:
        """What all its examples share."""
        return {"source": f"written {self.source}", "held": held_out(self.book, HELD)}

    def asked(self) -> list[str]:
        """The questions that the passage answers."""
        return [question for question, _ in (*self.answered, *self.several)]


def blocks(lines: Iterable[str]) -> Iterator[Block]:
    block: Block | None = None
    for line in lines:
        key, _, rest = (part.strip() for part in line.partition("|"))
        if key.startswith("## "):
            if block:
                yield block
            block = Block(key.removeprefix("## "))
        elif block and key == "P":
            rows = CELL in rest and CELL in block.passage.rpartition("\n")[2]  # those of a table stand close together
            block.passage = ("\n" if rows else "\n\n").join((block.passage, rest)).strip()
        elif block and key == "A":
            question, _, answer = (part.strip() for part in rest.partition("|"))
            block.answered.append((question, answer))
        elif block and key == "E":
            question, *places = (part.strip() for part in rest.split("|"))
            block.several.append((question, tuple(_place(place) for place in places)))
        elif block and key:
            {"N": block.absent, "T": block.true, "F": block.false}[key].append(rest)
    if block:
        yield block


def read_blocks(rows: Iterable[Row], books: Path) -> list[Block]:
    """Every block with its passage; those whose passage cannot be found are left out and counted."""
    texts = {fingerprint(str(row["context"])): str(row["context"]) for row in rows}
    places = [json.loads(line) for line in (FOLDER / "passages.jsonl").read_text().splitlines()]
    for name in sorted({piece["of"] for place in places for piece in place["pieces"]} - set(texts)):
        if (books / name).exists():
            [outcome] = read_all(open_source(str(books / name)))
            texts[name] = outcome.document.text if outcome.document else ""
    passages = {
        place["id"]: (
            place["source"],
            tuple(piece["of"] for piece in place["pieces"]),
            "\n\n".join(texts[piece["of"]][piece["from"] : piece["to"]] for piece in place["pieces"]),
        )
        for place in places
        if all(piece["of"] in texts for piece in place["pieces"])
    }
    files = {path.stem: list(blocks(path.read_text().splitlines())) for path in sorted(FOLDER.glob("*.txt"))}
    found = [block for one in files.values() for block in one]
    for name, one in files.items():
        for block in one:
            block.claimed = next((kind for start, kind in FILES.items() if name.startswith(start)), "")
    for block in found:
        if block.book != block.name:
            block.source = "book"
        elif not block.passage and block.name in passages:
            block.source, block.made_of, block.passage = passages[block.name]
    print(f"{sum(not block.passage for block in found)} of {len(found)} written passages were not found")
    return [block for block in found if block.passage]


def fingerprint(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]


@dataclass
class _Desk:
    """What the examples of any one block are made with."""

    written: list[Block]
    tfidf: TfidfVectorizer
    passages: csr_matrix
    fair: dict[str, float]
    books: dict[str, list[Block]]

    @classmethod
    def of(cls, written: list[Block]) -> _Desk:
        tfidf = TfidfVectorizer(sublinear_tf=True, stop_words="english", dtype=np.float32)
        passages = tfidf.fit_transform([block.passage for block in written]).T.tocsr()
        books: dict[str, list[Block]] = {}
        for block in written:
            books.setdefault(block.book, []).append(block)
        return cls(written, tfidf, passages, _fair(written), books)

    def siblings(self, block: Block) -> list[Block]:
        """The other pages of its book."""
        return [other for other in self.books[block.book] if other is not block]

    def near(self, number: int) -> dict[str, list[Block]]:
        """For each question and claim of a block the other blocks whose passages share most words with it."""
        block = self.written[number]
        asked = [*block.asked(), *block.absent, *block.true, *block.false]
        scores = (self.tfidf.transform(asked) @ self.passages).toarray() if asked else []
        found = {}
        for question, line in zip(asked, scores, strict=True):
            line[number] = -1
            found[question] = [self.written[i] for i in most(line, NEAR) if line[i] > 0]
        return found


def written_examples(written: list[Block], rng: random.Random) -> Iterator[Example]:
    global _desk
    _desk = _Desk.of(written)  # the processes are forked from this one, and find it there
    with ProcessPoolExecutor(mp_context=get_context("fork")) as processes:
        for made in processes.map(_block_examples, range(len(written)), chunksize=250):
            yield from made
    yield from _requests(written, rng)


def _block_examples(number: int) -> list[Example]:
    block, near = _desk.written[number], _desk.near(number)
    rng = random.Random(block.name)
    questions = _questions(block, near, _desk.fair, rng)
    return [*questions, *_beside(block, near, _desk.siblings(block), rng), *_claims(block, near, rng)]


def _questions(
    block: Block, near: dict[str, list[Block]], fair: dict[str, float], rng: random.Random
) -> Iterator[Example]:
    base = block.base
    shown = {**base, "context": block.passage}
    thinned = [_thinned(block.passage, rng) for _ in range(THINNED)]
    for question, answer in block.answered:
        span = find(answer, block.passage)
        if span is None:
            continue
        answer = block.passage[slice(*span)]
        evidence = sentence_around(block.passage, span)
        yield Example("written", query=question, answerable=True, answer=span, evidence=(evidence,), **shown)
        for other in near[question]:
            if find(answer, other.passage) is None:
                told = {**base, "context": other.passage, "query": question}
                yield Example("written near", answerable=False, weight=0.5, **told)
        for passage in thinned:
            thin = {**base, "context": passage, "query": question, "weight": 0.5}
            at = passage.find(block.passage[slice(*evidence)])
            if at >= 0:
                place, where = ((a - evidence[0] + at, b - evidence[0] + at) for a, b in (span, evidence))
                yield Example("written thin", answerable=True, answer=place, evidence=(where,), **thin)
            elif find(answer, passage) is None:
                yield Example("written thin", answerable=False, **thin)
    for question, sentences in block.several:
        yield Example("written", query=question, answerable=True, evidence=sentences, **shown)
    for question in block.absent:
        weight = fair[opening(question)]
        yield Example("written", query=question, answerable=False, weight=weight, **shown)
        thin = {**base, "context": rng.choice(thinned), "weight": weight / 2}
        yield Example("written thin", query=question, answerable=False, **thin)
        for other in near[question]:  # another book may answer it: the teacher alone judges
            told = {**base, "context": other.passage, "query": question}
            weight = 0.5 if other.book == block.book else 0.0
            yield Example("written near", answerable=False, weight=weight, **told)
    for question in [*block.asked(), *block.absent]:  # again the teacher judges
        for changed in filter(None, dict.fromkeys(edit(question, block.passage, rng, kinds) for kinds in ("ea", "wn"))):
            yield Example("written edited", query=changed, answerable=False, weight=0.0, **shown)


def _beside(block: Block, near: dict[str, list[Block]], siblings: list[Block], rng: random.Random) -> Iterator[Example]:
    """Its questions beside other pages of the book, as one asked as a whole offers them."""
    for question, answer in _asked(block):
        others = [page for page in siblings if page not in near[question]]
        for page in rng.sample(others, min(SIBLINGS, len(others))):
            if find(answer, page.passage) is None:
                told = {**block.base, "context": page.passage, "query": question}
                yield Example("written sibling", answerable=False, weight=0.5, **told)


def _asked(block: Block) -> Iterator[tuple[str, str]]:
    """Its questions with the words that answer them; those that it does not answer have none."""
    for question, answer in block.answered:
        if span := find(answer, block.passage):
            yield question, block.passage[slice(*span)]
    for question in block.absent:
        yield question, ""


def search_pairs(written: list[Block]) -> Iterator[dict[str, object]]:
    """What was written and the passage that answers or bears it out, for the embedder."""
    for block in written:
        for query in [*block.asked(), *block.true]:
            yield {"query": query, "passage": block.passage, "made_of": block.made_of or [block.name]}


def _claims(block: Block, near: dict[str, list[Block]], rng: random.Random) -> Iterator[Example]:
    base = block.base
    if block.claimed:  # beside what bears on them, as well as beside all
        for claim, supported in [*((claim, True) for claim in block.true), *((claim, False) for claim in block.false)]:
            for words in (EXCERPT, EXCERPT // 2) if block.claimed == "written source" else (EXCERPT // 2,):
                shown = {**base, "context": _excerpt(claim, block.passage, words), "weight": 0.8}
                yield Example(block.claimed, query=claim, supported=supported, **shown)
    if block.claimed == "written source":  # too long for a window
        return
    shown = {**base, "context": block.passage}
    differing = {claim: _wrong(claim, block.true) for claim in block.false}
    known = sum(wrong is not None for wrong in differing.values())
    kind = block.claimed or ("written pair" if 2 * known > len(block.false) else "written")
    for claims, supported in ((block.true, True), (block.false, False)):
        for claim in claims:
            wrong = () if supported else differing[claim]
            yield Example(kind, query=claim, supported=supported, wrong=wrong, **shown)
            for other in near[claim][:NEAR_CLAIMS]:  # the teacher alone judges
                told = {**base, "context": other.passage, "query": claim}
                yield Example("written claim near", supported=False, weight=0.0, **told)
    if len(block.true) > 1:  # longer claims, as assistants write them: one false half makes them false
        true = rng.sample(block.true, 2)
        yield Example("written joined", query=" ".join(true), supported=True, **shown)
        if block.false:
            halves = [true[0], rng.choice(block.false)]
            rng.shuffle(halves)
            yield Example("written joined", query=" ".join(halves), supported=False, **shown)
    sentences = [block.passage[slice(*span)].strip() for span in sent_spans(block.passage)]
    sentences = [sentence for sentence in sentences if 40 < len(sentence) < 260 and CELL not in sentence]
    told = rng.sample(sentences, min(SENTENCES, len(sentences)))
    for claim in told:
        yield Example("retold", query=claim, supported=True, wrong=(), weight=0.7, **shown)
    for claim, others in [*((claim, block.true) for claim in block.true), *((claim, sentences) for claim in told)]:
        for made in variants(claim, block.passage, others, rng):
            label = {"supported": not made.wrong, "wrong": made.wrong, "weight": 0.7}
            yield Example("retold", query=made.text, **label, **shown)


def _excerpt(claim: str, passage: str, words: int) -> str:
    """The sentences that share most words with a claim, in their order, as a reader of long sources looks at them."""
    spans, asked = list(sent_spans(passage)), _stems(claim)
    common = Counter(stem for span in spans for stem in _stems(passage[slice(*span)]))
    worth = [sum(1 / common[stem] for stem in asked & _stems(passage[slice(*span)])) for span in spans]
    kept: list[int] = []
    for place in sorted(range(len(spans)), key=lambda place: -worth[place]):
        if sum(len(passage[slice(*spans[n])].split()) for n in (*kept, place)) <= words or not kept:
            kept.append(place)
    return "".join(passage[slice(*spans[place])] for place in sorted(kept)).strip()


def _stems(text: str) -> set[str]:
    """The beginnings of its words: "founded" and "founder" share theirs."""
    return {word[:5] for word in re.findall(r"\w{4,}|\d+", text.lower())}


def _wrong(claim: str, true: list[str]) -> tuple[Span, ...] | None:
    """What is wrong in a claim, if it is one of the true ones but for that."""
    for other in true:
        spans = difference(other, claim)
        if (
            0 < sum(end - start for start, end in spans) < len(claim) / 3
            and abs(len(claim) - len(other)) < len(claim) / 3
        ):
            return spans
    return None


def _thinned(passage: str, rng: random.Random) -> str:
    kept = [passage[slice(*span)] for span in sent_spans(passage) if rng.random() < 0.75]
    return "".join(kept).strip() or passage


def _requests(written: list[Block], rng: random.Random) -> Iterator[Example]:
    for request in (FOLDER / "requests.txt").read_text().splitlines():
        held = held_out(request, HELD)
        strangers = [block for block in rng.sample(written, 2 * STRANGERS) if held_out(block.book, HELD) == held]
        for block in strangers[:STRANGERS]:
            yield Example("written request", "written own", request, block.passage, held, answerable=False)


def opening(question: str) -> str:
    return " ".join(question.lower().split()[:2])


def _fair(written: list[Block]) -> dict[str, float]:
    """What an absent question weighs by its opening: "how many" must not give the label away."""
    answered = Counter(opening(question) for block in written for question in block.asked())
    absent = Counter(opening(question) for block in written for question in block.absent)
    return {words: min(1.0, max(0.3, 1.2 * answered[words] / count)) for words, count in absent.items()}


def find(answer: str, passage: str) -> Span | None:
    """Where the answer stands, whatever white space parts its words; 08:05 is a place only if it is no time there."""
    words = r"\s+".join(map(re.escape, answer.split()))
    match = re.search(rf"(?<!\w){words}(?!\w)", passage) or re.search(words, passage)
    if match and answer:
        return match.span()
    return _place(answer) if re.fullmatch(r"\d+:\d+", answer) else None


def _place(written: str) -> Span:
    first, last = map(int, written.split(":"))
    return first, last
