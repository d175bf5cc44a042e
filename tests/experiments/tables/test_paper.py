"""What conf/paper.yaml may say: anything else is refused by its place."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

import cams
from experiments.tables.paper import read_paper

BAD: list[tuple[Callable[[dict[str, Any]], object], str]] = [
    (lambda p: p.update(maximal_querys=p.pop("maximal_queries")), "no key 'maximal_querys'; did you mean 'maximal_qu"),
    (lambda p: p.pop("methods"), "the configuration lacks the key 'methods'"),
    (lambda p: p["maximal_queries"]["rs"].update(cifar10=["abc"]), "maximal_queries.rs.cifar10[0] is 'abc', expected"),
    (lambda p: p["maximal_queries"]["rs"].update(cifar10=[5]), "maximal_queries.rs.cifar10 is [5], expected 2 values"),
    (lambda p: p["maximal_queries"].update(rss={}), "there is no learner 'rss'; did you mean 'rs'?"),
    (lambda p: p["maximal_queries"]["rs"].update(drfit=[1, 2]), "there is no data set 'drfit'; did you mean 'drift'?"),
    (lambda p: p["collections"].update(drfit=p["collections"].pop("drift")), "there is no data set 'drfit'"),
    (lambda p: p["methods"]["rows"].update(Hedge=[True]), "methods.rows.Hedge is [True], expected 4 values"),
]


def test_the_shipped_paper_is_allowed() -> None:
    assert read_paper()["collections"]["drift"]["classes"] == 6


@pytest.mark.parametrize(("spoil", "sentence"), BAD, ids=[sentence for _, sentence in BAD])
def test_another_paper_is_refused_by_place(
    tmp_path: Path, spoil: Callable[[dict[str, Any]], object], sentence: str
) -> None:
    paper = read_paper()
    spoil(paper)
    (tmp_path / "paper.yaml").write_text(yaml.safe_dump(paper))
    with pytest.raises(cams.InputError) as refusal:
        read_paper(tmp_path / "paper.yaml")
    assert str(refusal.value).startswith(f"{tmp_path / 'paper.yaml'}: ")
    assert sentence in str(refusal.value)


@pytest.mark.parametrize("content", ["", "- a", "a: ["])
def test_a_damaged_paper_is_named(tmp_path: Path, content: str) -> None:
    (tmp_path / "paper.yaml").write_text(content)
    with pytest.raises(cams.InputError, match=r"paper\.yaml is"):
        read_paper(tmp_path / "paper.yaml")
