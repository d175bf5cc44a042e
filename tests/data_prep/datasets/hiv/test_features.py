"""Featurising real molecules: known facts about them, unreadable ones, and independence of the worker count."""

import numpy as np
import pytest
from rdkit import Chem
from torch_geometric.utils import from_smiles

from cams import InputError
from cams.archive import open_archive, write_archive
from data_prep.datasets.hiv import features as hiv_features
from data_prep.datasets.hiv.features import FINGERPRINTS, Molecules, featurise, num_bits, unpack

ASPIRIN = "CC(=O)Oc1ccccc1C(=O)O"
ZIDOVUDINE = "Cc1cn([C@H]2C[C@H](N=[N+]=[N-])[C@@H](CO)O2)c(=O)[nH]c1=O"
NEVIRAPINE = "Cc1ccnc2N(C3CC3)c3ncccc3C(=O)Nc12"
CAFFEINE = "Cn1c(=O)c2c(ncn2C)n(C)c1=O"
CAFFEINE_OTHERWISE = "CN1C=NC2=C1C(=O)N(C)C(=O)N2C"
UNREADABLE = "C1CC"  # a ring that is never closed
SMILES = [ASPIRIN, ZIDOVUDINE, UNREADABLE, NEVIRAPINE, CAFFEINE, CAFFEINE_OTHERWISE]


@pytest.fixture(scope="module")
def molecules() -> Molecules:
    return featurise(SMILES)


def test_unreadable_smiles_keep_their_row_and_are_marked(molecules):
    assert molecules.valid.tolist() == [True, True, False, True, True, True]
    start = molecules.graphs.atom_start
    assert start[3] == start[2]
    assert all(not molecules.fingerprints[name][2].any() for name in FINGERPRINTS)


def test_graphs_are_those_of_from_smiles(molecules):
    graphs = molecules.graphs
    assert len(graphs) == len(SMILES)
    for row in np.flatnonzero(molecules.valid):
        expected = from_smiles(SMILES[row])
        atoms = slice(graphs.atom_start[row], graphs.atom_start[row + 1])
        bonds = slice(graphs.bond_start[row], graphs.bond_start[row + 1])
        np.testing.assert_array_equal(graphs.atoms[atoms], expected.x)
        np.testing.assert_array_equal(graphs.bonds[bonds].T, expected.edge_index)
        np.testing.assert_array_equal(graphs.bond_features[bonds], expected.edge_attr)


@pytest.mark.parametrize("name", FINGERPRINTS)
def test_packing_loses_no_bit(molecules, name):
    expected = hiv_features.fingerprint_functions()[name](Chem.MolFromSmiles(ZIDOVUDINE))
    bits = unpack(molecules.fingerprints[name], name)
    assert bits.shape == (len(SMILES), num_bits(name))
    np.testing.assert_array_equal(bits[1], expected)
    assert bits[1].any()


def test_wider_ecfp_sees_more_substructures(molecules):
    counts = [unpack(molecules.fingerprints[name], name)[1].sum() for name in ("ecfp2", "ecfp4", "ecfp6")]
    assert counts == sorted(counts)
    assert counts[0] < counts[2]


def test_one_molecule_written_in_two_ways_is_one_molecule(molecules):
    assert molecules.identity[4] == molecules.identity[5]
    assert len(np.unique(molecules.identity)) == len(SMILES) - 1


def test_neither_workers_nor_blocks_change_the_result(molecules, monkeypatch):
    monkeypatch.setattr(hiv_features, "ROWS_PER_TASK", 2)
    again = featurise(SMILES, n_jobs=1).arrays()
    for name, values in molecules.arrays().items():
        np.testing.assert_array_equal(again[name], values)


def test_arrays_round_trip(molecules, tmp_path):
    write_archive(tmp_path / "molecules.npz", molecules.arrays())
    with open_archive(tmp_path / "molecules.npz") as archive:
        again = Molecules.read(archive, len(SMILES))
    np.testing.assert_array_equal(again.graphs.bonds, molecules.graphs.bonds)
    np.testing.assert_array_equal(again.fingerprints["maccs"], molecules.fingerprints["maccs"])


@pytest.mark.parametrize(
    ("name", "change", "words"),
    [
        ("ecfp4", None, "there is no array 'ecfp4'"),
        ("maccs", lambda bits: bits[:-1], r"array 'maccs' has shape \(\d+, 21\), expected \(\d+, 21\)"),
        ("ecfp2", lambda bits: bits.astype(str), "array 'ecfp2' has type <U3, expected"),
        ("valid", lambda valid: valid.astype(float), "array 'valid' has type float64, expected"),
        ("atoms", lambda atoms: atoms[:-1], "atom_start does not count from 0 up to what the molecules own"),
        ("bond_start", lambda starts: starts[::-1], "bond_start does not count from 0"),
    ],
)
def test_damaged_arrays_are_refused_by_name(name, change, words, molecules, tmp_path):
    arrays = molecules.arrays()
    found = arrays.pop(name)
    write_archive(tmp_path / "molecules.npz", arrays | ({name: change(found)} if change else {}))
    with (
        pytest.raises(InputError, match=rf"molecules\.npz: {words}"),
        open_archive(tmp_path / "molecules.npz") as archive,
    ):
        Molecules.read(archive, len(SMILES))
