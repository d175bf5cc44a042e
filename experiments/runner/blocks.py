"""A replay in blocks of realizations, where there are workers elsewhere to send them to."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from cams.bundle import Bundle
from cams.outcome import Replay
from cams.realizations import replay
from cams.stage import LearnerLike
from data_prep.pipeline.tasks import in_parallel, width_elsewhere

Orders = npt.NDArray[np.int64] | None

# More blocks than workers, so that a slow one holds up few others; not many more, for each block starts afresh.
BLOCKS_PER_WORKER = 2


def replay_in_blocks(
    bundle: Bundle,
    learners: Sequence[LearnerLike],
    *,
    realizations: int,
    first_realization: int = 0,
    order: Orders = None,
    n_jobs: int = 1,
    progress: bool | None = None,
    **how: Any,
) -> Replay:
    """Replay as `cams.replay` does, on this machine's threads or in blocks elsewhere; the result is the same."""
    width = width_elsewhere()
    if width == 0:
        return replay(
            bundle,
            learners,
            realizations=realizations,
            first_realization=first_realization,
            order=order,
            n_jobs=n_jobs,
            progress=progress,
            **how,
        )
    ends = np.linspace(0, realizations, min(realizations, BLOCKS_PER_WORKER * width) + 1).astype(int).tolist()
    jobs = [
        (bundle, learners, first_realization + first, end - first, None if order is None else order[first:end], how)
        for first, end in pairwise(ends)
    ]
    return Replay.joined(list(in_parallel(_replay_block, jobs, n_jobs)))


def _replay_block(
    bundle: Bundle, learners: Sequence[LearnerLike], first: int, count: int, order: Orders, how: dict[str, Any]
) -> Replay:
    return replay(bundle, learners, realizations=count, first_realization=first, order=order, progress=False, **how)
