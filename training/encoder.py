"""The cross-encoder that teacher and student share: one transformer, three heads."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path

import torch
import torch.nn as nn
import torch.nn.functional as F
from safetensors.torch import load_file, save_file
from torch import Tensor

LENGTH = 320
"""Tokens of a window with its query; later positions are never used."""
UNREAD = -12.0
"""The logits of a token that was not read to the end."""


@dataclass(frozen=True)
class Shape:
    """The size of an encoder.

    `relative_buckets` > 0 adds MPNet's shared relative-position bias; `exit_layer` > 0 puts a pair of
    early answer and support logits after that many layers, and says there what is worth reading on, as
    `skim_layer` > 0 does before it.
    """

    layers: int
    hidden: int
    heads: int
    feedforward: int
    epsilon: float
    relative_buckets: int = 0
    exit_layer: int = 0
    skim_layer: int = 0
    vocabulary: int = 30522
    positions: int = 512


SHAPES = {
    "teacher": Shape(layers=12, hidden=768, heads=12, feedforward=3072, epsilon=1e-5, relative_buckets=32),
    "student": Shape(layers=12, hidden=384, heads=12, feedforward=1536, epsilon=1e-12, exit_layer=3, skim_layer=1),
    "shallow": Shape(layers=6, hidden=384, heads=12, feedforward=1536, epsilon=1e-12, exit_layer=3),
}


@dataclass
class Outputs:
    """Logits of one batch: `tokens` is (batch, length, 3) for start, end and evidence, `support` (batch, 2).

    A claim is judged twice: as raters of public sets do, who forgive what is left out, and strictly, as those who
    wrote claims to be wrong in one thing.
    """

    tokens: Tensor
    answer: Tensor
    support: Tensor
    early: Tensor | None
    hidden: Tensor
    worth: Tensor | None = None
    """How much each token is worth reading on, said at the exit; of the tokens that got there."""
    skim: Tensor | None = None
    """The same, said before, of every token."""
    arrived: Tensor | None = None
    """The tokens that got to the exit; None when all did."""
    kept: Tensor | None = None
    """The tokens that were read to the end; None when all were."""


class Layer(nn.Module):
    """A post-norm transformer layer."""

    rounds = False
    """Whether the products are those of the int8 files, so that the weights learn to bear it."""

    def __init__(self, shape: Shape, dropout: float) -> None:
        super().__init__()
        self.heads, self.dropout = shape.heads, dropout
        self.qkv = nn.Linear(shape.hidden, 3 * shape.hidden)
        self.mix = nn.Linear(shape.hidden, shape.hidden)
        self.norm_mix = nn.LayerNorm(shape.hidden, shape.epsilon)
        self.widen = nn.Linear(shape.hidden, shape.feedforward)
        self.narrow = nn.Linear(shape.feedforward, shape.hidden)
        self.norm_out = nn.LayerNorm(shape.hidden, shape.epsilon)

    def forward(self, x: Tensor, bias: Tensor) -> Tensor:
        batch, length, hidden = x.shape
        qkv = self._through(self.qkv, x).view(batch, length, 3, self.heads, hidden // self.heads)
        q, k, v = qkv.permute(2, 0, 3, 1, 4).unbind(0)
        rate = self.dropout if self.training else 0.0
        y = _attended(q, k, v, bias.to(q.dtype), rate)
        y = self._through(self.mix, y.transpose(1, 2).reshape(batch, length, hidden))
        x = self.norm_mix(x + F.dropout(y, rate, self.training))
        y = self._through(self.narrow, F.gelu(self._through(self.widen, x)))
        return self.norm_out(x + F.dropout(y, rate, self.training))

    def _through(self, linear: nn.Linear, x: Tensor) -> Tensor:
        if not self.rounds:
            return linear(x)
        return F.linear(rounded_states(x), rounded_weights(linear.weight), linear.bias)


@torch.compile(dynamic=True)
def rounded_states(x: Tensor) -> Tensor:
    """The nearest of 256 levels, of which each row of the batch has its own; gradients pass as if nothing were done."""
    wide = x.detach().float()
    low, high = wide.amin((1, 2), keepdim=True).clamp(max=0), wide.amax((1, 2), keepdim=True).clamp(min=0)
    step = (high - low).clamp(min=1e-8) / 255
    return x + ((wide / step).round() * step - wide).to(x.dtype)


@torch.compile(dynamic=True)
def rounded_weights(weight: Tensor) -> Tensor:
    """The nearest of 255 levels, of which each output has its own."""
    fixed = weight.detach()
    step = fixed.abs().amax(1, keepdim=True).clamp(min=1e-8) / 127
    return weight + ((fixed / step).round() * step - fixed)


def _attended(q: Tensor, k: Tensor, v: Tensor, bias: Tensor, rate: float) -> Tensor:
    """Attention, on a GPU in one fused kernel where the bias is the same for every place.

    Where it is not, torch would multiply in float32: written out, the products stay in what autocast makes them. On a
    processor the fused kernel's gradients take twice as long as those of what is written out.
    """
    if bias.shape[2] == 1 and q.is_cuda:
        return F.scaled_dot_product_attention(q, k, v, attn_mask=bias, dropout_p=rate)
    scores = q @ k.transpose(-1, -2) * q.shape[-1] ** -0.5 + bias
    return F.dropout(scores.softmax(-1), rate).to(v.dtype) @ v


class CrossEncoder(nn.Module):
    """Reads `[CLS] query [SEP] passage [SEP]`; both bases are brought to BERT's vocabulary ids."""

    def __init__(self, shape: Shape, dropout: float = 0.1) -> None:
        super().__init__()
        self.shape, self.dropout = shape, dropout
        self.words = nn.Embedding(shape.vocabulary, shape.hidden)
        self.places = nn.Embedding(shape.positions, shape.hidden)
        self.segments = nn.Embedding(2, shape.hidden)
        self.norm = nn.LayerNorm(shape.hidden, shape.epsilon)
        self.relative = nn.Embedding(shape.relative_buckets, shape.heads) if shape.relative_buckets else None
        if self.relative is not None:
            self.relative.requires_grad_(False)  # learnt well enough by its base, and cheaper so
        self.layers = nn.ModuleList(Layer(shape, dropout) for _ in range(shape.layers))
        self.token_head = nn.Linear(shape.hidden, 3)
        self.answer_head = nn.Linear(shape.hidden, 1)
        self.support_head = nn.Linear(shape.hidden, 2)
        self.early_head = nn.Linear(shape.hidden, 2) if shape.exit_layer else None
        self.worth_head = nn.Linear(shape.hidden, 1) if shape.exit_layer else None
        self.skim_head = nn.Linear(shape.hidden, 1) if shape.skim_layer else None

    def forward(
        self, ids: Tensor, segments: Tensor, mask: Tensor, keep: int = 0, skim: int = 0, asked: int = 0
    ) -> Outputs:
        """`keep` > 0 reads on, after the exit layer, with the query and so many tokens of the passage only.

        `skim` > 0 does so after the skim layer already; `asked` is then the longest query with its two marks.
        """
        length = ids.shape[1]
        x = self.words(ids) + self.places.weight[:length] + self.segments(segments)
        x = F.dropout(self.norm(x), self.dropout, self.training)
        bias = (1.0 - mask[:, None, None, :].to(x.dtype)) * -1e4
        if self.relative is not None:
            bias = bias + self._relative_bias(length, x.device)
        if torch.is_autocast_enabled(x.device.type):
            bias = bias.to(torch.get_autocast_dtype(x.device.type))
        early = worth = hint = arrived = places = None
        for number, layer in enumerate(self.layers, start=1):
            x = layer(x, bias)
            count, promise = 0, None
            if self.skim_head is not None and number == self.shape.skim_layer:
                hint = promise = self.skim_head(x)[..., 0]
                count = skim
            elif self.early_head is not None and number == self.shape.exit_layer:
                early, promise, count = self.early_head(x[:, 0]), self.worth_head(x)[..., 0], keep
                worth, arrived = (promise, None) if places is None else _spread(promise, places, mask)
            if count > 0:
                kept_segments, kept_mask = (v if places is None else v.gather(1, places) for v in (segments, mask))
                chosen = most_worth(promise, kept_segments, kept_mask, count + asked)
                places = chosen if places is None else places.gather(1, chosen)
                x = x.gather(1, chosen[..., None].expand(-1, -1, x.shape[-1]))
                bias = bias.gather(3, chosen[:, None, None])
        first, tokens = x[:, 0], self.token_head(x)
        answer, support = self.answer_head(first)[:, 0], self.support_head(first)
        if places is None:
            return Outputs(tokens, answer, support, early, x, worth, hint, arrived)
        tokens, kept = _spread(tokens, places, mask)
        hidden = x.new_zeros(*mask.shape, x.shape[-1]).scatter(1, places[..., None].expand_as(x), x)
        return Outputs(tokens, answer, support, early, hidden, worth, hint, arrived, kept)

    def _relative_bias(self, length: int, device: torch.device) -> Tensor:
        assert self.relative is not None
        places = torch.arange(length, device=device)
        distance = places[:, None] - places[None, :]
        half = self.shape.relative_buckets // 2
        bucket = (distance < 0).long() * half
        distance = distance.abs()
        exact = half // 2
        far = exact + (
            torch.log(distance.clamp(min=1).float() / exact) / torch.log(torch.tensor(128 / exact)) * (half - exact)
        ).long().clamp(max=half - exact - 1)
        bucket = bucket + torch.where(distance < exact, distance, far)
        return self.relative(bucket).permute(2, 0, 1)[None]


