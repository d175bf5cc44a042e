"""Bad input from the shell: one sentence that names the thing and what was expected, exit code 2, nothing written.

To add a case, add a row: the module, its arguments, and words that the sentence must contain.
"""

from __future__ import annotations

import errno
import importlib
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from hydra.core.global_hydra import GlobalHydra

from data_prep import fetch
from data_prep.pipeline import catalogue, shell
from data_prep.pipeline.command_line import refuse_odd
from experiments.records.store import read_record
from experiments.run import places_for
from experiments.runner import configuration
from experiments.runner.configuration import compose_run
from experiments.runner.queue import work_off

MAIN = ["experiment=main", "dataset=vertebral"]
ADVERSARIAL = ["experiment=adversarial", "dataset=vertebral"]
REPLAY = ["bundle={bundle}", "budgets=[5]", "out={out}"]

BAD_INPUT = [
    # names
    ("run", ["experiment=mian"], "unknown experiment 'mian', did you mean 'main'?"),
    ("run", [*MAIN, "experiment.learners=[cms]"], "'cms'; did you mean 'cams'?"),
    ("run", [*MAIN, "experiment.compute=replya"], "experiment.compute is 'replya', did you mean 'replay'?"),
    ("run", [*MAIN, "experiment.panels=[{{kind: loss_against_costs}}]"], "did you mean 'loss_against_cost'?"),
    ("all", ["experiments=[mian]"], "unknown experiment 'mian'; did you mean 'main'?"),
    ("all", ["steps=[figure]"], "steps[0] is 'figure' did you mean 'figures'?"),
    ("all", ["experiments=[main]", "datasets=[vertebrl]"], "'vertebrl', did you mean 'vertebral'?"),
    ("all", ["experiments=main"], "experiments is 'main', expected a list in brackets"),
    # keys
    ("run", [*MAIN, "horizn=10"], "'horizn'; did you mean 'horizon'?"),
    ("run", [*MAIN, "+horizn=10"], "no key 'horizn'; did you mean 'horizon'?"),
    ("run", [*MAIN, "learner.cams.flor=0.1"], "'learner.cams.flor'; did you mean 'floor'?"),
    ("run", [*MAIN, "+learner.cams.flor=0.1"], "learner.cams has no key 'flor'; did you mean 'floor'?"),
    ("run", [*MAIN, "experiment.learners=[{{name: cams, flor: 0.1}}]"], "flor floor"),
    ("run", [*MAIN, "+experiment.bugets.points=3"], "experiment has no key 'bugets'; did you mean 'budgets'?"),
    ("run", [*MAIN, "+experiment.budgets.point=3"], "experiment.budgets has no key 'point'; did you mean 'points'?"),
    ("run", [*MAIN, "+experiment.streams.vertebral.horizn=9"], "experiment.streams.vertebral has no key 'horizn'"),
    ("run", [*MAIN, "+streams.vertebral.horizn=9"], "streams.vertebral has no key 'horizn'; did you mean 'horizon'?"),
    ("run", [*MAIN, "+experiment.titel=x"], "experiment has no key 'titel'; did you mean 'title'?"),
    (
        "run",
        [*MAIN, "experiment.panels=[{{kind: loss_against_cost, titel: x}}]"],
        "panels[0] 'titel' 'title'",
    ),
    (
        "run",
        [*MAIN, "experiment.cases=[{{lable: x}}]"],
        "cases[0] has no key 'lable'; did you mean 'label'?",
    ),
    ("run", [*MAIN, "+experiment.options.oracle=true"], "experiment.options has no key 'oracle' 'oracle_drawn'"),
    ("run", [*MAIN, "~experiment.options"], "experiment lacks the key 'options'"),
    ("run", [*MAIN, "~experiment.trace.points"], "experiment.trace lacks the key 'points'"),
    ("replay", [*REPLAY, "+horizn=10"], "no key 'horizn'; did you mean 'horizon'?"),
    ("all", ["+fersh=true"], "no key 'fersh'; did you mean 'fresh'?"),
    ("run", [*MAIN, "+dataset.titel=x"], "dataset has no key 'titel'; did you mean 'title'?"),
    ("run", [*MAIN, "+scale.limits.point=9"], "scale.limits has no key 'point'; did you mean 'points'?"),
    ("run", [*MAIN, "scale.name=huge"], "scale.name is 'huge', expected smoke or laptop or paper"),
    ("run", [*MAIN, "dataset.stream.horizon=50"], "dataset.stream.horizon is not read here; horizon=50 sets it"),
    ("run", [*MAIN, "experiment.panels=[]"], "experiment.panels is [], expected at least one"),
    (
        "run",
        [*MAIN, "experiment.panels=[{{kind: loss_against_cost, learners: [cms]}}]"],
        "no learner of the experiment's, in experiment.panels[0], 'cms'; did you mean 'cams'?",
    ),
    (
        "run",
        [*MAIN, "experiment.panels=[{{kind: loss_against_cost, references: [best_clasifier]}}]"],
        "no group of references, in experiment.panels[0], 'best_clasifier'; did you mean 'best_classifier'?",
    ),
    ("run", [*MAIN, "experiment.learners=[{{label: x}}]"], "experiment.learners has an entry without a name"),
    ("run", [*MAIN, "experiment.learners=[{{name: cams, label: 5}}]"], "label of cams in experiment.learners is 5"),
    ("run", [*MAIN, "experiment.cases=[{{copies: 1000000000}}]"], "experiment.cases[0].copies is 1000000000 to 1000"),
    (
        "run",
        ["experiment=theory_adversarial", "experiment.options.cases=[adaptve]"],
        "experiment.options.cases[0] is 'adaptve' did you mean 'adaptive'?",
    ),
    ("run", ["experiment=theory_stochastic", "experiment.options.classes=1"], "experiment.options.classes is 1"),
    (
        "run",
        ["experiment=theory_stochastic", "experiment.options.compared=[gap 0.3]"],
        "no pool to compare learners on, in experiment.options.pools, 'gap 0.3'; did you mean",
    ),
    (
        "run",
        [*MAIN, "experiment.compose=[{{experiment: mian, dataset: drift, title: x}}]"],
        "unknown experiment 'mian' did you mean 'main'?",
    ),
    ("claims.training_seeds", ["datasets=[nope]", "paths.results={out}"], "data set 'nope'"),
    ("claims.training_seeds", ["seeds=[abc]", "paths.results={out}"], "seeds[0] is 'abc'"),
    ("claims.training_seeds", ["seeds=[]", "paths.results={out}"], "seeds is [], expected null or a list of one"),
    ("claims.training_seeds", ["datasets=[]", "paths.results={out}"], "datasets is [], expected null or a list of one"),
    ("claims.training_seeds", ["seeds=[99]", "datasets=[vertebral]"], "seed 99 is planned for none of vertebral"),
    ("claims.training_seeds", ["seeds=[1,99]"], "seed 99 is planned for none of vertebral, drift, covtype"),
    # what would not be looked at
    ("run", [*MAIN, "experiment.needs_bundle=false"], "needs_bundle is false computation replay reads a bundle"),
    ("run", ["experiment=theory_stochastic", "bundle={bundle}"], "not read: theory_stochastic makes streams"),
    ("run", ["experiment=ablations", "bundle={bundle}"], "not read: experiment ablations borrows its panels"),
    ("run", [*ADVERSARIAL, "experiment.policies=none"], "experiment.policies is 'none', expected all adversarial"),
    ("run", [*ADVERSARIAL, "experiment.cases=[{{label: a}}]"], "experiment.cases is expected [] adversarial"),
    ("run", [*ADVERSARIAL, "budgets=[3]"], "budgets is [3] buy as many labels as they want"),
    ("run", [*ADVERSARIAL, "budget=3"], "budget is 3 buy as many labels as they want"),
    ("run", [*ADVERSARIAL, "experiment.trace.points=0"], "experiment.trace.points is 0, expected at least 1"),
    ("run", [*ADVERSARIAL, "~experiment.options.orders.default"], "options.orders has no entry for vertebral"),
    ("run", ["experiment=theory_stochastic", "horizon=50"], "options.horizons begin within the horizon 50"),
    ("run", ["experiment=theory_adversarial", "experiment.options.horizons=[9,5]"], "horizons is [9, 5] growing"),
    ("run", ["experiment=theory_stochastic", "+experiment.options.pools.x={{gap: 0.2}}"], "lacks the key 'best_rate'"),
    ("run", ["experiment=theory_stochastic", "experiment.options.models=1"], "options.models is 1 at least 2"),
    ("run", [*MAIN, "experiment.panels=[{{kind: regret_over_time}}]"], "computation replay has no numbers for"),
    (
        "run",
        ["experiment=theory_stochastic", "experiment.panels=[{{kind: labels_to_recover}}]"],
        "computation theory_stochastic has no numbers for expected one of regret_over_time",
    ),
    ("run", [*MAIN, "experiment.panels=[{{kind: queries_over_time}}]"], "experiment.trace.points is 0, expected some"),
    (
        "run",
        [*MAIN, "experiment.panels=[{{kind: loss_against_cost, budget: 3}}]"],
        "experiment.panels[0].budget is not read by loss_against_cost, only kind, title, learners, references",
    ),
    (
        "run",
        [*MAIN, "experiment.panels=[{{kind: loss_against_cost, learners: []}}]"],
        "experiment.panels[0].learners is [], expected at least one",
    ),
    (
        "run",
        [*MAIN, "experiment.panels=[{{kind: loss_against_cost, references: [oracle_drawn]}}]"],
        "recorded with experiment.options.oracle_drawn: true",
    ),
    ("run", ["experiment=ablations", "budget=90"], "budget 90 is above the horizon 80"),
    ("all", ["experiments=[main]", "+scale.limits.horizon=9"], "scale.limits is only experiments.run laptop.yaml"),
    ("all", ["steps=[]"], "steps is [], expected a list of one entry or more"),
    # names that are none
    ("run", [*MAIN, "dataset=DRFIT"], "unknown dataset 'DRFIT' did you mean 'drift'?"),
    ("run", [*MAIN, "experiment=5"], "Config group override must be a string or a list"),
    ("run", [*MAIN, "learner=null"], "Config group override must be a string or a list"),
    ("run", [*MAIN, "x" * 3000 + "=1"], "File name too long"),
    ("run", [*MAIN, "--resolve"], "--resolve flag can only be used"),
    ("run", [*MAIN, "--config-dir=/nowhere"], "Additional config directory '/nowhere' not found"),
    ("run", [*MAIN, "--config-path=/nowhere"], "config directory '/nowhere' exists"),
    ("run", [*MAIN, "--config-name=nope"], "Cannot find primary config 'nope' there is no conf/nope.yaml"),
    ("run", [*MAIN, "--cfg=nope"], "--cfg is 'nope', expected one of job, hydra, all"),
    ("run", ["--cfg", "jbo"], "--cfg is 'jbo', did you mean 'job'?"),
    ("run", [*MAIN, "--info=nope"], "--info is 'nope', expected one of all, config,"),
    ("run", ["--cfg", "job", "-p", "nope"], "package 'nope' not found"),
    ("verify", ["--cfg"], "--cfg needs a value"),
    ("run", ["-m", *MAIN, "seed=range(0,0)", "hydra.sweep.dir={out}"], "seed is range(0,0), no value at all"),
    ("run", ["-m", "experiment=glob(mian*)", "hydra.sweep.dir={out}"], "experiment is glob(mian*), no value at all"),
    ("run", ["-m", *MAIN, "hydra.sweep.dir=null"], "hydra.sweep.dir=null: not Optional"),
    ("run", [*MAIN, "experiment.title=éé"], "experiment.title=éé; letters beyond a to z needs quotes"),
    ("run", [*MAIN, "dataset=null"], "dataset is null, expected one name"),
    ("run", [*MAIN, "experiment=[main,rcl]"], "experiment is [main,rcl], expected one name -m"),
    ("run", [*MAIN, "=5"], "'=5' has no name before the '='"),
    ("run", [*MAIN, "--nope"], "unknown flag '--nope'"),
    ("run", [*MAIN, "seed=${{nope}}"], "Interpolation key 'nope' not found"),
    ("run", [*MAIN, "experiment.name=../../x"], "experiment.name is '../../x' folder"),
    ("run", [*MAIN, "experiment.learners=[]"], "experiment.learners is [], expected at least one"),
    ("run", [*MAIN, "experiment.learners=[cams,cams]"], "experiment.learners has the name 'cams' twice"),
    ("run", [*MAIN, "experiment.cases=[{{label: a}},{{label: a}}]"], "experiment.cases has the name 'a' twice"),
    ("run", [*MAIN, "realizations=1000000000000"], "realizations do not fit into memory"),
    ("all", ["experiments=[]"], "experiments is [], expected names, or null for all"),
    ("all", ["experiments=[main]", "datasets=[]"], "datasets is [], expected names, or null for all"),
    ("verify", ["datasets=[]"], "datasets is []"),
    ("verify", ["paths.bundles=null"], "paths.bundles is null, expected a text that names a folder"),
    ("verify", ["paths=null"], "paths is null, expected a mapping with results, bundles"),
    ("verify", ["~paths"], "the configuration lacks the key 'paths'"),
    ("claims.__main__", ["paths.results={results}"], "has no records of seed 0; `python -m experiments.all`"),
    ("claims.__main__", ["seed=77"], "results has no records of seed 77"),
    ("claims.__main__", ["paths=null"], "paths is null, expected a mapping with results"),
    ("claims.__main__", ["claims=[]"], "claims is [], expected a list of one entry or more"),
    ("claims.__main__", ["training_seeds.vertebral=[99]"], "training_seeds.vertebral is [99] no records seed 99"),
    ("claims.__main__", ["own.judged_on.vertebral=[99]"], "own.judged_on.vertebral is [99] no records seed 99"),
    ("claims.__main__", ["seeds=[1]"], "seeds has no effect on the ledger"),
    ("claims.__main__", ["baselines=[rs]"], "baselines has no effect on the ledger"),
    (
        "verify",
        ["experiments=[main]", "datasets=[vertebral]", "paths.results={out}", "paths.bundles={out}"],
        "there is nothing to verify: no bundle in",
    ),
    ("claims.__main__", ["paths.results=null"], "paths.results is null, expected a text that names a folder"),
    ("report.__main__", ["paths.results=5"], "paths.results is 5, expected a text that names a folder"),
    ("report.__main__", ["order=main"], "order is 'main', expected a list in brackets"),
    ("report.__main__", ["order=[mian]"], "there is no experiment, in order, 'mian'; did you mean 'main'?"),
    ("report.__main__", ["+titel=x"], "no key 'titel'; did you mean 'title'?"),
    ("report.__main__", ["title=null"], "title is null, expected a text"),
    ("report.__main__", ["seed=abc"], "seed is 'abc', expected a whole number"),
    ("report.__main__", ["paths=null"], "paths is null, expected a mapping with results, cards, page"),
    ("report.__main__", ["~paths"], "the configuration lacks the key 'paths'"),
    ("report.__main__", ["paths.cards=/nowhere"], "paths.cards is '/nowhere', which has no data cards"),
    ("report.__main__", ["paths.page="], "paths.page is '', expected the name of a file"),
    ("run", [*MAIN, "seed=9223372036854775808"], "seed is 9223372036854775808 from 0 to 9223372036854775807"),
    ("run", [*MAIN, "paths.results="], "paths.results is '', expected a text that names a folder"),
    ("replay", [*REPLAY, "out="], "out is empty, expected a folder"),
    # values
    ("run", [*MAIN, "seed=abc"], "seed is 'abc', expected a whole number"),
    ("run", [*MAIN, "horizon=abc"], "horizon is 'abc', expected a whole number"),
    ("run", [*MAIN, "horizon=0"], "horizon is 0, expected a whole number of at least 1"),
    ("run", [*MAIN, "horizon=2.5"], "horizon is 2.5"),
    ("run", [*MAIN, "horizon=500"], "horizon 500 200 rows"),
    ("run", [*MAIN, "n_jobs=abc"], "n_jobs is 'abc'"),
    ("run", [*MAIN, "fresh=perhaps"], "fresh is 'perhaps', expected true or false"),
    ("run", [*MAIN, "budget=90"], "budget 90 is above the horizon 80"),
    ("run", [*MAIN, "budgets=[5,200]"], "budget 200 is above the horizon 80"),
    ("run", [*MAIN, "budgets=[]"], "budgets is []"),
    ("run", [*MAIN, "budgets=5"], "budgets is 5, expected a list in brackets"),
    ("run", [*MAIN, "budgets=[5,-1]"], "budgets[1] is -1"),
    ("run", [*MAIN, "experiment.budgets.points=1000000000"], "experiment.budgets.points is 1000000000 from 1 to 10000"),
    ("run", [*MAIN, "experiment.trace.points=1000000000"], "experiment.trace.points is 1000000000 from 0 to 10000"),
    ("run", [*MAIN, "experiment.policies=[evil]"], "experiment.policies[0] is 'evil'"),
    ("run", [*MAIN, "experiment.cases=[{{malicious: 1.5}}]"], "experiment.cases[0].malicious is 1.5 from 0 to 1"),
    ("all", ["n_jobs=abc"], "n_jobs is 'abc'"),
    ("replay", [*REPLAY, "seed=-1"], "seed is -1"),
    ("replay", [*REPLAY, "n_jobs=abc"], "n_jobs is 'abc'"),
    ("replay", ["budgets=[5]", "out={out}"], "bundle= is missing"),
    ("replay", [*REPLAY, "learners=[{{label: x}}]"], "learner"),
    # files
    ("run", ["experiment=main", "dataset=drift"], "'drift' has no bundle `make drift`"),
    ("run", ["experiment=main", "bundle=nowhere.npz", "horizon=5", "budget=1", "realizations=1"], "nowhere.npz"),
    ("run", ["experiment=main", "bundle=other.npz"], "horizon and budget and realizations must be given"),
    ("replay", ["bundle=no where/my (1).npz", "budgets=[5]", "out={out}"], "no where/my (1).npz"),
    ("replay", ["bundle={bundle}", "budgets=[5]", "out={bundle}"], "cannot write to"),
    ("replay", [*REPLAY, "plot={bundle}/mine.png"], "cannot write to"),
    ("replay", [*REPLAY, "plot=mine.gif"], "mine.gif ends in '.gif', expected one of .png, .pdf, .svg"),
    ("replay", [*REPLAY, "plot=3"], "plot is 3"),
    (
        "replay",
        [*REPLAY, "plot={folder}"],
        "cannot write the picture",
    ),
    ("run", [*MAIN, "paths.results={bundle}"], "cannot write to"),
    ("all", ["experiments=[main]", "paths.results={bundle}"], "cannot write to"),
    ("bench", ["foo=1"], "takes out=FOLDER foo=1"),
    ("bench", ["out={bundle}"], "cannot write to"),
    ("bench_paper", ["out=x"], "takes nothing, and was given out=x"),
    ("bench_long", [], "takes FOLDER LENGTH [LENGTH ...], not nothing"),
    ("bench_long", ["{out}", "1e6"], "takes FOLDER LENGTH not 1e6"),
    ("bench_cluster", ["nowhere.npz"], "there is no file nowhere.npz"),
    # Hydra's own grammar
    ("replay", [*REPLAY, "learners=[cams"], "needs quotes"),
    ("replay", ["bundle={bundle}", "budgets=5,6", "out={out}"], "a list needs brackets"),
]


