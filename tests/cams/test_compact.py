"""Compact bundles: rewards and recipes on disk, plain advice in memory."""

import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import cams
from cams.archive import read_archive, write_archive
from cams.compact import DenseRewards, HeadRewards, Recipe, read_recipes, save_compact
from cams.policies import random_advice

N, S, K = 300, 2, 3
SHARPNESS = 4.0
RECIPES = [
    Recipe("first", "normal", "stored:0"),
    Recipe("second", "biased", "stored:1"),
    Recipe("against the first", "malicious", "opposite:0"),
    Recipe("noise", "random", "random:17"),
]


@pytest.fixture
def pool() -> dict[str, Any]:
    rng = np.random.default_rng(0)
    return {
        "predictions": rng.integers(0, 4, (N, K)),
        "labels": rng.integers(0, 4, N),
        "sharpness": SHARPNESS,
        "policies": RECIPES,
        "num_classes": 4,
        "model_names": ["a", "b", "c"],
    }


def _softmax(rewards: Any) -> Any:
    exponentials = np.exp(SHARPNESS * rewards)
    return exponentials / exponentials.sum(axis=-1, keepdims=True)


def _saved(path: Path, pool: dict[str, Any], rewards: Any, **changes: Any) -> cams.Bundle:
    save_compact(path, **{**pool, "rewards": rewards, **changes})
    return cams.Bundle.load(path)


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.uint8])
def test_dense_rewards_become_advice(pool: Any, dtype: Any, tmp_path: Path) -> None:
    rewards = np.random.default_rng(1).random((N, S, K))
    stored = np.round(rewards * 255).astype(np.uint8) if dtype == np.uint8 else rewards.astype(dtype)
    bundle = _saved(tmp_path / "b.npz", pool, DenseRewards(stored))
    values = stored / 255 if dtype == np.uint8 else stored.astype(float)
    np.testing.assert_allclose(bundle.advice[:, 0], _softmax(values[:, 0]), atol=1e-6)
    np.testing.assert_allclose(bundle.advice[:, 1], _softmax(values[:, 1]), atol=1e-6)
    np.testing.assert_allclose(bundle.advice[:, 2], _softmax(-values[:, 0]), atol=1e-6)
    np.testing.assert_allclose(bundle.advice[:, 3], random_advice(N, K, 17), atol=1e-6)
    np.testing.assert_allclose(bundle.advice.sum(axis=2, dtype=float), 1, atol=5e-7)
    assert DenseRewards(stored).rows(0, N).dtype == np.float32


def test_the_same_rewards_with_other_policies(pool: Any, tmp_path: Path) -> None:
    rewards = np.random.default_rng(1).random((N, S, K)).astype(np.float32)
    own = _saved(tmp_path / "b.npz", pool, DenseRewards(rewards))
    assert read_recipes(tmp_path / "b.npz") == RECIPES
    others = [Recipe(how, "malicious", f"{how}:1") for how in ("complement", "contrary", "opposite")]
    bundle = cams.Bundle.load(tmp_path / "b.npz", policies=others)
    trained = _softmax(rewards[:, 1])
    np.testing.assert_allclose(bundle.advice[:, 0], (1 - trained) / (K - 1), atol=1e-6)
    np.testing.assert_array_equal(bundle.advice[:, 1], bundle.advice[:, 0])  # an older word for the same
    np.testing.assert_allclose(bundle.advice[:, 2], _softmax(-rewards[:, 1]), atol=1e-6)
    assert bundle.policy_names == ["complement", "contrary", "opposite"]
    assert bundle.policy_kinds == ["malicious"] * 3
    np.testing.assert_array_equal(bundle.predictions, own.predictions)


def test_other_policies_that_cannot_be_made(pool: Any, tmp_path: Path) -> None:
    _saved(tmp_path / "b.npz", pool, DenseRewards(np.full((N, S, K), 0.5))).save(tmp_path / "plain.npz")
    with pytest.raises(cams.InputError, match=r"b.npz: policy recipe 'stored:9' names a stored policy, but only 2"):
        cams.Bundle.load(tmp_path / "b.npz", policies=[Recipe("x", "normal", "stored:9")])
    with pytest.raises(cams.InputError, match=r"plain.npz: advice is stored here, no rewards"):
        cams.Bundle.load(tmp_path / "plain.npz", policies=RECIPES)
    with pytest.raises(cams.InputError, match=r"plain.npz: this is not a compact bundle"):
        read_recipes(tmp_path / "plain.npz")