def _spread(values: Tensor, places: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
    """Logits of the tokens that were read, at their places in the whole window, and which tokens these are."""
    index = places if values.dim() == 2 else places[..., None].expand_as(values)
    whole = values.new_full((*mask.shape, *values.shape[2:]), UNREAD).scatter(1, index, values)
    return whole, torch.zeros_like(mask).scatter(1, places, True) & mask


def most_worth(worth: Tensor, segments: Tensor, mask: Tensor, size: int) -> Tensor:
    """The places, in order, of `size` tokens: every one of the query, and of the passage those worth most."""
    order = worth.detach().float().masked_fill(mask & (segments == 0), 1e4).masked_fill(~mask, -1e4)
    return order.topk(min(mask.shape[1], size), dim=1).indices.sort(dim=1).values


def save(model: CrossEncoder, path: Path) -> None:
    """Write the weights as float16; the shape is named in the file's metadata."""
    weights = {k: v.detach().to("cpu", torch.float16).contiguous() for k, v in model.state_dict().items()}
    save_file(weights, path, metadata={"shape": repr(asdict(model.shape))})


def load(name: str, path: Path, dropout: float = 0.1) -> CrossEncoder:
    """Build the encoder called `name` in SHAPES; heads absent from a base file keep their fresh start.

    Files from before claims were judged twice have one judgement, which both begin with.
    """
    model = CrossEncoder(SHAPES[name], dropout)
    weights = deepened({k: v.float() for k, v in load_file(path).items()}, SHAPES[name].layers)
    for key in [key for key in weights if key.startswith("support_head.") and len(weights[key]) == 1]:
        weights[key] = torch.cat([weights[key]] * 2)
    missing, unexpected = model.load_state_dict(weights, strict=False)
    if unexpected or any("head" not in key for key in missing):
        raise ValueError(f"{path} does not fit {name}: missing {missing}, unexpected {unexpected}")
    return model


def deepened(weights: dict[str, Tensor], layers: int) -> dict[str, Tensor]:
    """Weights for so many layers: each layer of a shallower model begins as several of the deeper one."""
    found = 1 + max(int(key.split(".")[1]) for key in weights if key.startswith("layers."))
    if layers % found:
        raise ValueError(f"{found} layers do not make {layers}")
    result = {key: value for key, value in weights.items() if not key.startswith("layers.")}
    for number in range(layers):
        prefix, old = f"layers.{number}.", f"layers.{number * found // layers}."
        result |= {prefix + key.removeprefix(old): value for key, value in weights.items() if key.startswith(old)}
    return result
