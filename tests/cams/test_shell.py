"""The command `cams`: what it prints and writes, and how it refuses."""

from typing import Any

import numpy as np
import pytest

import cams
from cams import shell
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


def test_descriptions_are_indented_and_end_at_column_100(capsys, monkeypatch):
    a, b = "a" * 48, "b" * 47
    monkeypatch.setattr(shell, "ABOUT", {"one": f"{a} {b}", "two": f"{a} {b}b"})
    assert main(["learners"]) == 0
    assert capsys.readouterr().out == f"one\n    {a} {b}\ntwo\n    {a}\n    {b}b\n"


# ---- check ----

# Everything is class 0. Of eight rows a is right on the first four, b on all but the first and the last.
VOTES = np.array([[0, 1], [0, 0], [0, 0], [0, 0], [1, 0], [1, 0], [1, 0], [1, 1]])
LABELS = np.zeros(8, dtype=int)
A, B = [0.9, 0.1], [0.2, 0.8]


def _checked(path: Any, capsys: Any, **arrays: Any) -> list[str]:
    """Return what `cams check` prints about a bundle of the models a and b."""
    cams.Bundle(**{"predictions": VOTES, "num_classes": 2, "model_names": ["a", "b"], **arrays}).save(path)
    assert main(["check", str(path)]) == 0
    printed = capsys.readouterr().out
    assert "\n\n" not in printed
    return printed.splitlines()


def test_check_by_hand(tmp_path, capsys):
    """`stubborn` follows a always, `router` a on the first row and b on the others."""
    advice = np.array([[A, A]] + [[A, B]] * 7)
    names = ["stubborn", "router"]
    lines = _checked(tmp_path / "b.npz", capsys, labels=LABELS, advice=advice, policy_names=names)
    assert lines[:-1] == [
        "Bundle(8 rows, 2 models, 2 policies, 2 classes)",
        "accuracy of models:",
        "   75.0%  b",
        "   50.0%  a",
        "models disagree on 50.0% of the rows; some model is right on 87.5%",
        "accuracy of policies, each by its favourite model:",
        "   87.5%  router",
        "   50.0%  stubborn",
        "context pays (best policy 87.5%, best model 75.0%, +12.5 points)",
    ]
    assert lines[-1].startswith("CAMS over 8 rounds: ")


@pytest.mark.parametrize(
    ("follows", "numbers"), [(B, "75.0%, best model 75.0%, +0.0"), (A, "50.0%, best model 75.0%, -25.0")]
)
def test_context_that_does_not_pay(follows, numbers, tmp_path, capsys):
    lines = _checked(tmp_path / "b.npz", capsys, labels=LABELS, advice=np.array([[follows]] * 8))
    expected = f"context does not pay: no policy beats the best single model (best policy {numbers} points)"
    assert lines[-2] == expected


def test_check_without_policies_says_nothing_of_them(tmp_path, capsys):
    lines = _checked(tmp_path / "b.npz", capsys, labels=LABELS)
    assert lines[0] == "Bundle(8 rows, 2 models, 0 policies, 2 classes)"
    assert lines[4].startswith("models disagree")
    assert lines[5].startswith("CAMS over 8 rounds: ")


def test_check_follows_a_policy_to_the_models_that_answer(tmp_path, capsys):
    """On the first row a, the policy's favourite, is silent and b wrong; on the last a is silent and b right."""
    votes = [[-1, 1], [0, 0], [1, 0], [-1, 0]]
    advice = np.array([[A]] * 4)
    arrays = {"predictions": votes, "labels": LABELS[:4], "advice": advice, "abstain": -1}
    assert _checked(tmp_path / "b.npz", capsys, **arrays)[1:7] == [
        "accuracy of models:",
        "   75.0%  b",
        "   25.0%  a",
        "models disagree on 25.0% of the rows; some model is right on 75.0%",
        "accuracy of policies, each by its favourite model:",
        "   50.0%  policy_0",
    ]


def test_check_of_a_bundle_without_labels_says_so(tmp_path, capsys):
    assert _checked(tmp_path / "b.npz", capsys) == [
        "Bundle(8 rows, 2 models, 0 policies, 2 classes)",
        "no labels: good for a Selector, but it cannot be replayed or judged",
    ]


def _outcome(**arrays: Any) -> cams.Replay:
    """A replay of one learner at three budgets over two realizations, with these losses and queries."""
    empty = np.zeros((1, 3, 2, 0), dtype=int)
    return cams.Replay(
        learners=["cams"], budgets=np.array([0, 1, 8]), horizon=8, trace=np.zeros(0, dtype=int), loss_trace=empty,
        queries_trace=empty, model_loss_trace=np.zeros((2, 0, 2), dtype=int), policy_losses=np.zeros((2, 0), dtype=int),
        policy_loss_trace=np.zeros((2, 0, 0), dtype=int), seed=0, realizations=np.arange(2),
        **{name: np.array(array) for name, array in arrays.items()},
    )  # fmt: skip