def call(monkeypatch: pytest.MonkeyPatch, module: str, arguments: list[str]) -> None:
    monkeypatch.setattr(sys, "argv", [f"{module}.py", *arguments])
    GlobalHydra.instance().clear()
    importlib.import_module(f"experiments.{module}").main()


@pytest.mark.parametrize(("module", "arguments", "words"), BAD_INPUT, ids=lambda value: str(value)[-60:])
def test_bad_input(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    results: Path,
    module: str,
    arguments: list[str],
    words: str,
) -> None:
    places = {"bundle": results / "bundles" / "vertebral.npz", "out": results.parent / "out"}
    places |= {"folder": results / "folder.png", "results": results}
    places["folder"].mkdir()
    filled = [argument.format(**places) for argument in arguments]
    if module in ("run", "all"):
        given = {argument.partition("=")[0] for argument in filled}
        filled += [f"paths.{name}={path}" for name, path in (("results", results), ("bundles", results / "bundles"))
                   if f"paths.{name}" not in given]  # fmt: skip
    with pytest.raises(SystemExit) as stop:
        call(monkeypatch, module, filled)
    assert stop.value.code == 2
    said = capsys.readouterr().err.strip()
    assert len(said.splitlines()) == 1, said
    for word in words.split():
        assert word in said, said
    assert not list(results.rglob("*.parquet"))


