"""Graph networks on molecules: torch-geometric's GCN, GAT and AttentiveFP, trained bit-reproducibly on the CPU.

torch-geometric runs on torch's own scatter operations here; torch-scatter and its kin are not needed.
"""

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import torch
from torch import nn
from torch_geometric.data import Batch, Data
from torch_geometric.nn import GAT, GCN, AttentiveFP, global_add_pool
from torch_geometric.utils.smiles import e_map, x_map

from data_prep.datasets.hiv.features import Graphs
from data_prep.training.seeding import reproducible
from data_prep.training.weights import load_weights

ATOM_CATEGORIES = [len(values) for values in x_map.values()]
BOND_CATEGORIES = [len(values) for values in e_map.values()]
PREDICT_BATCH = 512


class SumOfEmbeddings(nn.Module):
    """One learned vector per category of each column, added up: (n, columns) integers -> (n, width)."""

    def __init__(self, categories: list[int], width: int) -> None:
        super().__init__()
        self.table = nn.EmbeddingBag(sum(categories), width, mode="sum")
        self.register_buffer("offsets", torch.tensor(np.concatenate([[0], np.cumsum(categories)[:-1]])))

    offsets: torch.Tensor

    def forward(self, columns: torch.Tensor) -> torch.Tensor:
        return self.table(columns + self.offsets)


class MoleculeNet(nn.Module):
    """Embedded atoms (and bonds) -> a graph network -> one logit of "active" per molecule."""

    def __init__(self, family: str, hidden: int, layers: int, dropout: float = 0.0) -> None:
        super().__init__()
        self.family = family
        self.atom = SumOfEmbeddings(ATOM_CATEGORIES, hidden)
        if family == "attentive_fp":
            self.bond = SumOfEmbeddings(BOND_CATEGORIES, hidden)
            self.body = AttentiveFP(hidden, hidden, 1, hidden, layers, num_timesteps=2, dropout=dropout)
        else:
            network = {"gcn": GCN, "gat": GAT}[family]
            extra = {"heads": 4} if family == "gat" else {}
            self.body = network(hidden, hidden, layers, dropout=dropout, norm="batch_norm", jk="cat", **extra)
            self.head = nn.Sequential(nn.LayerNorm(hidden), nn.Linear(hidden, 1))

    def forward(self, batch: Data) -> torch.Tensor:
        atoms = self.atom(batch.x)
        if self.family == "attentive_fp":
            return self.body(atoms, batch.edge_index, self.bond(batch.edge_attr), batch.batch).squeeze(1)
        atoms = self.body(atoms, batch.edge_index)
        return self.head(global_add_pool(atoms, batch.batch, batch.num_graphs)).squeeze(1)


def collate(graphs: Graphs, rows: np.ndarray) -> Data:
    """The molecules `rows` as one disconnected graph, as torch_geometric's loader would build it."""
    atom_counts = graphs.atom_start[rows + 1] - graphs.atom_start[rows]
    bond_counts = graphs.bond_start[rows + 1] - graphs.bond_start[rows]
    atom_index = _ranges(graphs.atom_start[rows], atom_counts)
    bond_index = _ranges(graphs.bond_start[rows], bond_counts)
    first_atom = np.repeat(np.cumsum(atom_counts) - atom_counts, bond_counts)
    edges = graphs.bonds[bond_index].astype(np.int64) + first_atom[:, None]
    batch = Batch(
        x=torch.from_numpy(graphs.atoms[atom_index].astype(np.int64)),
        edge_index=torch.from_numpy(np.ascontiguousarray(edges.T)),
        edge_attr=torch.from_numpy(graphs.bond_features[bond_index].astype(np.int64)),
        batch=torch.from_numpy(np.repeat(np.arange(len(rows)), atom_counts)),
    )
    batch._num_graphs = len(rows)
    return batch


def _ranges(starts: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """starts [5, 9], counts [2, 3] -> [5, 6, 9, 10, 11]."""
    before = np.repeat(np.cumsum(counts) - counts, counts)
    return np.repeat(starts, counts) + np.arange(counts.sum()) - before


def make_network(settings: Mapping) -> MoleculeNet:
    return MoleculeNet(settings["family"], settings["hidden"], settings["layers"], settings["dropout"])


def train_network(
    graphs: Graphs, rows: np.ndarray, labels: np.ndarray, settings: Mapping, seed: int, threads: int = 1
) -> MoleculeNet:
    """Fit on molecules `rows` with their `labels` (len(rows),) under binary cross-entropy; one-cycle Adam."""
    with reproducible(seed, threads):
        net = make_network(settings)
        shuffler = np.random.default_rng(seed)
        steps_per_epoch = -(-len(rows) // settings["batch_size"])
        optimiser = torch.optim.AdamW(net.parameters(), lr=settings["learning_rate"], weight_decay=1e-4)
        schedule = torch.optim.lr_scheduler.OneCycleLR(
            optimiser, settings["learning_rate"], epochs=settings["epochs"], steps_per_epoch=steps_per_epoch
        )
        loss_of = nn.BCEWithLogitsLoss()
        targets = torch.from_numpy(labels.astype(np.float32))
        net.train()
        for _ in range(settings["epochs"]):
            # Near-equal batches: a last batch of one molecule would upset batch normalisation.
            for chosen in np.array_split(shuffler.permutation(len(rows)), steps_per_epoch):
                optimiser.zero_grad()
                loss_of(net(collate(graphs, rows[chosen])), targets[chosen]).backward()
                optimiser.step()
                schedule.step()
    return net.eval()


def load_network(path: Path, settings: Mapping) -> MoleculeNet:
    """The network of these settings with the weights stored at `path`, ready to predict."""
    net = make_network(settings)
    net.load_state_dict(load_weights(path))
    return net.eval()


@torch.no_grad()
def predict_network(net: MoleculeNet, graphs: Graphs, rows: np.ndarray, threads: int = 1) -> np.ndarray:
    """Probability of "active" for molecules `rows`, (len(rows),) float32."""
    with reproducible(0, threads):
        blocks = [rows[start : start + PREDICT_BATCH] for start in range(0, len(rows), PREDICT_BATCH)]
        return np.concatenate([torch.sigmoid(net(collate(graphs, block))).numpy() for block in blocks])
