"""The code a result depends on: every way of importing is followed, and only what computes something counts."""

from pathlib import Path

import pytest

from data_prep.pipeline import code
from data_prep.pipeline.code import code_digest, code_hashes, reached

HOUSE = {
    "house/__init__.py": '"""A house."""\nfrom house.attic import box\n\n__version__ = "1"\n',
    "house/attic.py": "box = 1\n",
    "house/door.py": "from house import hall\n\ndef enter():\n    from house.cellar import wine\n    return wine\n",
    "house/hall.py": "from . import stairs\n",
    "house/stairs.py": "def climb(steps=2):\n    '''Up.'''\n    return steps * 3  # high\n",
    "house/cellar/__init__.py": "from .rack import wine\n",
    "house/cellar/rack.py": "wine = 1998\n",
    "house/garden.py": "import house.door\n",
}


@pytest.fixture
def house(tmp_path, monkeypatch):
    """A small package in place of ours; write(name, text) edits one of its files."""

    def forget() -> None:
        for cached in (code.import_graph, code.module_hash, code.package_hash):
            cached.cache_clear()

    def write(name: str, text: str) -> None:
        path: Path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        forget()

    for name, text in HOUSE.items():
        write(name, text)
    monkeypatch.setattr(code, "ROOT", tmp_path)
    monkeypatch.setattr(code, "PACKAGES", ("house",))
    monkeypatch.syspath_prepend(tmp_path)
    yield write
    forget()


def test_every_way_of_importing_is_followed(house):
    expected = ["house.cellar", "house.cellar.rack", "house.door", "house.hall", "house.stairs"]
    assert reached("house.door") == expected
    # What a package imports for others is not reached by those who only pass through it.
    assert list(code_hashes("house.door")) == ["house", *expected]
    assert "house.attic" in reached("house")


def test_an_unknown_root_is_refused(house):
    with pytest.raises(ValueError, match=r"house\.roof"):
        reached("house.roof")


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("house/stairs.py", '"""Stairs."""\n\ndef climb( steps = 2 ):\n    """Upwards."""\n    return steps * 3\n'),
        ("house/stairs.py", "def climb(steps=2):\n    return (steps\n        * 3)\n"),
        ("house/__init__.py", 'from house.attic import box\n__all__ = ["box"]\n__version__ = "2"\n'),
        ("house/attic.py", "box = 2\n"),
        ("house/garden.py", "import house.attic\n"),
    ],
)
def test_what_computes_nothing_here_changes_nothing(house, name, text):
    before = code_digest("house.door")
    house(name, text)
    assert code_digest("house.door") == before


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("house/stairs.py", HOUSE["house/stairs.py"].replace("* 3", "* 4")),
        ("house/stairs.py", HOUSE["house/stairs.py"].replace("steps=2", "steps=2.0")),
        ("house/cellar/rack.py", "wine = 1999\n"),
        ("house/__init__.py", "import os\nos.environ['X'] = '1'\n"),
        ("house/hall.py", "from . import stairs, attic\n"),
    ],
)
def test_a_change_of_code_changes_the_digest(house, name, text):
    before = code_digest("house.door")
    house(name, text)
    assert code_digest("house.door") != before


def test_a_body_that_is_only_a_docstring(house):
    house("house/stairs.py", 'class Step:\n    """One."""\n')
    before = code_digest("house.stairs")
    house("house/stairs.py", 'class Step:\n    """Two."""\n')
    assert code_digest("house.stairs") == before


def test_a_stage_of_a_data_set_reaches_its_own_code_alone():
    modules = code_hashes("data_prep.policies", "data_prep.datasets.vertebral")
    for module in ("data_prep.policies", "data_prep.datasets.tabular.policies", "data_prep.training.estimators"):
        assert module in modules
    text = " ".join(modules)
    for module in ("drift", "data_prep.bundle", "cams.engine", "experiments"):
        assert module not in text
