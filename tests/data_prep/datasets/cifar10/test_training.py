"""The training loop: seeded, its snapshots are what it says, and features of policies are whole numbers."""

import numpy as np
import pytest
import torch
from scipy.special import expit
from torch import nn

from cams.compact import HeadRewards
from data_prep.datasets.cifar10.networks import build_network
from data_prep.datasets.cifar10.policies import FeaturesOf, RewardNetwork
from data_prep.datasets.cifar10.runs import divided_classes, in_parallel, kept_weights, skewed_rows
from data_prep.datasets.cifar10.training import (
    CLASSES,
    Images,
    RewardObjective,
    Schedule,
    Setup,
    outputs_of,
    train,
)
from data_prep.training.seeding import seeded

NETWORK = {"family": "resnet", "widths": [8, 16]}
IMAGES = Images(mean=(0.5, 0.5, 0.5), std=(0.25, 0.25, 0.25), size=32, pad=4, augment_group=8)


def setup(epochs=2, snapshots=(1, 2), **changes):
    values = {"learning_rate": 0.05, "batch_size": 16, "momentum": 0.9, "weight_decay": 5e-4, **changes}
    return Setup(Schedule(epochs=epochs, snapshots=snapshots, **values), IMAGES, device="cpu", threads=1)


def bright_and_dark(count=64):
    """Images whose class is their brightness: anything that learns at all learns this."""
    rng = np.random.default_rng(0)
    labels = np.arange(count) % 2
    noise = rng.integers(0, 100, (count, 3, 32, 32))
    return (noise + 120 * labels[:, None, None, None]).astype(np.uint8), labels


def trained(seed, name="test"):
    pixels, labels = bright_and_dark()
    with seeded(seed, threads=1):
        return train(build_network(NETWORK, 2), pixels, labels, CLASSES, setup(), name)


def test_one_seed_gives_one_network_and_another_seed_another():
    first, again, other = trained(1), trained(1), trained(2)
    for number in (1, 2):
        assert all(torch.equal(first[number][key], again[number][key]) for key in first[number])
    assert not torch.equal(first[2]["3.weight"], other[2]["3.weight"])


def test_seeding_leaves_the_callers_generator_and_threads_alone():
    torch.manual_seed(7)
    expected, threads = torch.rand(1), torch.get_num_threads()
    torch.manual_seed(7)
    with seeded(1, threads=1):
        torch.rand(5)
    assert torch.equal(torch.rand(1), expected)
    assert torch.get_num_threads() == threads


def test_training_learns_and_snapshots_predict():
    pixels, labels = bright_and_dark(128)
    network = build_network(NETWORK, 2)
    with seeded(0, threads=1):
        snapshots = train(network, pixels, labels, CLASSES, setup(epochs=4, snapshots=(4,)), "learns")
    network.load_state_dict(snapshots[1])
    assert (outputs_of(network, pixels, setup()).argmax(axis=1) == labels).mean() > 0.9


def test_progress_names_run_epoch_accuracy_speed_and_time_left(capsys):
    trained(0, name="vgg_03")
    line = capsys.readouterr().err.splitlines()[0]
    assert line.startswith("vgg_03: epoch 1/2, accuracy 0.")
    assert "images/s" in line
    assert "s left" in line


def test_snapshots_outside_the_run_are_refused():
    with pytest.raises(ValueError, match="end with 2 epochs"):
        setup(epochs=2, snapshots=(1, 3))
    with pytest.raises(ValueError, match="must be positive"):
        setup(epochs=2, snapshots=(0, 2))


def test_snapshots_may_fall_inside_an_epoch():
    schedule = setup(epochs=3, snapshots=(2.5, 3)).schedule
    assert schedule.snapshot_numbers(steps_per_epoch=10) == {25: 1, 30: 2}
    assert schedule.snapshot_names("vgg_00") == ["vgg_00_s1", "vgg_00_s2"]


def test_augmentation_keeps_the_shape_and_normalisation_the_statistics():
    batch = torch.from_numpy(bright_and_dark(20)[0])
    assert IMAGES.augmented(batch).shape == batch.shape
    assert IMAGES.augmented(batch).dtype == torch.uint8
    expected = (batch.float() / 255 - 0.5) / 0.25
    assert torch.allclose(IMAGES.normalized(batch), expected, atol=1e-6)


def test_a_policys_features_and_head_are_all_of_it():
    torch.manual_seed(0)
    network = RewardNetwork(NETWORK, num_features=5, num_models=7, num_classes=2, levels=15).eval()
    pixels, _ = bright_and_dark(12)
    features = outputs_of(FeaturesOf(network), pixels, setup())
    assert np.array_equal(features, features.round())
    assert np.abs(features).max() <= 15
    weights, bias = network.head.weight.detach().numpy().T, network.head.bias.detach().numpy()
    stored = HeadRewards(features[:, None].astype(np.int8), np.array([network.scale]), weights[None], bias[None])
    rewards = expit(outputs_of(network, pixels, setup())[:, :7])
    assert np.allclose(stored.rows(0, 12)[:, 0], rewards, atol=1e-6)


def test_the_reward_objective_scores_the_favourite_classifier():
    objective = RewardObjective(num_models=2, reward_weight=1.0)
    logits = torch.tensor([[2.0, -1.0, 9.0, 0.0], [0.0, 3.0, 0.0, 9.0]])
    targets = torch.tensor([[1.0, 0.0, 1.0, 0.0], [1.0, 0.0, 0.0, 1.0]])
    assert objective.score(logits, targets) == 0.5
    better = logits.clone()
    better[1, 1] = -3.0
    assert objective.loss(better, targets) < objective.loss(logits, targets)


def test_gradients_pass_through_the_rounding():
    network = RewardNetwork(NETWORK, num_features=4, num_models=3, num_classes=2, levels=15)
    network(torch.randn(8, 3, 32, 32)).sum().backward()
    assert network.backbone[3].weight.grad.abs().sum() > 0


def test_skewed_rows_favour_their_classes_and_repeat_nothing():
    labels = np.arange(5000) % 10
    rows = skewed_rows(labels, np.arange(5000), [1, 4], 0.1, 900, np.random.default_rng(0))
    counts = np.bincount(labels[rows], minlength=10)
    assert len(np.unique(rows)) == 900
    assert counts[[1, 4]].min() > 4 * np.delete(counts, [1, 4]).max()


def test_runs_that_share_an_order_divide_the_classes():
    favoured = divided_classes(10, [5, 5], 5, np.random.default_rng(0))
    assert [len(classes) for classes in favoured] == [5] * 5
    assert sorted(favoured[0] + favoured[1]) == list(range(10))
    assert favoured[0] != favoured[2]


def test_a_finished_run_is_not_trained_again(tmp_path):
    network = nn.Linear(2, 2)
    path = tmp_path / "run.pt"
    first = kept_weights(path, lambda: {1: network.state_dict()})
    again = kept_weights(path, lambda: pytest.fail("trained again"))
    assert torch.equal(first[1]["weight"], again[1]["weight"])


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_results_come_in_the_order_of_the_jobs(n_jobs):
    assert in_parallel(divmod, [(7, 3), (9, 4), (5, 5)], n_jobs, "division") == [(2, 1), (2, 1), (1, 0)]
