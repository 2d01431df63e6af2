"""What teachers say of every pair, asked once: a student of many epochs would else wait for them in each.

Teachers that learnt apart err apart: where several are asked, the student learns the mean of what they say.
"""

from __future__ import annotations

import numpy as np
import torch
from batches import Batch, Dataset
from encoder import CrossEncoder, Outputs

WIDTH = 96
"""The teacher's last states are kept as so many random projections: enough to compare directions, and they fit."""


class Lessons:
    """Teachers' outputs for the rows of a data set, on its device."""

    def __init__(self, data: Dataset) -> None:
        self.data = data
        flat, count, device = len(data.flat), len(data.table), data.device
        self.tokens = torch.zeros(flat, 3, dtype=torch.float16, device=device)
        self.hidden = torch.zeros(flat, WIDTH, dtype=torch.float16, device=device)
        self.answer, self.support = torch.zeros(count, device=device), torch.zeros(count, 2, device=device)
        self.heard = torch.zeros(count, device=device)
        """How many teachers have spoken of each row."""

    @torch.no_grad()
    def ask(self, teacher: CrossEncoder, rows: np.ndarray, size: int = 512) -> None:
        """Keep what this teacher says of these rows, beside what others have said; states are the first one's."""
        data, device = self.data, self.data.device
        generator = torch.Generator(device).manual_seed(7)
        projection = torch.randn(teacher.shape.hidden, WIDTH, generator=generator, device=device) / WIDTH**0.5
        rows = rows[np.argsort(data.lengths[rows], kind="stable")]
        first = not bool(self.heard[torch.from_numpy(rows).to(device)].any())
        for begin in range(0, len(rows), size):
            batch = data.batch(rows[begin : begin + size])
            with data.autocast():
                out = teacher(batch.ids, batch.segments, batch.mask)
            at, places = batch.rows, batch.source[batch.mask]
            share = 1 / (self.heard[at] + 1)
            of_tokens = share[:, None].expand_as(batch.mask)[batch.mask]
            self.tokens[places] = _mean(self.tokens[places], out.tokens[batch.mask], of_tokens[:, None]).half()
            self.answer[at] = _mean(self.answer[at], out.answer, share)
            self.support[at] = _mean(self.support[at], out.support, share[:, None])
            if first:
                self.hidden[places] = (out.hidden[batch.mask].float() @ projection).half()
            self.heard[at] += 1

    def of(self, batch: Batch) -> Outputs:
        """The teachers' outputs for one batch; places beyond a sequence hold what is masked by every loss."""
        rows, places = batch.rows, batch.source
        return Outputs(self.tokens[places], self.answer[rows], self.support[rows], None, self.hidden[places])


def _mean(kept: torch.Tensor, said: torch.Tensor, share: torch.Tensor) -> torch.Tensor:
    return torch.lerp(kept.float(), said.float(), share)
