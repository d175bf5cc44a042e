"""What the zoo of a tabular data set may say."""

from data_prep.pipeline.schema import ANYTHING, Schema
from data_prep.pipeline.settings import policies

SUBSAMPLE: Schema = {"rows": int, "groups": [int], "class_weights": [float]}
SETTINGS: Schema = {
    "split": {"pool": int, "policy": int, "classifier": int},
    # The estimator itself checks its `params`.
    "classifiers": {"members": [{"name": str, "family": str, "params": ANYTHING, "subsample": SUBSAMPLE}]},
    "policies": policies({"family": str, "params": ANYTHING, "rows": int}),
}