@pytest.mark.parametrize(("rows", "rounds", "few"), [(8, 8, 1), (99, 99, 1), (100, 100, 2), (2100, 2000, 40)])
def test_what_labels_can_do(rows, rounds, few, tmp_path, capsys, monkeypatch):
    """Without labels, with one of fifty, and with all: hand-made losses, and what was asked for."""
    asked = []
    losses = {
        "loss": [[[9, 10], [4, 5], [2, 2]]],
        "queries": [[[0, 0], [1, 1], [7, 5]]],
        "model_losses": [[3, 6], [4, 2]],
    }
    monkeypatch.setattr(cams, "replay", lambda *given, **how: asked.append((given[1], how)) or _outcome(**losses))
    votes = np.resize(VOTES, (rows, 2))
    lines = _checked(tmp_path / "b.npz", capsys, predictions=votes, labels=np.zeros(rows, dtype=int))
    assert lines[-1] == (
        f"CAMS over {rounds} rounds: 9.5 mistakes without a label, 4.5 with 1, 2.0 with the 6 it wants; "
        "the best model in hindsight makes 2.5"
    )
    how = {"horizon": rounds, "budgets": [0, few, rounds], "realizations": 10, "seed": 0}
    assert asked == [(["cams"], how)]


# ---- replay and plot ----


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


@pytest.mark.parametrize("case", REFUSED)
def test_bad_input_is_one_sentence_and_code_2(case, bundle_file, capsys):
    arguments, sentence = REFUSED[case]
    assert main([part.replace("FILE", str(bundle_file)) for part in arguments]) == 2
    printed, error = capsys.readouterr()
    assert not printed  # nothing was computed first
    assert error.startswith("error: ")
    assert sentence in error
    assert len(error.strip().splitlines()) == 1


def _replayed_with(monkeypatch: Any, arguments: list[str]) -> tuple[Any, dict[str, Any]]:
    """Return the learners and options that `cams replay` hands on, without playing anything."""
    asked = []
    losses = {
        "loss": [[[9, 10], [4, 5], [2, 3]]],
        "queries": [[[0, 0], [1, 1], [7, 5]]],
        "model_losses": [[3, 6], [4, 2]],
    }
    monkeypatch.setattr(cams, "replay", lambda _, names, **how: asked.append((names, how)) or _outcome(**losses))
    assert main(["replay", *arguments]) == 0
    return asked[0]


@pytest.mark.parametrize(("cores", "threads"), [(7, 7), (None, 1)])
def test_what_a_replay_does_unless_told_otherwise(cores, threads, bundle_file, monkeypatch):
    monkeypatch.setattr("os.cpu_count", lambda: cores)
    names, how = _replayed_with(monkeypatch, [str(bundle_file), "--budgets", "5"])
    assert names == ["cams"]
    assert how == {
        "horizon": 80, "budgets": [5], "realizations": 20, "seed": 0, "n_jobs": threads, "regularize": False,
        "scaled": False,
    }  # fmt: skip


def test_every_option_reaches_the_replay(bundle_file, monkeypatch, capsys):
    options = "--learners mp,rs --budgets 1,2 --horizon 9 --realizations 3 --seed 4 --jobs 5 --regularize --scaled"
    names, how = _replayed_with(monkeypatch, [str(bundle_file), *options.split()])
    assert names == ["mp", "rs"]
    assert how == {
        "horizon": 9, "budgets": [1, 2], "realizations": 3, "seed": 4, "n_jobs": 5, "regularize": True, "scaled": True,
    }  # fmt: skip


def test_a_replay_prints_its_summary_to_two_decimals(bundle_file, monkeypatch, capsys):
    """Losses 9 and 10: mean 9.5, half the difference 0.5 times Student's 6.313752 is 3.16; 2 and 3 likewise."""
    _replayed_with(monkeypatch, [str(bundle_file), "--budgets", "0,1,8"])
    assert [line.split() for line in capsys.readouterr().out.splitlines()] == [
        ["learner", "budget", "loss_mean", "loss_low", "loss_high", "queries_mean", "queries_max"],
        ["cams", "0", "9.5", "6.34", "12.66", "0.0", "0"],
        ["cams", "1", "4.5", "1.34", "7.66", "1.0", "1"],
        ["cams", "8", "2.5", "-0.66", "5.66", "6.0", "7"],
        ["best_model", "0", "2.5", "-0.66", "5.66", "0.0", "0"],
    ]


def test_a_command_that_is_stopped_says_so(bundle_file, monkeypatch, capsys):
    def stop(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(cams, "replay", stop)
    assert main(["replay", str(bundle_file), "--budgets", "5"]) == 130
    assert capsys.readouterr() == ("", "stopped, nothing was written\n")


@pytest.mark.parametrize("option", ["--out=kept.npz", "--plot=drawn.png"])
def test_a_folder_that_is_gone_is_named_before_anything_is_played(option, tmp_path, capsys, monkeypatch):
    cams.Bundle(predictions=VOTES, labels=np.zeros(len(VOTES), dtype=int)).save(tmp_path / "b.npz")
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()
    assert main(["replay", str(tmp_path / "b.npz"), "--budgets=1", option]) == 2
    assert capsys.readouterr().err == "error: cannot write to .: No such file or directory\n"
