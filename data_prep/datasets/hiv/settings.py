"""What HIV's zoo may say."""

from data_prep.pipeline.schema import ANYTHING, Schema
from data_prep.pipeline.settings import policies
from data_prep.training.perceptron import LEARNING

SPECIALIST: Schema = {
    "name": str,
    "family": str,
    "regions": [int],
    "elsewhere": float,
    "inactives_per_active": (int, None),
    "tolerance": float,
}
NETWORK: Schema = {"hidden": int, "layers": int, "dropout": float, **LEARNING}
SETTINGS: Schema = {
    "every": int,
    "split": {"pool": int, "classifier_share": float},
    "regions": {"count": int, "dimensions": int},
    "classifiers": {
        "calibration_share": float,
        "members": [SPECIALIST],
        # The forest itself checks its parameters.
        "families": {"gcn": NETWORK, "gat": NETWORK, "attentive_fp": NETWORK, "random_forest": ANYTHING},
    },
    "policies": policies(
        {"fingerprint": str, "class_weights": [float], "regions": [int]},
        perceptron={"hidden": [int], "dropout": float, "weight_decay": float, **LEARNING},
    ),
}
