"""What teachers say of every pair, asked once: a student of many epochs would else wait for them in each."""

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

    @torch.no_grad()
    def ask(self, teacher: CrossEncoder, rows: np.ndarray, size: int = 512) -> None:
        """Keep what this teacher says of these rows."""
        data, device = self.data, self.data.device
        generator = torch.Generator(device).manual_seed(7)
        projection = torch.randn(teacher.shape.hidden, WIDTH, generator=generator, device=device) / WIDTH**0.5
        rows = rows[np.argsort(data.lengths[rows], kind="stable")]
        for begin in range(0, len(rows), size):
            batch = data.batch(rows[begin : begin + size])
            with data.autocast():
                out = teacher(batch.ids, batch.segments, batch.mask)
            places = batch.source[batch.mask]
            self.tokens[places] = out.tokens[batch.mask].half()
            self.hidden[places] = (out.hidden[batch.mask].float() @ projection).half()
            self.answer[batch.rows], self.support[batch.rows] = out.answer.float(), out.support.float()

    def of(self, batch: Batch) -> Outputs:
        """The teachers' outputs for one batch; places beyond a sequence hold what is masked by every loss."""
        rows, places = batch.rows, batch.source
        return Outputs(self.tokens[places], self.answer[rows], self.support[rows], None, self.hidden[places])
