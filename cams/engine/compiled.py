"""How this package compiles: cached on disk, without the interpreter lock, sums free to run in vector registers."""

from __future__ import annotations

from typing import Any

import numpy.typing as npt
from numba import njit

Array = npt.NDArray[Any]

# Nothing here meets a NaN (bundles are checked), so minima and sums may be reordered.
compiled = njit(nogil=True, cache=True, fastmath={"reassoc", "contract", "nsz", "nnan"}, error_model="numpy")

# Where the order of operations is the point.
compiled_in_order = njit(nogil=True, cache=True, fastmath={"contract"}, error_model="numpy")
