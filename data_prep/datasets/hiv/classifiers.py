"""HIV's four classifiers: specialists by region of chemical space and by class balance.

Each is trained on its own region and a share of the rest, gives a score of "active", and turns it into a label by
a threshold. Thresholds come from calibration rows, a part of the classifier rows that no classifier is trained on:
the lowest one at which accuracy stays within `tolerance` of answering "inactive" always. Lower means bolder: more
actives found, more false alarms. The policy rows and the pool have no say.
"""

import sys
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from omegaconf import OmegaConf
from sklearn.ensemble import RandomForestClassifier
from sklearn.metrics import balanced_accuracy_score, roc_auc_score
from tqdm import tqdm

from cams.errors import InputError
from cams.files import atomic_path, write_json
from data_prep.datasets.hiv.features import Molecules, unpack
from data_prep.datasets.hiv.networks import load_network, predict_network, train_network
from data_prep.datasets.hiv.regions import regions_of
from data_prep.pipeline.context import Context, stable_id
from data_prep.pipeline.dataset import Classifiers, Split, Table
from data_prep.pipeline.partition import divide
from data_prep.pipeline.tasks import in_parallel

Member = dict[str, Any]
THRESHOLDS = np.round(np.arange(0.02, 1.0, 0.02), 2)


@dataclass(frozen=True)
class Scores:
    """Scores of "active" by one classifier, (rows,) each, and the number of molecules it was trained on."""

    calibration: np.ndarray
    policy: np.ndarray
    pool: np.ndarray
    trained_on: int


def train_classifiers(table: Table, split: Split, context: Context) -> Classifiers:
    settings: Any = OmegaConf.to_container(context.settings.classifiers)
    members = [member | {"params": settings["families"][member["family"]]} for member in settings["members"]]
    fitting, calibration = calibration_part(table, split, context)
    regions = regions_of(table.inputs, split, context)
    rows = (fitting, calibration, split.policy_rows, split.pool_rows)
    jobs = [(member, table, regions, rows, context) for member in members]
    finished = in_parallel(train_member, jobs, context.n_jobs)
    scores = list(tqdm(finished, total=len(members), desc="hiv classifiers", disable=None))
    thresholds = [
        boldest_threshold(score.calibration, table.labels[calibration], member["tolerance"])
        for member, score in zip(members, scores, strict=True)
    ]
    report(members, scores, thresholds, table, split, regions, context)
    return Classifiers(
        model_names=[member["name"] for member in members],
        policy_predictions=decide([score.policy for score in scores], thresholds),
        pool_predictions=decide([score.pool for score in scores], thresholds),
    )


def decide(scores: list[np.ndarray], thresholds: list[float]) -> np.ndarray:
    """k arrays (rows,) of scores to labels (rows, k): active from the threshold on."""
    return (np.stack(scores, axis=1) >= np.array(thresholds)).astype(np.int32)


def calibration_part(table: Table, split: Split, context: Context) -> tuple[np.ndarray, np.ndarray]:
    """Classifier rows for training and for choosing thresholds, equally rich in actives."""
    share, identity = context.settings.classifiers.calibration_share, table.inputs.identity
    parts = []
    for label in (0, 1):
        rows = split.classifier_rows[table.labels[split.classifier_rows] == label]
        calibrating = round(share * len(rows))
        rng = context.rng("calibration", label)
        chosen = divide(identity[rows], [len(rows) - calibrating, calibrating], rng)
        parts.append([rows[positions] for positions in chosen])
    fitting, calibration = (np.sort(np.concatenate(part)) for part in zip(*parts, strict=True))
    return fitting, calibration


def boldest_threshold(scores: np.ndarray, labels: np.ndarray, tolerance: float) -> float:
    """The lowest threshold whose accuracy is within `tolerance` of the accuracy of "inactive" always.

    Above the largest score nothing is called active, so there always is one.
    """
    trivial = np.mean(labels == 0)
    for threshold in THRESHOLDS:
        if np.mean((scores >= threshold) == labels) >= trivial - tolerance:
            return float(threshold)
    return float(np.nextafter(scores.max(), 2))


def specialist_rows(
    member: Member, rows: np.ndarray, labels: np.ndarray, regions: np.ndarray, rng: np.random.Generator
) -> np.ndarray:
    """Rows one specialist learns from: its region, a share of the rest, and only so many inactives per active."""
    inside = np.isin(regions[rows], member["regions"])
    kept = rows[inside | (rng.random(len(rows)) < member["elsewhere"])]
    actives, inactives = kept[labels[kept] == 1], kept[labels[kept] == 0]
    if not len(actives) or not len(inactives):
        raise InputError(
            f"hiv: classifier '{member['name']}' would be trained on {len(actives)} actives "
            f"and {len(inactives)} inactives, both are needed"
        )
    if member["inactives_per_active"] is not None:
        count = min(len(inactives), member["inactives_per_active"] * len(actives))
        inactives = rng.choice(inactives, count, replace=False)
    return np.sort(np.concatenate([actives, inactives]))


