"""The graph networks: batches equal torch-geometric's own, training is bit-reproducible, weights survive the disk."""

import numpy as np
import pytest
import torch
from torch_geometric.data import Batch
from torch_geometric.utils import from_smiles

from data_prep.datasets.hiv.features import featurise
from data_prep.datasets.hiv.networks import collate, load_network, predict_network, train_network
from data_prep.training.seeding import reproducible

SMILES = ["CCO", "c1ccccc1O", "CC(=O)Oc1ccccc1C(=O)O", "CCN(CC)CC", "C1CCCCC1", "OC(=O)c1ccccc1", "CCCC", "Nc1ccccc1"]
IS_AROMATIC = np.array(["c" in smiles for smiles in SMILES], dtype=int)
FAMILIES = ["gcn", "gat", "attentive_fp"]


def settings_for(family: str, epochs: int = 3) -> dict:
    return {
        "family": family,
        "hidden": 8,
        "layers": 2,
        "dropout": 0.1,
        "epochs": epochs,
        "batch_size": 4,
        "learning_rate": 0.01,
    }


@pytest.fixture(scope="module")
def graphs():
    return featurise(SMILES).graphs


def test_collate_builds_what_torch_geometric_builds(graphs):
    rows = np.array([2, 0, 5])
    ours, theirs = collate(graphs, rows), Batch.from_data_list([from_smiles(SMILES[row]) for row in rows])
    for name in ("x", "edge_index", "edge_attr", "batch"):
        assert torch.equal(getattr(ours, name), getattr(theirs, name)), name


@pytest.mark.parametrize("family", FAMILIES)
def test_training_is_bit_reproducible(graphs, family):
    def weights(threads_before: int) -> dict[str, torch.Tensor]:
        # The caller's thread count and random state must not matter.
        torch.set_num_threads(threads_before)
        torch.manual_seed(threads_before)
        return train_network(graphs, np.arange(8), IS_AROMATIC, settings_for(family), seed=5).state_dict()

    before = torch.get_num_threads()
    try:
        first, second = weights(1), weights(2)
    finally:
        torch.set_num_threads(before)
    assert all(torch.equal(first[name], second[name]) for name in first)


def test_another_seed_trains_another_network(graphs):
    nets = [train_network(graphs, np.arange(8), IS_AROMATIC, settings_for("gcn"), seed=seed) for seed in (0, 1)]
    scores = [predict_network(net, graphs, np.arange(8)) for net in nets]
    assert not np.array_equal(*scores)


@pytest.mark.parametrize("family", FAMILIES)
def test_networks_can_tell_aromatic_molecules_apart(graphs, family):
    net = train_network(graphs, np.arange(8), IS_AROMATIC, settings_for(family, epochs=30), seed=0)
    scores = predict_network(net, graphs, np.arange(8))
    assert scores[IS_AROMATIC == 1].min() > scores[IS_AROMATIC == 0].max()


def test_scores_do_not_depend_on_the_other_molecules_of_a_batch(graphs):
    net = train_network(graphs, np.arange(8), IS_AROMATIC, settings_for("gat"), seed=0)
    alone = np.concatenate([predict_network(net, graphs, np.array([row])) for row in range(8)])
    np.testing.assert_allclose(predict_network(net, graphs, np.arange(8)), alone, rtol=1e-5)


@pytest.mark.parametrize("family", FAMILIES)
def test_weights_survive_the_disk(graphs, family, tmp_path):
    net = train_network(graphs, np.arange(8), IS_AROMATIC, settings_for(family), seed=0)
    torch.save(net.state_dict(), tmp_path / "net.pt")
    again = load_network(tmp_path / "net.pt", settings_for(family))
    rows = np.arange(8)
    np.testing.assert_array_equal(predict_network(net, graphs, rows), predict_network(again, graphs, rows))


def test_torch_settings_come_back():
    before = torch.get_num_threads(), torch.are_deterministic_algorithms_enabled(), torch.random.get_rng_state()
    with reproducible(3):
        torch.rand(2)
    assert before[:2] == (torch.get_num_threads(), torch.are_deterministic_algorithms_enabled())
    assert torch.equal(before[2], torch.random.get_rng_state())