@pytest.mark.parametrize("dtype", [np.int8, np.float16])
def test_heads_become_advice(pool: Any, dtype: Any, tmp_path: Path) -> None:
    rng = np.random.default_rng(2)
    features = rng.integers(-127, 128, (N, S, 5)).astype(dtype)
    scale, weights, bias = np.array([0.01, 0.02]), rng.normal(size=(S, 5, K)), rng.normal(size=(S, K))
    bundle = _saved(tmp_path / "b.npz", pool, HeadRewards(features, scale, weights, bias))
    for s in range(S):
        logits = features[:, s].astype(float) * scale[s] @ weights[s] + bias[s]
        np.testing.assert_allclose(bundle.advice[:, s], _softmax(1 / (1 + np.exp(-logits))), atol=2e-6)
    assert HeadRewards(features, scale, weights, bias).rows(0, N).dtype == np.float32


def test_the_rest_of_the_bundle_survives(pool: Any, tmp_path: Path) -> None:
    rewards = DenseRewards(np.full((N, S, K), 0.5, dtype=np.float16))
    bundle = _saved(tmp_path / "b.npz", pool, rewards, groups=np.arange(N) // 10)
    np.testing.assert_array_equal(bundle.predictions, pool["predictions"])
    np.testing.assert_array_equal(bundle.labels, pool["labels"])
    np.testing.assert_array_equal(bundle.groups, np.arange(N) // 10)
    assert (bundle.num_classes, bundle.model_names) == (4, ["a", "b", "c"])
    assert bundle.policy_names == [recipe.name for recipe in RECIPES]
    assert bundle.policy_kinds == ["normal", "biased", "malicious", "random"]


@pytest.mark.parametrize(("num_classes", "stored"), [(1, np.uint8), (2, np.uint8), (256, np.uint8), (257, np.int32)])
def test_classes_take_one_byte_while_they_fit(pool: Any, num_classes: int, stored: Any, tmp_path: Path) -> None:
    labels = np.arange(N) % num_classes
    predictions = np.full((N, K), num_classes - 1)
    rewards = DenseRewards(np.full((N, S, K), 0.5, dtype=np.float16))
    given = {"labels": labels, "predictions": predictions, "num_classes": num_classes}
    bundle = _saved(tmp_path / "b.npz", pool, rewards, **given)
    np.testing.assert_array_equal(bundle.labels, labels)
    np.testing.assert_array_equal(bundle.predictions, predictions)
    assert bundle.num_classes == num_classes
    with np.load(tmp_path / "b.npz") as archive:
        assert archive["labels"].dtype == archive["predictions"].dtype == stored


def test_a_sharpness_below_one_is_allowed(pool: Any, tmp_path: Path) -> None:
    rewards = DenseRewards(np.full((N, S, K), 0.5, dtype=np.float16))
    assert _saved(tmp_path / "b.npz", pool, rewards, sharpness=0).advice[:, 0] == pytest.approx(1 / K)


def test_a_thousand_classes_keep_their_numbers(pool: Any, tmp_path: Path) -> None:
    labels = np.arange(N) * 3
    rewards = DenseRewards(np.full((N, S, K), 0.5, dtype=np.float16))
    bundle = _saved(tmp_path / "b.npz", pool, rewards, labels=labels, num_classes=1000)
    np.testing.assert_array_equal(bundle.labels, labels)
    assert bundle.num_classes == 1000  # though no label is above 897


def test_policies_may_all_be_random(pool: Any, tmp_path: Path) -> None:
    bundle = _saved(tmp_path / "b.npz", pool, DenseRewards(np.zeros((N, 0, K))), policies=RECIPES[3:])
    np.testing.assert_allclose(bundle.advice[:, 0], random_advice(N, K, 17), atol=1e-6)
    assert bundle.advice.dtype == np.float32


def test_names_of_no_policies_are_still_text_in_both_forms(pool: Any, tmp_path: Path) -> None:
    _saved(tmp_path / "b.npz", pool, DenseRewards(np.zeros((N, 0, K))), policies=[]).save(tmp_path / "plain.npz")
    for form in ("b.npz", "plain.npz"):
        texts = [array for name, array in read_archive(tmp_path / form).items() if name.startswith("policy_")]
        assert {(array.dtype.kind, array.size) for array in texts} == {("U", 0)}


def test_compact_saved_plainly_and_loaded_is_the_same(pool: Any, tmp_path: Path) -> None:
    rewards = np.random.default_rng(3).integers(0, 256, (N, S, K)).astype(np.uint8)
    bundle = _saved(tmp_path / "compact.npz", pool, DenseRewards(rewards))
    bundle.save(tmp_path / "plain.npz")
    np.testing.assert_array_equal(cams.Bundle.load(tmp_path / "plain.npz").advice, bundle.advice)
    assert (tmp_path / "compact.npz").stat().st_size < (tmp_path / "plain.npz").stat().st_size / 3


PINNED = [[0.6529015, 0.0614498, 0.2856486], [0.3862064, 0.2036222, 0.4101714]]


def test_random_advice_is_the_same_for_ever() -> None:
    """Bundles store a seed in place of the advice, so these digits may never change."""
    np.testing.assert_allclose(random_advice(2, 3, 17), PINNED, atol=1e-7)
    np.testing.assert_array_equal(random_advice(1, 3, 17), random_advice(2, 3, 17)[:1])


def test_random_advice_is_uniform_on_the_simplex() -> None:
    # Dirichlet(1, 1, 1): mean 1/3, variance (1/3)(2/3)/4 = 1/18.
    advice = random_advice(20_000, 3, 0).astype(float)
    np.testing.assert_allclose(advice.mean(axis=0), 1 / 3, atol=0.01)
    np.testing.assert_allclose(advice.var(axis=0), 1 / 18, atol=0.002)


def _heads(**changes: Any) -> HeadRewards:
    parts = {"scale": np.ones(S), "weights": np.zeros((S, 5, K)), "bias": np.zeros((S, K))}
    return HeadRewards(**{"features": np.zeros((N, S, 5), np.int8), **parts, **changes})


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"labels": np.full(N, -1)}, r"labels\[0\] is -1, expected a class in 0..3"),
        ({"labels": np.full(N, 256)}, r"labels\[0\] is 256, expected a class in 0..3"),
        ({"predictions": np.full((N, K), 4)}, r"predictions\[0, 0\] is 4, expected a class in 0..3"),
        ({"predictions": np.zeros((N, K + 1), int)}, r"rewards has shape \(300, 2, 3\)"),
        ({"rewards": DenseRewards(np.full((N, S, K), 1.5))}, "^rewards has values outside 0..1$"),
        ({"rewards": DenseRewards(np.full((N, S, K), -0.1))}, "^rewards has values outside 0..1$"),
        ({"rewards": DenseRewards(np.full((N, S, K), np.nan))}, "rewards has values outside 0..1"),
        (
            {"rewards": DenseRewards(np.zeros((N, K)))},
            r"^rewards has shape \(300, 3\) and type float64, expected numbers \(300, any, 3\)$",
        ),
        ({"rewards": DenseRewards(np.zeros((N, S, K), "U1"))}, r"and type <U1, expected numbers \(300, any, 3\)$"),
        ({"labels": np.full(N, 0.5)}, r"^labels\[0\] is 0.5, expected a whole number$"),
        ({"predictions": np.zeros(N, int)}, r"^predictions has 1 dimension\(s\), expected 2$"),
        ({"policies": [Recipe("x", "normal", "stored:2")]}, "'stored:2' names a stored policy, but only 2 are stored"),
        ({"policies": [Recipe("x", "normal", "stored")]}, "'stored' is not stored:I, opposite:I"),
        ({"policies": [Recipe("x", "normal", "random:-1")]}, "'random:-1' is not stored:I, opposite:I"),
        ({"policies": [Recipe("x", "normal", "copy:0")]}, "'copy:0' is not stored:I, opposite:I"),
        ({"rewards": _heads(weights=np.zeros((S, 4, K)))}, r"head_weights has shape \(2, 4, 3\)"),
        (
            {"rewards": _heads(features=np.zeros((N, S), np.int8))},
            r"^head_features has shape \(300, 2\) and type int8, expected numbers \(300, any, any\)$",
        ),
        ({"rewards": _heads(scale=np.ones(1))}, r"head_scale has shape \(1,\)"),
        ({"rewards": _heads(bias=np.full((S, K), np.nan))}, "head_bias has values that are not finite"),
        # What `load` refuses would otherwise stand where the last good file was.
        ({"labels": np.zeros(N - 1, int)}, r"^labels has shape \(299,\), expected \(300,\) as in predictions$"),
        ({"groups": [0, 1]}, r"^groups has shape \(2,\), expected \(300,\) as in predictions$"),
        ({"groups": np.ma.masked_equal(np.arange(N), 0)}, "^groups has masked entries"),
        ({"model_names": ["a", "b"]}, "^model_names has 2 names, expected 3$"),
        ({"model_names": ["a", "b", "b"]}, "^model_names has the name 'b' twice$"),
        ({"policies": [RECIPES[0]] * 2}, "^policy_names has the name 'first' twice$"),
        ({"policies": [Recipe("x", "bad", "stored:0")]}, r"^policy_kinds\[0\] is 'bad', expected one of normal"),
        ({"policies": [Recipe("x", "normal", 3)]}, "^policy recipe '3' is not stored:I"),  # type: ignore[arg-type]
        ({"num_classes": 0}, "^num_classes is 0, expected a whole number of at least 1$"),
        ({"num_classes": 2**31}, "^num_classes is 2147483648, expected a whole number from 1 to 2147483647$"),
        ({"num_classes": "4"}, "^num_classes is '4', expected a whole number$"),
        ({"sharpness": "5"}, "^sharpness is '5', expected a number$"),
        ({"rewards": np.zeros((N, S, K))}, "^rewards is a ndarray, expected DenseRewards or HeadRewards$"),
        ({"rewards": DenseRewards(np.zeros((N, S, K)).tolist())}, "^rewards is a list, expected an array$"),
        ({"rewards": DenseRewards(np.ma.masked_less(np.zeros((N, S, K)), 1))}, "^rewards has masked entries"),
        (
            {"policies": [("x", "normal", "stored:0")]},
            r"^policies is \[\('x', 'normal', 'stored:0'\)\], expected a list of",
        ),
        ({"policies": RECIPES[0]}, "^policies is Recipe.*, expected a list of recipes$"),
        ({"sharpness": 1e300}, r"^sharpness is 1e\+300, expected a number from 0 to 1e\+09$"),
    ],
)
def test_what_is_refused_is_refused_before_anything_is_written(
    pool: Any, changes: Any, message: str, tmp_path: Path
) -> None:
    rewards = DenseRewards(np.full((N, S, K), 0.5, dtype=np.float16))
    with pytest.raises(cams.InputError, match=message):
        save_compact(tmp_path / "b.npz", **{**pool, "rewards": rewards, **changes})
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("missing", ["sharpness", "policy_names", "policy_kinds", "rewards"])
def test_a_compact_file_with_a_part_missing_is_refused(pool: Any, missing: str, tmp_path: Path) -> None:
    rewards = DenseRewards(np.full((N, S, K), 0.5, dtype=np.float16))
    save_compact(tmp_path / "b.npz", **pool, rewards=rewards)
    with np.load(tmp_path / "b.npz") as stored:
        rest = {name: stored[name] for name in stored.files if name != missing}
    np.savez(tmp_path / "b.npz", **rest)
    with pytest.raises(cams.InputError, match="there is no array"):
        cams.Bundle.load(tmp_path / "b.npz")


