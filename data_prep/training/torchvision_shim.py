"""Import torchvision beside a CPU build of torch.

The torchvision wheel on PyPI is compiled against a CUDA torch. Next to a CPU torch its extension does not load, and
the import fails with "operator torchvision::nms does not exist", because two operators get a fake kernel before
anybody has declared them. Declaring their schemas first is enough: nothing here runs box operators. Where the
extension does load (a matching GPU build) it declares them itself, and this module stays out of the way.

    from data_prep.training.torchvision_shim import models, transforms
"""

import importlib.util
from pathlib import Path

import torch

_SIGNATURE = "(Tensor dets, Tensor scores, float iou_threshold) -> Tensor"


def extension_loads() -> bool:
    """Whether torchvision's compiled operators fit the installed torch (loading them twice does no harm)."""
    package = importlib.util.find_spec("torchvision")
    if package is None or package.origin is None:
        raise ModuleNotFoundError("torchvision is not installed: pip install 'cams[vision]'")
    try:
        for library in Path(package.origin).parent.glob("_C*.so"):
            torch.ops.load_library(str(library))
    except OSError:
        return False
    return hasattr(torch.ops.torchvision, "nms")


def declare_missing_operators() -> torch.library.Library | None:
    """Declare `nms` and `qnms` where nobody else will; the returned library keeps the declarations alive."""
    if extension_loads():
        return None
    library = torch.library.Library("torchvision", "FRAGMENT")
    for name in ("nms", "qnms"):
        if not hasattr(torch.ops.torchvision, name):
            library.define(f"{name}{_SIGNATURE}")
    return library


_declarations = declare_missing_operators()

from torchvision import datasets, models  # noqa: E402
from torchvision.models.googlenet import BasicConv2d, Inception  # noqa: E402
from torchvision.transforms import v2 as transforms  # noqa: E402

__all__ = [
    "BasicConv2d",
    "Inception",
    "datasets",
    "declare_missing_operators",
    "extension_loads",
    "models",
    "transforms",
]
