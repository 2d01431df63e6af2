"""A smaller vocabulary for the shipped student: words that training hardly saw are spelled by their pieces.

The word table is a third of the model's size, and a fifth of its rows together serve one token in 500.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
from tokenizers import Tokenizer

SIZE = 23_200


def trim(tokenizer_file: Path, examples: Path) -> tuple[Tokenizer, np.ndarray]:
    """A tokenizer of the SIZE tokens seen most, and their old ids; single characters and special tokens stay."""
    definition = json.loads(tokenizer_file.read_text())
    vocabulary: dict[str, int] = definition["model"]["vocab"]
    special = {token["content"] for token in definition["added_tokens"]}
    with np.load(examples) as file:
        seen = np.bincount(np.concatenate([file["context_ids"], file["query_ids"]]), minlength=len(vocabulary))
    always = {word for word in vocabulary if word in special or (len(word.removeprefix("##")) == 1 and word.isascii())}
    ranked = sorted(vocabulary, key=lambda word: (word not in always, -seen[vocabulary[word]], vocabulary[word]))
    kept = sorted(ranked[:SIZE], key=vocabulary.__getitem__)
    numbers = {word: number for number, word in enumerate(kept)}
    definition["model"]["vocab"] = numbers
    for token in definition["added_tokens"]:
        token["id"] = numbers[token["content"]]
    definition["post_processor"] = definition["padding"] = definition["truncation"] = None  # the runtime frames pairs
    return Tokenizer.from_str(json.dumps(definition)), np.array([vocabulary[word] for word in kept])
