"""Molecules as numbers: graphs for the networks, fingerprints for the forest and the policies.

Featurising depends on the SMILES alone, not on seed or split, so it happens once, when the data set is fetched.
Row i always means SMILES i: a molecule that cannot be read keeps its row, with an empty graph and empty
fingerprints, and is excluded by the `valid` mask. No index ever shifts.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields

import numpy as np
from joblib import Parallel, delayed
from rdkit import Chem, RDLogger
from rdkit.Chem import DataStructs, rdFingerprintGenerator, rdMolDescriptors
from torch_geometric.utils import from_smiles
from tqdm import tqdm

from cams.archive import Archive
from cams.errors import InputError

FINGERPRINT_BITS = 2048
MACCS_BITS = 167  # RDKit's MACCS vector is one-based: bit 0 is never set
FINGERPRINTS = ("maccs", "ecfp2", "ecfp4", "ecfp6", "topological", "atom_pair")
ROWS_PER_TASK = 512


@dataclass(frozen=True)
class Graphs:
    """All molecules in four flat arrays; molecule i owns atoms atom_start[i]:atom_start[i + 1], bonds likewise.

    atoms (A, 9) and bond_features (E, 3) are the category numbers of torch_geometric's `from_smiles`;
    bonds (E, 2) holds both directions of every bond, counted from the molecule's own first atom.
    """

    atoms: np.ndarray
    bonds: np.ndarray
    bond_features: np.ndarray
    atom_start: np.ndarray
    bond_start: np.ndarray

    def __len__(self) -> int:
        return len(self.atom_start) - 1

    def check(self) -> None:
        """Refuse molecules that own other atoms or bonds than there are."""
        for name, starts, owned in (
            ("atom_start", self.atom_start, (self.atoms,)),
            ("bond_start", self.bond_start, (self.bonds, self.bond_features)),
        ):
            ascending = starts[0] == 0 and (np.diff(starts) >= 0).all()
            if not ascending or any(len(each) != starts[-1] for each in owned):
                raise InputError(f"{name} does not count from 0 up to what the molecules own, {len(owned[0])}")


@dataclass(frozen=True)
class Molecules:
    """N molecules as numbers.

    fingerprints: name -> (N, bits / 8) uint8, packed with np.packbits.
    valid: (N,) bool, False where RDKit could not read the SMILES.
    identity: (N,) int, equal for equal molecules however their SMILES are written.
    """

    graphs: Graphs
    fingerprints: dict[str, np.ndarray]
    valid: np.ndarray
    identity: np.ndarray

    def arrays(self) -> dict[str, np.ndarray]:
        """Everything by name, for one file."""
        return {**vars(self.graphs), **self.fingerprints, "valid": self.valid, "identity": self.identity}

    @classmethod
    def read(cls, archive: Archive, count: int) -> "Molecules":
        """What `arrays` gave, if it is that of `count` molecules."""
        for name in FINGERPRINTS:
            archive.shape(name, (count, num_bytes(name)))
        for name in ("valid", "identity"):
            archive.shape(name, (count,))
        for name in ("atom_start", "bond_start"):
            archive.shape(name, (count + 1,))
        graphs = Graphs(**{field.name: read_kind(archive, field.name, "iu") for field in fields(Graphs)})
        graphs.check()
        fingerprints = {name: read_kind(archive, name, "u") for name in FINGERPRINTS}
        return cls(graphs, fingerprints, read_kind(archive, "valid", "b"), read_kind(archive, "identity", "iu"))


def read_kind(archive: Archive, name: str, kinds: str) -> np.ndarray:
    """One array, if its type is of these kinds (numpy's letters)."""
    array = archive.read(name)
    if array.dtype.kind not in kinds:
        raise InputError(f"array '{name}' has type {array.dtype}, expected one of numpy's kinds {kinds}")
    return array


def fingerprint_functions() -> dict[str, Callable[[Chem.Mol], np.ndarray]]:
    """Name -> function from a molecule to its bits; ECFPd is the Morgan fingerprint of radius d / 2."""

    def morgan(radius: int) -> Callable[[Chem.Mol], np.ndarray]:
        return rdFingerprintGenerator.GetMorganGenerator(radius=radius, fpSize=FINGERPRINT_BITS).GetFingerprintAsNumPy

    return {
        "maccs": _maccs,
        "ecfp2": morgan(1),
        "ecfp4": morgan(2),
        "ecfp6": morgan(3),
        "topological": rdFingerprintGenerator.GetRDKitFPGenerator(fpSize=FINGERPRINT_BITS).GetFingerprintAsNumPy,
        "atom_pair": rdFingerprintGenerator.GetAtomPairGenerator(fpSize=FINGERPRINT_BITS).GetFingerprintAsNumPy,
    }


def _maccs(molecule: Chem.Mol) -> np.ndarray:
    bits = np.zeros(MACCS_BITS, dtype=np.uint8)
    DataStructs.ConvertToNumpyArray(rdMolDescriptors.GetMACCSKeysFingerprint(molecule), bits)
    return bits


def num_bits(fingerprint: str) -> int:
    return MACCS_BITS if fingerprint == "maccs" else FINGERPRINT_BITS


def num_bytes(fingerprint: str) -> int:
    return -(-num_bits(fingerprint) // 8)


def unpack(packed: np.ndarray, fingerprint: str) -> np.ndarray:
    """(N, bits / 8) packed -> (N, bits) float32 of zeros and ones."""
    return np.unpackbits(packed, axis=1, count=num_bits(fingerprint)).astype(np.float32)


def featurise(smiles: Sequence[str], n_jobs: int = 1) -> Molecules:
    """Graphs and all fingerprints of every SMILES; the order of the result is the order of the input."""
    starts = range(0, len(smiles), ROWS_PER_TASK)
    tasks = (delayed(_featurise_block)(smiles[start : start + ROWS_PER_TASK]) for start in starts)
    blocks = list(
        tqdm(
            Parallel(n_jobs=n_jobs, return_as="generator")(tasks),
            total=len(starts),
            desc="hiv features",
            unit=f"x{ROWS_PER_TASK} molecules",
            disable=None,
        )
    )
    graphs = Graphs(
        atoms=np.concatenate([block["atoms"] for block in blocks]),
        bonds=np.concatenate([block["bonds"] for block in blocks]),
        bond_features=np.concatenate([block["bond_features"] for block in blocks]),
        atom_start=_starts([block["atom_counts"] for block in blocks]),
        bond_start=_starts([block["bond_counts"] for block in blocks]),
    )
    fingerprints = {name: np.concatenate([block[name] for block in blocks]) for name in FINGERPRINTS}
    _, identity = np.unique(np.concatenate([block["canonical"] for block in blocks]), return_inverse=True)
    return Molecules(graphs, fingerprints, np.concatenate([block["valid"] for block in blocks]), identity)


def _canonical(molecule: Chem.Mol | None) -> str:
    return "" if molecule is None else Chem.MolToSmiles(molecule)


def _starts(counts: list[np.ndarray]) -> np.ndarray:
    return np.concatenate([[0], np.cumsum(np.concatenate(counts))]).astype(np.int64)


def _featurise_block(smiles: Sequence[str]) -> dict[str, np.ndarray]:
    # RDKit writes several lines per bad molecule; `valid` reports them by row instead.
    RDLogger.DisableLog("rdApp.*")  # type: ignore[attr-defined]  # made when the module loads
    functions = fingerprint_functions()
    molecules = [Chem.MolFromSmiles(text) for text in smiles]
    valid = np.array([molecule is not None and molecule.GetNumAtoms() > 0 for molecule in molecules])
    # from_smiles silently turns what RDKit cannot read into an empty molecule, as wanted here for its row.
    graphs = [from_smiles(text if ok else "") for text, ok in zip(smiles, valid, strict=True)]
    block = {
        "valid": valid,
        "canonical": np.array([_canonical(molecule) for molecule in molecules]),
        "atoms": np.concatenate([graph.x.numpy() for graph in graphs]).astype(np.uint8),
        "bonds": np.concatenate([graph.edge_index.numpy().T for graph in graphs]).astype(np.uint16),
        "bond_features": np.concatenate([graph.edge_attr.numpy() for graph in graphs]).astype(np.uint8),
        "atom_counts": np.array([graph.num_nodes for graph in graphs]),
        "bond_counts": np.array([graph.num_edges for graph in graphs]),
    }
    for name, function in functions.items():
        bits = np.zeros((len(smiles), num_bits(name)), dtype=np.uint8)
        for row in np.flatnonzero(valid):
            bits[row] = function(molecules[row])
        block[name] = np.packbits(bits, axis=1)
    return block
