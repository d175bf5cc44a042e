"""What the zoo of a tabular data set may say."""

from data_prep.pipeline.schema import ANYTHING, Range, Schema, Some
from data_prep.pipeline.settings import policies

SUBSAMPLE: Schema = {"rows": int, "groups": [int], "class_weights": [float]}
SETTINGS: Schema = {
    "split": dict.fromkeys(("pool", "policy", "classifier"), Range(int, 1)),
    # The estimator itself checks its `params`.
    "classifiers": {"members": Some({"name": str, "family": str, "params": ANYTHING, "subsample": SUBSAMPLE})},
    "policies": policies({"family": str, "params": ANYTHING, "rows": int}),
}
