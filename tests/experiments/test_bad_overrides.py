"""Bad input from the shell: one sentence that names the thing and what was expected, exit code 2, nothing written.

To add a case, add a row: the module, its arguments, and words that the sentence must contain.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from from_shell import refusal

from data_prep.pipeline import shell

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
    ("run", [*MAIN, "+horizon=500"], "'+horizon=500' adds what is there already, expected 'horizon=500'"),
    ("run", [*MAIN, "+seed=1"], "'+seed=1' adds what is there already, expected 'seed=1'"),
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
    (
        "claims.training_seeds",
        ["seed=1"],
        "seed has no effect on training: that of the shipped seeds=[1,2] names others",
    ),
    ("claims.training_seeds", ["interval.level=0.95"], "interval.level has no effect on training: experiments.claims"),
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
    ("run", [*MAIN, "--config-path={results}"], "--config-path is expected conf --config-dir adds files"),
    ("run", [*MAIN, "--config-dir={own}", "--config-name=mine"], "--config-name is mine, expected run"),
    ("run", [*MAIN, "--config-dir={own}/conf"], "experiment/main.yaml would not be read conf/experiment/main.yaml is"),
    ("run", [*MAIN, "-cd", "{own}/conf"], "experiment/main.yaml would not be read conf/experiment/main.yaml is"),
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
    ("report.__main__", ["paths.page={bundle}"], "paths.page is vertebral.npz', expected a file that ends in .html"),
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
    # results that would pass for others
    (
        "run",
        [*MAIN, "paths.bundles={out}", "paths.results=results"],
        "paths.bundles is so paths.results must be set too",
    ),
    ("all", ["paths.bundles={out}", "paths.results=./results"], "paths.bundles is so paths.results must be set too"),
    (
        "run",
        ["-m", *MAIN, "paths.bundles={out}/1,{out}/2", "paths.results={out}"],
        "paths.results is which every paths.bundles of the sweep would overwrite",
    ),
    ("replay", [*REPLAY, "-m", "seed=0,1"], "out is which every seed of the sweep would overwrite; such as ${seed}"),
    (
        "replay",
        ["-m", *REPLAY[:2], "out={out}/${{seed}}", "seed=0,1", "horizon=range(5,7)"],
        "every horizon of the sweep",
    ),
    ("replay", ["-m", *REPLAY[:2], "out={out}/${{seed}}", "plot={out}/a.png", "seed=0,1"], "plot is every seed of the"),
    # files
    ("run", ["experiment=main", "dataset=drift"], "'drift' has no bundle `make drift`"),
    ("run", ["experiment=main", "bundle=nowhere.npz", "horizon=5", "budget=1", "realizations=1"], "nowhere.npz"),
    ("run", ["experiment=main", "bundle=other.npz"], "horizon and budget and realizations must be given"),
    ("replay", ["bundle=no where/my (1).npz", "budgets=[5]", "out={out}"], "no where/my (1).npz"),
    ("replay", ["bundle={bundle}", "budgets=[5]", "out={bundle}"], "cannot write to"),
    ("replay", [*REPLAY, "plot={bundle}/mine.png"], "cannot write to"),
    ("replay", [*REPLAY, "plot=mine.gif"], "mine.gif ends in '.gif', expected one of .png, .pdf, .svg"),
    ("replay", [*REPLAY, "plot=3"], "plot is 3"),
    ("replay", [*REPLAY, f"plot={'x' * 300}.png"], "x.png: File name too long"),
    ("run", [*MAIN, f"bundle={'x' * 300}", "horizon=5", "budget=1", "realizations=1"], "x: File name too long"),
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
    (results / "own" / "conf" / "experiment").mkdir(parents=True)
    (results / "own" / "mine.yaml").write_text("defaults: [run, _self_]\nhorizon: 50\n")
    (results / "own" / "conf" / "experiment" / "main.yaml").write_text("name: main\n")
    places["own"] = results / "own"
    filled = [argument.format(**places) for argument in arguments]
    own_places = results if module in ("run", "all") else None
    said = refusal(monkeypatch, capsys, module, *filled, results=own_places).strip()
    assert len(said.splitlines()) == 1, said
    for word in words.split():
        assert word in said, said
    assert not list(results.rglob("*.parquet"))


@pytest.mark.parametrize(
    ("module", "arguments"),
    [
        ("run", [*MAIN, "paths.results={bundle}"]),
        ("all", ["experiments=[main]", "paths.results={bundle}"]),
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
    filled = [argument.format(bundle=results / "bundles" / "vertebral.npz") for argument in arguments]
    own_places = results if module != "replay" else None
    assert "cannot write to" in refusal(monkeypatch, capsys, module, *filled, results=own_places)


@pytest.mark.parametrize("name", ["mine", "main"])
def test_an_experiment_from_elsewhere_is_not_called_like_a_shipped_one(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], results: Path, tmp_path: Path, name: str
) -> None:
    (tmp_path / "own/experiment").mkdir(parents=True)
    text = (shell.CONF / "experiment/main.yaml").read_text(encoding="utf-8").replace("name: main", f"name: {name}")
    (tmp_path / "own/experiment/mine.yaml").write_text(text, encoding="utf-8")
    arguments = [f"--config-dir={tmp_path / 'own'}", "experiment=mine", "horizon=500", *MAIN[1:]]
    # One of its own name comes as far as the bundle, which is too short.
    words = "experiment mine has the name 'main', which conf/experiment/main.yaml has" if name == "main" else "horizon"
    assert words in refusal(monkeypatch, capsys, "run", *arguments, results=results)


def test_a_sweep_may_be_asked_for_anywhere(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    places = [f"paths.results={tmp_path}", f"hydra.sweep.dir={tmp_path}"]
    said = refusal(monkeypatch, capsys, "run", *MAIN, "-m", "seed=abc,-1,${nope}", *places)
    assert said.startswith("3 job(s) of the sweep failed")
    assert "seed is 'abc', expected a whole number" in said
    assert "Interpolation key 'nope' not found" in said
    assert len(said.splitlines()) == 4
