"""What `cams --help` and its like say, and what is said to a command that is not understood."""

import pytest

import cams
from cams.shell import main

HELP = {
    "": """
        usage: cams [-h] [--version] COMMAND ...
        Contextual active model selection: which pre-trained model to trust for each instance, with few labels.
        positional arguments:
          COMMAND
            learners  what each learner is, and when to use it
            check     what is in a bundle: accuracies, does context pay, do labels matter
            replay    replay a bundle through learners at several budgets
            plot      draw a replay kept with --out
        options:
          -h, --help  show this help message and exit
          --version   show program's version number and exit
        """,
    "check": """
        usage: cams check [-h] FILE
        positional arguments:
          FILE        a bundle, as `cams.Bundle.save` writes it
        options:
          -h, --help  show this help message and exit
        """,
    "replay": """
        usage: cams replay [-h] [--learners A,B] --budgets 0,10,50 [--horizon HORIZON] [--realizations REALIZATIONS]
                           [--seed SEED] [--jobs JOBS] [--regularize] [--scaled] [--plot FILE] [--out NPZ] FILE
        positional arguments:
          FILE        a bundle, as `cams.Bundle.save` writes it
        options:
          -h, --help            show this help message and exit
          --learners A,B        names (default: cams)
          --budgets 0,10,50     labels that may be bought
          --horizon HORIZON     rounds of a stream (default: every row of the bundle)
          --realizations REALIZATIONS
                                streams (default: 20)
          --seed SEED           of streams and coins (default: 0)
          --jobs JOBS           threads (default: all cores)
          --regularize          keep policies away from 0
          --scaled              spread each budget over the known horizon
          --plot FILE           draw mistakes against labels: .png, .pdf, .svg
          --out NPZ             keep the replay for `cams plot`
        """,
    "plot": """
        usage: cams plot [-h] NPZ PICTURE
        positional arguments:
          NPZ         written by `cams replay --out`
          PICTURE     .png, .pdf or .svg
        options:
          -h, --help  show this help message and exit
        """,
}


@pytest.mark.parametrize("command", HELP)
def test_help(command, capsys, monkeypatch):
    monkeypatch.setenv("NO_COLOR", "1")
    with pytest.raises(SystemExit) as stop:
        main([*command.split(), "--help"])
    assert stop.value.code == 0
    # Where lines are broken depends on the width of the terminal.
    assert capsys.readouterr().out.split() == HELP[command].split()


def test_version(capsys):
    with pytest.raises(SystemExit) as stop:
        main(["--version"])
    assert stop.value.code == 0
    assert capsys.readouterr().out == f"cams {cams.__version__}\n"


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["replay", "FILE"], "the following arguments are required: --budgets; see cams replay --help"),
        (["replay", "FILE", "--budgets", "few"], "'few' is no list of whole numbers such as 0,10,50"),
        (["reply"], "invalid choice: 'reply'"),
        ([], "error: the following arguments are required: COMMAND; see cams --help"),
    ],
)
def test_a_command_that_is_not_understood_is_one_sentence_too(arguments, sentence, capsys):
    with pytest.raises(SystemExit) as stop:
        main(arguments)
    assert stop.value.code == 2
    error = capsys.readouterr().err
    assert sentence in error
    assert len(error.strip().splitlines()) == 1
