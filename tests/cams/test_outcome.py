"""What a replay gives back: summary, long table, file."""

from dataclasses import replace

import numpy as np
import pytest

import cams


@pytest.fixture(scope="module")
def result() -> cams.Replay:
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 3, 60)
    predictions = np.where(rng.random((60, 3)) < 0.6, labels[:, None], rng.integers(0, 3, (60, 3)))
    bundle = cams.Bundle(predictions=predictions, labels=labels, advice=rng.dirichlet(np.ones(3), (60, 2)))
    return cams.replay(
        bundle, ["cams", "mp"], horizon=40, budgets=[0, 5], realizations=4, seed=0, trace=[10, 40], progress=False
    )


def test_summary_ends_with_the_best_in_hindsight(result):
    summary = result.summary()
    assert summary["learner"].tolist() == ["cams", "cams", "mp", "mp", "best_model", "best_policy"]
    assert summary["loss_mean"].iloc[-2] == result.model_losses.min(axis=1).mean()
    assert summary["loss_mean"].iloc[-1] == result.policy_losses.min(axis=1).mean()
    assert summary["queries_max"].tolist() == [0, result.queries[0, 1].max(), 0, result.queries[1, 1].max(), 0, 0]


def test_long_table_holds_every_recorded_value_once(result):
    frame = result.to_frame()
    assert len(frame) == 2 * 2 * 4 * 2
    rows = frame.set_index(["learner", "budget", "realization", "round"])
    assert rows.index.is_unique
    assert rows.loc[("mp", 5, 3, 40), "loss"] == result.loss[1, 1, 3]
    assert rows.loc[("cams", 5, 2, 10), "queries"] == result.queries_trace[0, 1, 2, 0]
    for at, name in enumerate(result.learners):
        assert rows.loc[(name, 5, slice(None), 10), "loss"].tolist() == result.loss_trace[at, 1, :, 0].tolist()
        assert rows.loc[(name, 5, slice(None), 40), "loss"].tolist() == result.loss[at, 1].tolist()


def test_saved_and_loaded_it_is_the_same(result, tmp_path):
    result.save(tmp_path / "replay.npz")
    loaded = cams.Replay.load(tmp_path / "replay.npz")
    assert loaded.model_names == result.model_names == ["model_0", "model_1", "model_2"]
    for name, value in vars(result).items():
        np.testing.assert_array_equal(getattr(loaded, name), value)


def test_a_file_that_is_no_replay_is_refused(result, tmp_path):
    np.savez(tmp_path / "other.npz", predictions=np.zeros((2, 2)))
    with pytest.raises(cams.InputError, match=r"other.npz: this is not a saved replay"):
        cams.Replay.load(tmp_path / "other.npz")
    values = {name: np.asarray(value) for name, value in vars(result).items()}
    np.savez(tmp_path / "cut.npz", **{**values, "queries": values["queries"][:, :1]})
    with pytest.raises(cams.InputError, match=r"cut.npz: array 'queries' is int64 \(2, 1, 4\), expected whole numbers"):
        cams.Replay.load(tmp_path / "cut.npz")
    for wrong in ([40], 40.0, "40"):
        np.savez(tmp_path / "wrong.npz", **{**values, "horizon": np.asarray(wrong)})
        with pytest.raises(cams.InputError, match=r"wrong.npz: 'horizon' is not a whole number"):
            cams.Replay.load(tmp_path / "wrong.npz")
    np.savez(tmp_path / "single.npz", **{**values, "loss": np.array(3)})
    with pytest.raises(cams.InputError) as caught:
        cams.Replay.load(tmp_path / "single.npz")
    single = f"{tmp_path / 'single.npz'}: array 'loss' is int64 (), expected whole numbers (2, 2, 0)"
    assert str(caught.value) == single
    np.savez(tmp_path / "words.npz", **{**values, "queries": values["queries"].astype("U3")})
    with pytest.raises(cams.InputError, match=r"words.npz: array 'queries' is <U3"):
        cams.Replay.load(tmp_path / "words.npz")


@pytest.mark.parametrize("trace", [[0, 5], [10, 41], [5, 5]])
def test_a_trace_of_rounds_that_there_are_not_is_refused(result, tmp_path, trace):
    replace(result, trace=np.array(trace)).save(tmp_path / "a.npz")
    with pytest.raises(cams.InputError, match=r"a.npz: 'trace' does not list rounds between 1 and 40 in ascending"):
        cams.Replay.load(tmp_path / "a.npz")


