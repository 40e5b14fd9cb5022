"""The one place where sketches of several processes become one: the mean of each sketch over a process group."""

from __future__ import annotations

from collections.abc import Iterable

import torch.distributed
from torch import Tensor


def reduce_sketches(sketches: Iterable[Tensor], group: torch.distributed.ProcessGroup | None = None) -> None:
    """Replace each sketch by its mean over the processes, as data parallelism does with gradients.

    Every process must come with the same sketches in the same order. Alone, nothing happens.
    """
    if not torch.distributed.is_available() or not torch.distributed.is_initialized():
        return
    world = torch.distributed.get_world_size(group)
    if world == 1:
        return
    for sketch in sketches:
        torch.distributed.all_reduce(sketch, group=group)
        sketch.div_(world)
