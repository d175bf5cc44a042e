"""What models and routers are asked, and in what words those that cannot be asked are refused."""

from typing import Any

import numpy as np
import pytest

import cams
from cams.asking import ask_models, check_routers

ROWS = np.array([[2], [0], [1]])


class Echo:
    """A model whose class is the first column, as a column or as a list of classes."""

    def __init__(self, column: bool) -> None:
        self.column = column

    def predict(self, X: Any) -> Any:
        return X[:, :1] if self.column else X[:, 0]


class Flat:
    """A policy that trusts everybody alike."""

    name, kind = "flat", "normal"

    def check_models(self, names: Any) -> None:
        pass

    def advise(self, X: Any) -> Any:
        return np.full((len(X), 2), 0.5)


def test_every_model_is_asked_about_the_rows_given() -> None:
    answers = ask_models({"list": Echo(column=False), "column": Echo(column=True)}, ROWS)
    assert {name: given.tolist() for name, given in answers.items()} == {"list": [2, 0, 1], "column": [2, 0, 1]}


def test_one_router_is_no_list_of_routers() -> None:
    one: Any = Flat()
    with pytest.raises(cams.InputError) as caught:
        check_routers(one, ["a", "b"])
    assert str(caught.value) == "routers is a single router, expected a list of them"
    check_routers([one], ["a", "b"])