def test_a_learner_that_stands_twice_is_refused_with_its_file(result, tmp_path):
    replace(result, learners=["mp", "mp"]).save(tmp_path / "a.npz")
    with pytest.raises(cams.InputError) as refused:
        cams.Replay.load(tmp_path / "a.npz")
    assert str(refused.value) == f"{tmp_path / 'a.npz'}: 'learners' has the name 'mp' twice"


def test_one_round_on_which_all_are_wrong_comes_back(tmp_path):
    wrong = cams.Bundle(predictions=[[0, 0]], labels=[1], num_classes=2)
    cams.replay(wrong, ["mp"], horizon=1, budgets=[1], realizations=1, seed=0, trace=[1]).save(tmp_path / "a.npz")
    loaded = cams.Replay.load(tmp_path / "a.npz")
    assert (loaded.loss.tolist(), loaded.trace.tolist()) == ([[[1]]], [1])


@pytest.mark.parametrize("numbers", [[0, 1, 2], [0, 1, 2, 2], [-1, 0, 1, 2]])
def test_realizations_that_are_not_numbered_are_refused(result, tmp_path, numbers):
    replace(result, realizations=np.array(numbers)).save(tmp_path / "a.npz")
    with pytest.raises(cams.InputError, match=r"a.npz: 'realizations' does not number the 4 realizations"):
        cams.Replay.load(tmp_path / "a.npz")


@pytest.mark.parametrize("seed", ["", "-1", "1.5", "²", "9" * 1001, ["1"]])
def test_a_seed_that_is_no_number_is_refused(result, tmp_path, seed):
    replace(result, seed=seed).save(tmp_path / "a.npz")
    with pytest.raises(cams.InputError, match=r"a.npz: 'seed' is not a whole number"):
        cams.Replay.load(tmp_path / "a.npz")


def test_a_seed_may_be_longer_than_an_integer_of_numpy(result, tmp_path):
    for seed in (2**100, 10**999):  # a thousand digits are the most
        replace(result, seed=seed).save(tmp_path / "a.npz")
        assert cams.Replay.load(tmp_path / "a.npz").seed == seed


def test_a_part_knows_which_realizations_are_its_own(tmp_path):
    bundle = cams.Bundle(predictions=[[0, 1], [1, 1]], labels=[0, 1])
    how = {"horizon": 2, "budgets": [1], "realizations": 2, "seed": 5}
    part = cams.replay(bundle, ["rs"], **how, first_realization=3)
    assert (part.seed, part.realizations.tolist()) == (5, [3, 4])
    assert part.to_frame()["realization"].tolist() == [3, 4]
    last = cams.replay(bundle, ["rs"], **{**how, "realizations": 1}, first_realization=2**63 - 2)
    assert last.realizations.tolist() == [2**63 - 2]
    part.save(tmp_path / "part.npz")
    joined = cams.Replay.joined([cams.replay(bundle, ["rs"], **how), cams.Replay.load(tmp_path / "part.npz")])
    assert joined.realizations.tolist() == [0, 1, 3, 4]


def test_one_part_joins_to_itself(result):
    assert cams.Replay.joined([result]).to_frame().equals(result.to_frame())


def test_no_names_are_still_names(result, tmp_path):
    """A pool without policies has an empty list of names, not of numbers."""
    bundle = cams.Bundle(predictions=[[0, 1], [1, 1]], labels=[0, 1])
    played = cams.replay(bundle, ["rs"], horizon=2, budgets=[1], realizations=1, seed=0, progress=False)
    played.save(tmp_path / "replay.npz")
    with np.load(tmp_path / "replay.npz") as archive:
        assert archive["policy_names"].dtype.kind == "U"
    assert cams.Replay.load(tmp_path / "replay.npz").policy_names == []


def test_the_picture_has_a_line_per_learner_and_starts_at_no_label(result, tmp_path):
    figure = result.plot(tmp_path / "replay.png")
    assert result.plot().axes
    (axes,) = figure.axes
    assert axes.get_xlim()[0] <= 0
    assert [text.get_text() for text in figure.legends[0].get_texts()] == [
        *("CAMS", "MP", "Best model in hindsight", "Best policy in hindsight")
    ]
    assert (tmp_path / "replay.png").read_bytes().startswith(b"\x89PNG")
    with pytest.raises(cams.InputError, match=r"replay.gif ends in '.gif', expected one of .png, .pdf, .svg"):
        result.plot(tmp_path / "replay.gif")