@pytest.mark.parametrize(
    ("module", "arguments"),
    [
        ("run", [*MAIN, "paths.results={bundle}", "paths.bundles={bundles}"]),
        ("all", ["experiments=[main]", "paths.results={bundle}", "paths.bundles={bundles}"]),
        ("replay", ["bundle={bundle}", "budgets=[5]", "out={bundle}"]),
    ],
)
def test_a_place_that_takes_no_file_is_refused_before_anything_is_computed(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    results: Path,
    module: str,
    arguments: list[str],
) -> None:
    def computed(*_: object, **__: object) -> None:
        raise AssertionError("something was computed")

    for computation in ("experiments.runner.making.work_off", "experiments.replay.replay_in_blocks"):
        monkeypatch.setattr(computation, computed)
    places = {"bundle": results / "bundles" / "vertebral.npz", "bundles": results / "bundles"}
    with pytest.raises(SystemExit) as stop:
        call(monkeypatch, module, [argument.format(**places) for argument in arguments])
    assert stop.value.code == 2
    assert "cannot write to" in capsys.readouterr().err


def test_who_interrupts_is_told_in_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], results: Path
) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("experiments.replay.replay_in_blocks", interrupted)
    with pytest.raises(SystemExit) as stop:
        call(
            monkeypatch, "replay", [f"bundle={results / 'bundles' / 'vertebral.npz'}", "budgets=[5]", f"out={results}"]
        )
    assert stop.value.code == 130
    assert capsys.readouterr().err == "stopped; what was finished stays, nothing is half-written\n"
    assert not (results / "summary.csv").exists()


