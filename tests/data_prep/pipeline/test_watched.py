"""A list of data sets that cannot be used is one sentence and code 2, and the old hashes stay."""

import sys

import pytest

from data_prep.pipeline import code, watched


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("- x", "params.yaml is no mapping, expected names with values"),
        ("", "params.yaml is empty, expected names with values"),
        ("training: {}", "params.yaml is [], expected a list of one entry or more"),
        ("datasets: drift", "params.yaml is 'drift', expected a list of one entry or more"),
        ("datasets: [3]", "params.yaml[0] is 3, expected a text"),
        ("datasets: [drfit]", "params.yaml 'drfit'; did you mean 'drift'?"),
        ("datasets: [", "params.yaml is not valid YAML"),
    ],
)
def test_a_list_of_data_sets_that_cannot_be_used_is_one_sentence(text, words, tmp_path, monkeypatch, capsys):
    (tmp_path / "params.yaml").write_text(text)
    monkeypatch.setattr(code, "ROOT", tmp_path)
    monkeypatch.setattr(sys, "argv", ["watched"])
    with pytest.raises(SystemExit) as ended:
        watched.main()
    told = capsys.readouterr().err
    assert ended.value.code == 2
    assert words in told
    assert str(tmp_path / "params.yaml") in told
    assert len(told.splitlines()) == 1
    assert not (tmp_path / "results").exists()
