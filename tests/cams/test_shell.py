"""The command `cams`: what it prints and writes, and how it refuses."""

import numpy as np
import pytest

import cams
from cams.guide import ABOUT
from cams.shell import main


@pytest.fixture(scope="module")
def bundle_file(tmp_path_factory):
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 3, 80)
    skill = np.where(labels[:, None] == np.arange(3), 0.95, 0.3)
    predictions = np.where(rng.random((80, 3)) < skill, labels[:, None], rng.integers(0, 3, (80, 3)))
    advice = (np.eye(3)[labels] * 0.7 + 0.1)[:, None]
    path = tmp_path_factory.mktemp("shell") / "mine.npz"
    cams.Bundle(
        predictions=predictions, labels=labels, advice=advice, model_names=["a", "b", "c"], policy_names=["router"]
    ).save(path)
    return path


def test_every_learner_is_described(capsys):
    assert set(ABOUT) == set(cams.LEARNERS)
    assert main(["learners"]) == 0
    printed = capsys.readouterr().out
    assert all(f"{name}\n" in printed for name in cams.LEARNERS)


def test_check_says_what_is_in_a_bundle(bundle_file, capsys):
    assert main(["check", str(bundle_file)]) == 0
    printed = capsys.readouterr().out
    assert "Bundle(80 rows, 3 models, 1 policies, 3 classes)" in printed
    assert "context pays (best policy" in printed
    assert "mistakes without a label" in printed


def test_check_of_a_bundle_without_labels_says_so(bundle_file, tmp_path, capsys):
    bundle = cams.Bundle.load(bundle_file)
    cams.Bundle(predictions=bundle.predictions, advice=bundle.advice).save(tmp_path / "unlabelled.npz")
    assert main(["check", str(tmp_path / "unlabelled.npz")]) == 0
    assert "no labels: good for a Selector" in capsys.readouterr().out


def test_replay_prints_keeps_and_draws(bundle_file, tmp_path, capsys):
    kept, picture = tmp_path / "replay.npz", tmp_path / "replay.png"
    options = ["--learners", "cams,mp", "--budgets", "0,5", "--horizon", "50", "--realizations", "3"]
    assert main(["replay", str(bundle_file), *options, "--out", str(kept), "--plot", str(picture)]) == 0
    expected = cams.replay(
        cams.Bundle.load(bundle_file), ["cams", "mp"], horizon=50, budgets=[0, 5], realizations=3, seed=0
    )
    np.testing.assert_array_equal(cams.Replay.load(kept).loss, expected.loss)
    assert "best_policy" in capsys.readouterr().out
    drawn = picture.read_bytes()
    assert main(["plot", str(kept), str(tmp_path / "again.png")]) == 0
    assert (tmp_path / "again.png").read_bytes() == drawn


REFUSED = {
    "no file": (["check", "nowhere.npz"], "there is no file nowhere.npz"),
    "learner": (["replay", "FILE", "--budgets", "5", "--learners", "camz"], "there is no learner 'camz'; did you mean"),
    "horizon": (["replay", "FILE", "--budgets", "5", "--horizon", "999"], "horizon is 999, but the bundle has only 80"),
    "no replay": (["plot", "FILE", "x.png"], "mine.npz: this is not a saved replay"),
    "picture's folder": (["replay", "FILE", "--budgets", "5", "--plot", "FILE/x.png"], "cannot write to"),
    "folder": (["replay", "FILE", "--budgets", "5", "--out", "FILE/x.npz"], "cannot write to"),
    "picture": (["replay", "FILE", "--budgets", "5", "--plot", "x.gif"], "expected one of .png, .pdf, .svg"),
}


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["replay", "FILE"], "the following arguments are required: --budgets; see cams replay --help"),
        (["replay", "FILE", "--budgets", "few"], "'few' is no list of whole numbers such as 0,10,50"),
        (["reply"], "invalid choice: 'reply'"),
    ],
)
def test_a_command_that_is_not_understood_is_one_sentence_too(arguments, sentence, capsys):
    with pytest.raises(SystemExit) as stop:
        main(arguments)
    assert stop.value.code == 2
    error = capsys.readouterr().err
    assert sentence in error
    assert len(error.strip().splitlines()) == 1


@pytest.mark.parametrize("case", REFUSED)
def test_bad_input_is_one_sentence_and_code_2(case, bundle_file, capsys):
    arguments, sentence = REFUSED[case]
    assert main([part.replace("FILE", str(bundle_file)) for part in arguments]) == 2
    printed, error = capsys.readouterr()
    assert not printed  # nothing was computed first
    assert error.startswith("error: ")
    assert sentence in error
    assert len(error.strip().splitlines()) == 1