def test_rewards_of_another_pool_are_refused(pool: Any, tmp_path: Path) -> None:
    save_compact(tmp_path / "b.npz", **pool, rewards=DenseRewards(np.full((N, S, K), 0.5, dtype=np.float16)))
    with np.load(tmp_path / "b.npz") as stored:
        arrays = {name: stored[name] for name in stored.files}
    arrays["rewards"] = arrays["rewards"][:-1]
    np.savez(tmp_path / "b.npz", **arrays)
    with pytest.raises(cams.InputError, match=r"array 'rewards' has shape \(299, 2, 3\), expected \(300, any, 3\)"):
        cams.Bundle.load(tmp_path / "b.npz")


@pytest.mark.parametrize("sharpness", [-1.0, np.nan])
def test_a_stored_sharpness_that_is_none_is_refused(pool: Any, sharpness: float, tmp_path: Path) -> None:
    rewards = DenseRewards(np.full((N, S, K), 0.5, dtype=np.float16))
    save_compact(tmp_path / "b.npz", **pool, rewards=rewards)
    write_archive(tmp_path / "b.npz", read_archive(tmp_path / "b.npz") | {"sharpness": np.asarray(sharpness)})
    with pytest.raises(cams.InputError) as refused:
        cams.Bundle.load(tmp_path / "b.npz")
    assert str(refused.value) == (
        f"{tmp_path / 'b.npz'}: sharpness is {sharpness:g}, expected a number from 0 to 1e+09"
    )


def test_expanding_holds_one_copy_of_the_advice(tmp_path: Path) -> None:
    rows, policies, models = 4000, 10, 40
    rewards = np.random.default_rng(0).integers(0, 256, (rows, policies, models)).astype(np.uint8)
    recipes = [Recipe(str(i), "normal", f"stored:{i}") for i in range(policies)]
    recipes += [Recipe(f"not {i}", "malicious", f"opposite:{i}") for i in range(policies)]
    save_compact(
        tmp_path / "b.npz",
        predictions=np.zeros((rows, models), int),
        labels=np.zeros(rows, int),
        rewards=DenseRewards(rewards),
        sharpness=10.0,
        policies=recipes,
        num_classes=2,
        model_names=[str(j) for j in range(models)],
    )
    tracemalloc.start()
    bundle = cams.Bundle.load(tmp_path / "b.npz")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    # The stored rewards, one byte for every eight of advice, are there beside it while it is built.
    assert peak < (1.3 + 1 / 8) * bundle.advice.nbytes