def test_a_reader_that_has_enough_is_no_error(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], results: Path
) -> None:
    def unread(*_: object, **__: object) -> None:
        raise BrokenPipeError

    monkeypatch.setattr("experiments.replay.replay_in_blocks", unread)
    call(monkeypatch, "replay", [f"bundle={results / 'bundles' / 'vertebral.npz'}", "budgets=[5]", f"out={results}"])
    assert capsys.readouterr().err == ""


def test_a_sweep_may_be_asked_for_anywhere(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    places = [f"paths.results={tmp_path}", f"hydra.sweep.dir={tmp_path}"]
    with pytest.raises(SystemExit) as stop:
        call(monkeypatch, "run", [*MAIN, "-m", "seed=abc,-1,${nope}", *places])
    assert stop.value.code == 2
    said = capsys.readouterr().err
    assert said.startswith("3 job(s) of the sweep failed")
    assert "seed is 'abc', expected a whole number" in said
    assert "Interpolation key 'nope' not found" in said
    assert len(said.splitlines()) == 4


class FullOutput:
    """What `> /dev/full` is to a command."""

    def write(self, text: str) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    def flush(self) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    def fileno(self) -> int:
        raise OSError(errno.EBADF, "there is no number behind it")


@pytest.mark.parametrize(("module", "arguments"), [("run", ["--help"]), ("bench", ["--help"]), ("replay", REPLAY)])
@pytest.mark.parametrize(("output", "why"), [(FullOutput(), "No space left on device"), (None, "the output is closed")])
def test_an_output_that_takes_nothing_is_one_sentence(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    results: Path,
    module: str,
    arguments: list[str],
    output: FullOutput | None,
    why: str,
) -> None:
    places = {"bundle": results / "bundles" / "vertebral.npz", "out": results.parent / "out"}
    monkeypatch.setattr(sys, "stdout", output)
    with pytest.raises(SystemExit) as stop:
        call(monkeypatch, module, [argument.format(**places) for argument in arguments])
    assert stop.value.code == 2
    assert capsys.readouterr().err == f"error: cannot print: {why}\n"


@pytest.fixture
def conf(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A copy of conf that may be damaged; Hydra itself still reads the shipped one."""
    copy = Path(shutil.copytree(shell.CONF, tmp_path / "conf"))
    shutil.copy(catalogue.ROOT / "params.yaml", tmp_path)
    monkeypatch.setattr(catalogue, "ROOT", tmp_path)
    for module in (shell, configuration):
        monkeypatch.setattr(module, "CONF", copy)
    caches = (catalogue.catalogue, configuration.register_streams, configuration._without_experiment)
    for cached in caches:
        cached.cache_clear()
    yield copy
    for cached in caches:
        cached.cache_clear()


DAMAGED = [
    ("dataset/vertebral.yaml", b"", "is empty, expected names with values"),
    ("dataset/vertebral.yaml", b"\xff\xfe\x00", "is not valid YAML: 'utf-8' codec"),
    ("dataset/vertebral.yaml", b"- a\n", "is no mapping, expected names with values"),
    ("dataset/vertebral.yaml", b"name: vertebral\ntitle: V\n", "says nothing about stream"),
    ("dataset/vertebral.yaml", b"title: V\nstream: {horizon: 5}\n", "lacks the key 'budget'"),
    ("experiment/main.yaml", b"", "is empty, expected names with values"),
    ("experiment/main.yaml", b"- a\n", "is no mapping, expected names with values"),
    ("experiment/main.yaml", b"a: [", "is not valid YAML"),
    ("experiment/main.yaml", b"name: mian\n", "has the name 'mian', expected 'main', as the file is called"),
]


@pytest.mark.parametrize("module", ["run", "all"])
@pytest.mark.parametrize(("name", "content", "words"), DAMAGED)
def test_a_damaged_configuration_file_is_named(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    conf: Path,
    results: Path,
    module: str,
    name: str,
    content: bytes,
    words: str,
) -> None:
    (conf / name).write_bytes(content)
    arguments = ["experiment=main", "dataset=vertebral"] if module == "run" else ["experiments=[main]"]
    with pytest.raises(SystemExit) as stop:
        call(monkeypatch, module, [*arguments, f"paths.results={results}", f"paths.bundles={results / 'bundles'}"])
    assert stop.value.code == 2
    (said,) = capsys.readouterr().err.splitlines()
    assert f"conf/{name}" in said
    assert words in said
    assert not list(results.rglob("*.parquet"))


def test_a_damaged_data_set_is_named_by_preparation(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], conf: Path, tmp_path: Path
) -> None:
    (conf / "dataset" / "vertebral.yaml").write_bytes(b"")
    monkeypatch.setattr(sys, "argv", ["fetch.py", "dataset=vertebral", f"paths.work={tmp_path}"])
    GlobalHydra.instance().clear()
    with pytest.raises(SystemExit) as stop:
        fetch.main()
    assert stop.value.code == 2
    assert f"{conf / 'dataset' / 'vertebral.yaml'} is empty" in capsys.readouterr().err


def test_work_without_rounds_is_not_waited_for() -> None:
    class Empty:
        size = 0

        def open(self) -> list[object]:
            return []

        def close(self) -> str:
            return "closed"

    (done,) = work_off([Empty()], 2)  # type: ignore[list-item]
    assert (done.result, done.error) == ("closed", None)


def test_a_command_line_may_be_empty_or_have_flags_of_any_kind() -> None:
    for arguments in (
        [],
        ["-m"],
        ["--info"],
        ["--info", "plugins"],
        ["-c", "job", "-p", "seed"],
        ["--cfg=all", "seed=1"],
    ):
        refuse_odd(arguments, shell.CONF)


def test_help_fits_a_screen_or_two(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    configured = ("run", "all", "replay", "verify", "claims.__main__", "claims.training_seeds", "report.__main__")
    for module in (*configured, "bench", "bench_cluster", "bench_long", "bench_paper"):
        call(monkeypatch, module, ["--help"])
        said = capsys.readouterr().out
        assert f"python -m experiments.{module.removesuffix('.__main__')}" in said
        assert ("Settings (conf/" in said) == (module in configured)
        assert len(said.splitlines()) < 70


def test_only_the_budgets_asked_for_are_played(monkeypatch: pytest.MonkeyPatch, results: Path) -> None:
    paths = [f"paths.results={results}", f"paths.bundles={results / 'bundles'}"]
    # The last records a budget of 1000 besides, whatever others are played.
    for experiment in ("experts", "nonactive", "covtype"):
        arguments = [f"experiment={experiment}", "dataset=vertebral", "budgets=[3,7]", "realizations=2", *paths]
        call(monkeypatch, "run", arguments)
        (path,) = results.glob(f"variants/*/records/{experiment}/vertebral/seed0.parquet")
        assert read_record(path).budgets("cams") == [3, 7]


def test_a_damaged_bundle_is_named_and_not_left_out(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], results: Path
) -> None:
    bundle = results / "bundles" / "vertebral.npz"
    bundle.write_bytes(bundle.read_bytes()[:500])
    paths = [f"paths.results={results}", f"paths.bundles={results / 'bundles'}"]
    with pytest.raises(SystemExit) as stop:
        call(monkeypatch, "all", ["experiments=[experts]", "datasets=[vertebral,drift]", *paths])
    assert stop.value.code == 2
    said = capsys.readouterr()
    assert "experts drift: left out" in said.out
    assert "not every record could be made, and experts vertebral is the first of 1: " in said.err


@pytest.mark.parametrize("name", ["mine", "main"])
def test_an_experiment_from_elsewhere_is_not_called_like_a_shipped_one(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], results: Path, tmp_path: Path, name: str
) -> None:
    (tmp_path / "own/experiment").mkdir(parents=True)
    text = (shell.CONF / "experiment/main.yaml").read_text(encoding="utf-8").replace("name: main", f"name: {name}")
    (tmp_path / "own/experiment/mine.yaml").write_text(text, encoding="utf-8")
    paths = [f"paths.results={results}", f"paths.bundles={results / 'bundles'}"]
    arguments = [f"--config-dir={tmp_path / 'own'}", "experiment=mine", "horizon=500", *MAIN[1:], *paths]
    with pytest.raises(SystemExit) as stop:
        call(monkeypatch, "run", arguments)
    assert stop.value.code == 2
    # One of its own name comes as far as the bundle, which is too short.
    words = "experiment mine has the name 'main', which conf/experiment/main.yaml has" if name == "main" else "horizon"
    assert words in capsys.readouterr().err


def test_a_data_set_that_an_experiment_does_not_list_has_a_place_of_its_own() -> None:
    overrides = ["experiment=main", "dataset=covtype"]
    assert places_for(compose_run(overrides), overrides).results == Path("results/variants/dataset=covtype")
    overrides = ["experiment=main", "dataset=drift"]
    assert places_for(compose_run(overrides), overrides).results == Path("results")


def test_a_damaged_record_is_made_anew_where_it_can_be_and_named_where_not(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], results: Path
) -> None:
    paths = [f"paths.results={results}", f"paths.bundles={results / 'bundles'}"]
    everything = ["experiments=[experts]", "datasets=[vertebral]", "steps=[replay]", *paths]
    call(monkeypatch, "all", everything)
    (record,) = results.glob("records/experts/vertebral/*.parquet")
    whole = record.read_bytes()

    record.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(SystemExit) as stop:
        call(monkeypatch, "claims.__main__", [f"paths.results={results}"])
    assert stop.value.code == 2
    assert f"the record {record} is damaged; " in capsys.readouterr().err
    assert not (results / "claims.json").exists()

    call(monkeypatch, "all", everything)
    assert record.read_bytes() == whole

    record.write_bytes(whole[:-1])
    (results / "bundles" / "vertebral.npz").unlink()
    with pytest.raises(SystemExit) as stop:
        call(monkeypatch, "all", everything)
    assert stop.value.code == 2
    said = capsys.readouterr().err
    assert "experts vertebral is the first of 1" in said
    assert "damaged" in said
