"""What CIFAR10's zoo may say."""

from data_prep.pipeline.schema import ANYTHING, Schema

SCHEDULE: Schema = {"epochs": int, "learning_rate": float, "snapshots": [float]}
# A model of torchvision's, or the arguments of a builder in networks.py.
NETWORK: Schema = {
    "model": str,
    "layers": [(int, str)],
    "widths": [int],
    "width": int,
    "growth_rate": int,
    "block_config": [int],
    "stem_width": int,
    "stages": [[ANYTHING]],
    "last_channel": int,
    "depths": [int],
    "strides": [int],
    "group_width": int,
}
SKEWED: Schema = {"favoured": [int], "other_weight": float, "sample": int, "schedule": SCHEDULE}
SETTINGS: Schema = {
    "split": {"classifier": int, "policy": int, "pool": int},
    "training": {
        "device": str,
        "threads": int,
        "optimizer": {"batch_size": int, "momentum": float, "weight_decay": float, "max_steps": (int, None)},
        "images": {"mean": [float], "std": [float], "size": int, "pad": int, "augment_group": int},
    },
    "classifiers": {
        "runs_per_family": int,
        "allow_twins": bool,
        "networks": {"vgg": [NETWORK], "resnet": [NETWORK], "densenet": [NETWORK], "googlenet": [NETWORK]},
        **SKEWED,
    },
    "policies": {
        "margin": float,
        "held_out": int,
        "features": int,
        "levels": int,
        "reward_weight": float,
        "schedule": SCHEDULE,
        "networks": {"efficientnet": [NETWORK], "mobilenet": [NETWORK], "regnet": [NETWORK], "resnet": [NETWORK]},
        "biased": {"per_run": int, **SKEWED},
        "malicious": [str],
        "random": int,
    },
}
