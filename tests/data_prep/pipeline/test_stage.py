"""The entry points: bad input is one sentence and code 2; the shipped configuration declares the paper's counts."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from omegaconf import OmegaConf

from cams import InputError
from data_prep import fetch, split
from data_prep.pipeline.catalogue import catalogue
from data_prep.pipeline.settings import check_zoo, require_own_places
from tests.data_prep.conftest import context_for

ROOT = Path(__file__).resolve().parents[3]
# classifiers, policies, test pool: the paper's collections.
COUNTS = {"vertebral": (6, 17, 127), "drift": (10, 11, 3060), "covtype": (6, 17, 100_000)}


def test_no_source_is_one_sentence_and_code_2(tmp_path):
    environment = {name: value for name, value in os.environ.items() if name != "CAMS_DATA_MIRROR"}
    command = [sys.executable, "-m", "data_prep.fetch", "dataset=drift", f"paths.work={tmp_path}"]
    # A proxy that refuses every connection stands for a machine without network.
    environment |= {"http_proxy": "http://127.0.0.1:9", "https_proxy": "http://127.0.0.1:9"}
    ended = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert ended.returncode == 2
    assert "Traceback" not in ended.stderr
    assert "batch1.dat.gz" in ended.stderr
    assert not [path for path in (tmp_path / "raw").rglob("*") if path.is_file()]


@pytest.mark.parametrize("dataset", COUNTS)
@pytest.mark.parametrize("scale", ["laptop", "paper"])
def test_shipped_settings_have_the_papers_counts(dataset, scale, tmp_path):
    settings = context_for(dataset, tmp_path, f"scale={scale}").settings
    classifiers, policies = settings.classifiers.members, settings.policies
    count = len(policies.members) + len(policies.malicious) + policies.random
    assert (len(classifiers), count, settings.split.pool) == COUNTS[dataset]
    assert len({member.name for member in classifiers}) == len(classifiers)


@pytest.mark.parametrize("dataset", catalogue())
@pytest.mark.parametrize("scale", ["smoke", "laptop", "paper"])
def test_the_shipped_settings_are_allowed(dataset, scale, tmp_path):
    context = context_for(dataset, tmp_path, f"scale={scale}")
    check_zoo(context)


@pytest.mark.parametrize("dataset", catalogue())
def test_every_data_set_has_all_scales_and_sections(dataset):
    settings = yaml.safe_load((ROOT / f"conf/dataset/{dataset}.yaml").read_text())
    assert settings["name"] == dataset
    assert {"split", "classifiers", "policies"} <= set(settings["zoo"])
    assert {"horizon", "budget", "realizations"} == set(settings["stream"])
    assert {"smoke", "laptop", "paper"} <= set(settings["scales"])


def test_randomness_is_named_not_counted(tmp_path):
    context = context_for("drift", tmp_path)
    first = context.rng("policy", 3).random()
    assert first == context.rng("policy", 3).random()
    other_data_set, other_seed = context_for("vertebral", tmp_path), context_for("drift", tmp_path, "seed=1")
    others = [
        context.rng("policy", 4),
        context.rng("classifier", 3),
        other_data_set.rng("policy", 3),
        other_seed.rng("policy", 3),
    ]
    assert first not in [rng.random() for rng in others]


@pytest.mark.parametrize(
    ("overrides", "words"),
    [
        (["dataset=drfit"], "did you mean 'drift'"),
        (["scale=huge"], "unknown scale 'huge', expected one of laptop, paper, smoke"),
        (["seed=abc"], "seed is 'abc', expected a whole number"),
        (["seed=-1"], "seed is -1, expected a whole number from 0 to 9223372036854775807"),
        (["seed=9223372036854775808"], "seed is 9223372036854775808, expected a whole number from 0 to"),
        (["sharpness=-1"], "sharpness is -1, expected a number from 0 to"),
        (["dataset=null"], "dataset is null, expected one name"),
        (["n_jobs=abc"], "n_jobs is 'abc', expected a whole number"),
        (["n_jobs=0"], "n_jobs is 0, expected a whole number from 1 to"),
        (["+sharpnes=3"], "the configuration has no key 'sharpnes'; did you mean 'sharpness'?"),
        (["dataset.zoo.policies.mragin=1"], "did you mean 'margin'"),
        (["+dataset.titel=V"], "dataset has no key 'titel'; did you mean 'title'?"),
        (["+dataset.zoo.policies.stord=x"], "zoo of vertebral.policies has no key 'stord'; did you mean"),
        (["dataset.zoo.split.pool=many"], "zoo of vertebral.split.pool is 'many', expected a whole number"),
        (["sharpness=inf"], "sharpness is inf, expected a number from 0 to 1000000000.0"),
        (["n_jobs=1000000"], "n_jobs is 1000000, expected a whole number from 1 to 10000"),
        (["paths.work=''"], "paths.work is '', expected a text that names a folder"),
        (["sharpness_check.grid=[]"], "sharpness_check.grid is [], expected a list of one entry or more"),
        (["sharpness_check.budget_shares=[5]"], "sharpness_check.budget_shares[0] is 5, expected a number from 0 to 1"),
        (["dataset.zoo=null"], "dataset.zoo is null, expected a mapping"),
        (["dataset.scales.laptop=5"], "dataset.scales.laptop is 5, expected null or a mapping"),
        (["dataset.zoo.split.pool=0"], "zoo of vertebral.split.pool is 0, expected a whole number of at least 1"),
        (["dataset.zoo.policies.random=-1"], "zoo of vertebral.policies.random is -1, expected a whole number of at"),
        (
            ["dataset.zoo.policies.folds=1"],
            "zoo of vertebral.policies.folds is 1, expected a whole number of at least 2",
        ),
        (["dataset.zoo.policies.stored=float3"], "expected float32 or float16 or uint8; did you mean 'float32'?"),
        (
            ["dataset.zoo.policies.members=[{name: knn, kind: nomral}]"],
            "kind is 'nomral', expected normal or biased; did you mean 'normal'?",
        ),
        (
            ["dataset.zoo.policies.members=[{name: knn, kind: biased}]"],
            "zoo of vertebral.policies.members has no policy of kind normal, expected at least one",
        ),
        (
            ["dataset.zoo.classifiers.members=[{name: a, family: lda},{name: a, family: lda}]"],
            "zoo of vertebral.classifiers.members has the name 'a' twice",
        ),
        (["dataset.zoo.policies.members=[]"], "zoo of vertebral.policies.members is [], expected a list of one"),
        (["dataset.zoo.classifiers.members=[]"], "zoo of vertebral.classifiers.members is [], expected a list of one"),
        (
            ["scale=smoke", "dataset.zoo.policies.folds=3"],
            "dataset.zoo.policies.folds has no effect, for scale=smoke sets it too, "
            "expected dataset.scales.smoke.policies.folds=...",
        ),
        (
            ["-m", "seed=1,2"],
            "which every seed of the sweep would overwrite; expected a place for each, such as",
        ),
        (["-m", "scale=smoke,laptop"], "such as paths.results='scale/${scale.name}'"),
        (["paths.results=/dev/null/results"], "cannot write to /dev/null/results"),
        ([], "run first, with the same scale, seed and paths: python -m data_prep.fetch dataset=vertebral"),
    ],
)
def test_bad_input_is_one_sentence_and_code_2(overrides, words, tmp_path, monkeypatch, capsys):
    paths = [f"paths.work={tmp_path / 'data'}", f"paths.results={tmp_path / 'results'}"]
    monkeypatch.setattr(sys, "argv", ["split", "dataset=vertebral", *paths, *overrides])
    with pytest.raises(SystemExit) as ended:
        split.main()
    told = capsys.readouterr().err
    assert ended.value.code == 2
    assert words in told
    assert len(told.splitlines()) == 1
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]


@pytest.mark.parametrize(
    ("overrides", "own", "words"),
    [
        (["seed=1"], [], "seed=1: params.yaml and conf say otherwise, so paths.results and paths.work must be set too"),
        (["scale=smoke"], ["work"], "scale=smoke: params.yaml and conf say otherwise, so paths.results must be set"),
        (["dataset.zoo.policies.folds=3"], ["results"], "so paths.work must be set too"),
        (["sharpness=10"], [], "so paths.results must be set too"),
        (["dataset.zoo.policies.random=3"], [], "so paths.results must be set too"),
        (["labels_check.few=3", "seed=0"], [], "labels_check.few=3: params.yaml and conf say"),
        # The same places in other words, and the last of two words on the seed.
        (["seed=1", "paths.work={here}/data", "paths.results=x/../results"], [], "paths.results and paths.work"),
        (["seed=1", "paths.work=link/data"], ["results"], "seed=1: params.yaml and conf say otherwise, so paths.work"),
        (["scale=smoke", "paths.raw=data/raw"], ["work", "results"], "so paths.raw must be set too"),
    ],
)
def test_other_settings_do_not_go_where_the_shipped_ones_go(overrides, own, words, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    link = tmp_path.with_suffix(".link")
    link.symlink_to(tmp_path)
    paths = [f"paths.{key}={tmp_path / 'own' / key}" for key in own]
    given = [override.format(here=tmp_path).replace("link", str(link)) for override in overrides]
    monkeypatch.setattr(sys, "argv", ["split", "dataset=vertebral", "n_jobs=1", *paths, *given])
    with pytest.raises(SystemExit) as ended:
        split.main()
    told = capsys.readouterr().err
    assert (ended.value.code, len(told.splitlines())) == (2, 1)
    assert words in told
    assert not list(tmp_path.iterdir())


def test_a_seed_of_an_edited_configuration_does_not_go_where_the_shipped_one_goes(tmp_path, monkeypatch):
    places = {"work": "data", "raw": "raw", "results": "elsewhere"}
    cfg = OmegaConf.create({"seed": 3, "scale": {"name": "laptop"}, "paths": places})
    with pytest.raises(InputError, match=r"^seed=3: params\.yaml and conf say otherwise, so paths\.work must be set"):
        require_own_places(cfg, [])


@pytest.mark.parametrize(
    "overrides",
    [
        [],
        ["scale=laptop", "seed=0"],
        ["n_jobs=1", "cluster=null", "paths.raw=raw"],
        # What the bundle derives from trained policies, it derives from the shipped ones too.
        ["dataset.zoo.policies.random=3", "dataset.zoo.policies.malicious=[]", "paths.results=own"],
    ],
)
def test_what_is_trained_as_shipped_needs_no_place_of_its_own(overrides, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["split", "dataset=vertebral", *overrides])
    with pytest.raises(SystemExit):
        split.main()
    assert "run first, with the same scale, seed and paths" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("swept", "places"),
    [
        ("scale=smoke,laptop", ["work={here}/${{scale.name}}", "results={here}/${{scale.name}}"]),
        ("seed=1,2", ["work={here}/${{seed}}", "results={here}/${{seed}}"]),
        ("seed=1,2", ["work={here}/${{hydra:job.num}}", "results={here}/${{hydra:job.num}}"]),
        (
            "dataset.zoo.policies.random=2,3",
            ["work={here}/data", "results={here}/${{dataset.zoo.policies.random}}"],
        ),
    ],
)
def test_jobs_of_a_sweep_with_places_of_their_own_are_begun(swept, places, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    paths = [f"paths.{place.format(here=tmp_path)}" for place in places]
    monkeypatch.setattr(sys, "argv", ["split", "-m", "dataset=vertebral", swept, *paths])
    with pytest.raises(SystemExit):
        split.main()
    assert "run first, with the same scale, seed and paths" in capsys.readouterr().err


def test_a_folder_for_raw_data_that_takes_no_file_is_refused_before_a_source_is_read(tmp_path, monkeypatch, capsys):
    paths = [f"paths.work={tmp_path / 'data'}", "paths.raw=/dev/null/raw", f"paths.results={tmp_path / 'results'}"]
    monkeypatch.setattr(sys, "argv", ["fetch", "dataset=vertebral", *paths])
    with pytest.raises(SystemExit) as ended:
        fetch.main()
    assert ended.value.code == 2
    assert capsys.readouterr().err == "error: cannot write to /dev/null/raw/vertebral: Not a directory\n"


@pytest.mark.parametrize(
    ("artefact", "stage"), [("splits", "split"), ("classifiers", "classifiers"), ("policies", "policies")]
)
def test_a_stage_before_its_predecessor_names_it(artefact, stage, tmp_path):
    with pytest.raises(InputError, match=rf"python -m data_prep\.{stage} dataset=drift"):
        context_for("drift", tmp_path).made(artefact)