def train_member(
    member: Member, table: Table, regions: np.ndarray, rows: tuple[np.ndarray, ...], context: Context
) -> Scores:
    """Scores of one classifier on calibration rows, policy rows and pool."""
    fitting, *rated = rows
    own_id = stable_id(member["name"])
    chosen = specialist_rows(member, fitting, table.labels, regions, context.rng("subsample", own_id))
    seed = context.integer_seed("classifier", own_id)
    score = forest_scores if member["family"] == "random_forest" else network_scores
    values = score(member, table, chosen, np.concatenate(rated), seed, context)
    calibration, policy, pool = np.split(values, np.cumsum([len(part) for part in rated])[:-1])
    return Scores(calibration, policy, pool, trained_on=len(chosen))


def forest_scores(
    member: Member, table: Table, chosen: np.ndarray, rated: np.ndarray, seed: int, context: Context
) -> np.ndarray:
    """A random forest on ECFP4."""
    packed = table.inputs.fingerprints["ecfp4"]

    def compute() -> dict[str, np.ndarray]:
        forest = RandomForestClassifier(random_state=seed, **member["params"])
        forest.fit(unpack(packed[chosen], "ecfp4"), table.labels[chosen])
        return {"scores": forest.predict_proba(unpack(packed[rated], "ecfp4"))[:, 1].astype(np.float32)}

    key = (member, seed, packed[chosen], table.labels[chosen], packed[rated])
    return context.checkpoints("classifiers").arrays(member["name"], key, compute)["scores"]


def network_scores(
    member: Member, table: Table, chosen: np.ndarray, rated: np.ndarray, seed: int, context: Context
) -> np.ndarray:
    """A graph network; its weights are the checkpoint."""
    molecules: Molecules = table.inputs
    settings, labels = member["params"] | {"family": member["family"]}, table.labels[chosen]
    # All graphs, not the chosen ones alone: picking those out of flat arrays takes longer than hashing some 25 MB.
    key = (settings, seed, chosen, labels, *vars(molecules.graphs).values())
    path = context.checkpoints("classifiers").path(member["name"], key, ".pt")
    if not path.exists():
        network = train_network(molecules.graphs, chosen, labels, settings, seed)
        with atomic_path(path) as temporary:
            torch.save(network.state_dict(), temporary)
    return predict_network(load_network(path, settings), molecules.graphs, rated)


def report(
    members: list[Member],
    scores: list[Scores],
    thresholds: list[float],
    table: Table,
    split: Split,
    regions: np.ndarray,
    context: Context,
) -> None:
    """Write and print how good the classifiers are, always beside the answer "inactive"."""
    summary: dict[str, Any] = {
        "trivial_accuracy": {
            part: round(float(np.mean(table.labels[rows] == 0)), 4)
            for part, rows in (("policy_rows", split.policy_rows), ("pool", split.pool_rows))
        },
        "unreadable_rows": np.flatnonzero(~table.inputs.valid).tolist(),
    }
    for member, score, threshold in zip(members, scores, thresholds, strict=True):
        inside = np.isin(regions[split.policy_rows], member["regions"])
        labels = table.labels[split.policy_rows]
        summary[member["name"]] = {
            "trained_on": score.trained_on,
            "threshold": round(threshold, 4),
            "policy_rows": quality(score.policy, labels, threshold),
            "policy_rows_own_region": quality(score.policy[inside], labels[inside], threshold),
            "policy_rows_elsewhere": quality(score.policy[~inside], labels[~inside], threshold),
            "pool": quality(score.pool, table.labels[split.pool_rows], threshold),
        }
    write_json(context.metrics_path("scores"), summary)
    on_policy_rows = {member["name"]: summary[member["name"]]["policy_rows"]["accuracy"] for member in members}
    print(
        f"hiv: accuracy on policy rows: inactive always {summary['trivial_accuracy']['policy_rows']}, "
        + ", ".join(f"{name} {value}" for name, value in on_policy_rows.items()),
        file=sys.stderr,
    )


def quality(scores: np.ndarray, labels: np.ndarray, threshold: float) -> dict[str, float | None]:
    called_active = (scores >= threshold).astype(int)
    both_classes = 0 < labels.sum() < len(labels)
    return {
        "accuracy": round(float(np.mean(called_active == labels)), 4),
        "inactive_always": round(float(np.mean(labels == 0)), 4),
        "balanced_accuracy": round(float(balanced_accuracy_score(labels, called_active)), 4) if both_classes else None,
        "auc": round(float(roc_auc_score(labels, scores)), 4) if both_classes else None,
        "called_active": round(float(called_active.mean()), 4),
    }
