"""The command `cams`, for people with a bundle of their own and no clone of this repository.

cams learners
cams check mine.npz
cams replay mine.npz --learners cams,mp,rs --budgets 0,10,50 --plot mine.png
cams plot mine-replay.npz mine.png
"""

from __future__ import annotations

import argparse
import os
import sys
import textwrap
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
import pandas as pd

import cams
from cams.classes import ABSTAINS
from cams.errors import InputError
from cams.files import as_path, require_writable
from cams.guide import ABOUT
from cams.outcome import Replay
from cams.plotting.picture import require_picture
from cams.stopping import INTERRUPTED, flush_output, forget_output, prepare_output, stopped_by_sigterm

BAD_INPUT = 2
# `check` answers in seconds: no longer streams, no more of them.
CHECK_ROUNDS, CHECK_REALIZATIONS = 2_000, 10


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; bad input is one sentence on stderr and exit code 2."""
    prepare_output()
    try:
        parsed = _parsed(arguments)
        with stopped_by_sigterm():
            parsed.run(parsed)
        flush_output()
    except BrokenPipeError:
        # Whoever read has enough (`| head -1`); without this Python would complain once more at the end.
        forget_output()
    except OSError as error:
        forget_output()
        # Of a file it knows the name: one that no file can have is not about printing.
        print(f"error: {error.filename or 'cannot print'}: {error.strerror or error}", file=sys.stderr)
        return BAD_INPUT
    except InputError as error:
        print(f"error: {error}", file=sys.stderr)
        return BAD_INPUT
    except KeyboardInterrupt:
        print("stopped, nothing was written", file=sys.stderr)
        return INTERRUPTED
    return 0


def _parsed(arguments: Sequence[str] | None) -> argparse.Namespace:
    try:
        return _parser().parse_args(arguments)
    except SystemExit as stop:
        if not stop.code:  # help was asked for, and argparse does not mind if it cannot be printed
            flush_output()
        raise


def list_learners(_: argparse.Namespace) -> None:
    """Print every learner with what it is and when to use it."""
    for name, about in ABOUT.items():
        print(name)
        print(textwrap.fill(about, 100, initial_indent="    ", subsequent_indent="    "))


def check(options: argparse.Namespace) -> None:
    """Print what is in a bundle, how good models and policies are, and what labels can do."""
    bundle = cams.Bundle.load(options.bundle)
    print(bundle)
    if bundle.labels is None:
        print("no labels: good for a Selector, but it cannot be replayed or judged")
        return
    wrong = bundle.predictions != bundle.labels[:, None]
    print(_accuracies("models", bundle.model_names, wrong))
    disagree = _disagreements(bundle).mean()
    print(f"models disagree on {disagree:.1%} of the rows; some model is right on {1 - wrong.all(axis=1).mean():.1%}")
    if bundle.num_policies:
        followed = np.take_along_axis(wrong, _favourites(bundle), axis=1)
        print(_accuracies("policies, each by its favourite model", bundle.policy_names, followed))
        print(_does_context_pay(1 - wrong.mean(axis=0).min(), 1 - followed.mean(axis=0).min()))
    print(_do_labels_matter(bundle))


def _disagreements(bundle: cams.Bundle) -> np.ndarray:
    """Say (N,) where two models that answer give different answers."""
    votes = bundle.predictions
    differ: np.ndarray = ((votes != votes.max(axis=1, keepdims=True)) & (votes != ABSTAINS)).any(axis=1)
    return differ


def _favourites(bundle: cams.Bundle) -> np.ndarray:
    """Return (N, n) the model that each policy trusts most among those that answer."""
    silent = (bundle.predictions == ABSTAINS)[:, None]
    trust = np.where(silent, -1, bundle.advice) if bundle.abstains else bundle.advice
    favourites: np.ndarray = trust.argmax(axis=2)
    return favourites


def _accuracies(what: str, names: list[str], wrong: np.ndarray) -> str:
    accuracy = pd.Series(1 - wrong.mean(axis=0), index=names).sort_values(ascending=False)
    lines = [f"  {value:6.1%}  {name}" for name, value in accuracy.items()]
    return "\n".join([f"accuracy of {what}:", *lines])


def _does_context_pay(best_model: float, best_policy: float) -> str:
    gain = best_policy - best_model
    verdict = "context pays" if gain > 0 else "context does not pay: no policy beats the best single model"
    return f"{verdict} (best policy {best_policy:.1%}, best model {best_model:.1%}, {100 * gain:+.1f} points)"


def _do_labels_matter(bundle: cams.Bundle) -> str:
    """Replay CAMS without labels, with a few and with all it wants."""
    horizon = min(bundle.num_rows, CHECK_ROUNDS)
    few = max(1, horizon // 50)
    result = cams.replay(
        bundle, ["cams"], horizon=horizon, budgets=[0, few, horizon], realizations=CHECK_REALIZATIONS, seed=0
    )
    without, with_few, with_all = result.loss[0].mean(axis=1)
    bought = result.queries[0].mean(axis=1)
    return (
        f"CAMS over {horizon} rounds: {without:.1f} mistakes without a label, {with_few:.1f} with {bought[1]:.0f}, "
        f"{with_all:.1f} with the {bought[2]:.0f} it wants; the best model in hindsight makes "
        f"{result.model_losses.min(axis=1).mean():.1f}"
    )


def replay(options: argparse.Namespace) -> None:
    """Replay a bundle, print the summary, and keep what was asked for."""
    if options.plot:
        require_picture(options.plot, options.bundle)
    if options.out:
        _require_place(options.out, options.bundle, options.plot)
    bundle = cams.Bundle.load(options.bundle)
    result = cams.replay(
        bundle,
        options.learners,
        horizon=bundle.num_rows if options.horizon is None else options.horizon,
        budgets=options.budgets,
        realizations=options.realizations,
        seed=options.seed,
        n_jobs=options.jobs or os.cpu_count() or 1,
        regularize=options.regularize,
        scaled=options.scaled,
    )
    if options.out:
        result.save(options.out)
    if options.plot:
        result.plot(options.plot)
    print(result.summary().round(2).to_string(index=False))


def _require_place(out: Path, *others: Path | None) -> None:
    """Refuse a place that a replay cannot be written to, or where something else of the command is."""
    if os.path.isdir(out):
        raise InputError(f"cannot write {out}: it is a folder")
    require_writable(as_path(out).parent)
    if any(other is not None and os.path.realpath(other) == os.path.realpath(out) for other in others):
        raise InputError(f"--out is {out}, which is the bundle or the picture, expected a file of its own")


def plot(options: argparse.Namespace) -> None:
    """Draw a replay that was saved."""
    require_picture(options.picture, options.replay)
    Replay.load(options.replay).plot(options.picture)


class _Parser(argparse.ArgumentParser):
    """Says what is wrong in one sentence, as everything else here does, and takes no flag for another (`--budget`)."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings, allow_abbrev=False)

    def error(self, message: str) -> NoReturn:
        self.exit(BAD_INPUT, f"error: {message}; see {self.prog} --help\n")

    def _print_message(self, message: str, file: Any = None) -> None:
        # argparse would not mind a disk that is full.
        if message:
            (file or sys.stderr).write(message)


def _whole_numbers(text: str) -> list[int]:
    try:
        return [int(part) for part in text.split(",")]
    except ValueError:
        raise argparse.ArgumentTypeError(f"'{text}' is no list of whole numbers such as 0,10,50") from None


def _names(text: str) -> list[str]:
    return [part.strip() for part in text.split(",")]


_BUNDLE = "a bundle, as `cams.Bundle.save` writes it"


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(prog="cams", description=cams.__doc__)
    parser.add_argument("--version", action="version", version=f"cams {cams.__version__}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    learners = commands.add_parser("learners", help="what each learner is, and when to use it")
    learners.set_defaults(run=list_learners)

    checked = commands.add_parser("check", help="what is in a bundle: accuracies, does context pay, do labels matter")
    checked.add_argument("bundle", type=Path, metavar="FILE", help=_BUNDLE)
    checked.set_defaults(run=check)

    replayed = commands.add_parser("replay", help="replay a bundle through learners at several budgets")
    replayed.add_argument("bundle", type=Path, metavar="FILE", help=_BUNDLE)
    replayed.add_argument("--learners", type=_names, default=["cams"], metavar="A,B", help="names (default: cams)")
    replayed.add_argument(
        "--budgets", type=_whole_numbers, required=True, metavar="0,10,50", help="labels that may be bought"
    )
    replayed.add_argument("--horizon", type=int, help="rounds of a stream (default: every row of the bundle)")
    replayed.add_argument("--realizations", type=int, default=20, help="streams (default: 20)")
    replayed.add_argument("--seed", type=int, default=0, help="of streams and coins (default: 0)")
    replayed.add_argument("--jobs", type=int, help="threads (default: all cores)")
    replayed.add_argument("--regularize", action="store_true", help="keep policies away from 0")
    replayed.add_argument("--scaled", action="store_true", help="spread each budget over the known horizon")
    replayed.add_argument("--plot", type=Path, metavar="FILE", help="draw mistakes against labels: .png, .pdf, .svg")
    replayed.add_argument("--out", type=Path, metavar="NPZ", help="keep the replay for `cams plot`")
    replayed.set_defaults(run=replay)

    drawn = commands.add_parser("plot", help="draw a replay kept with --out")
    drawn.add_argument("replay", type=Path, metavar="NPZ", help="written by `cams replay --out`")
    drawn.add_argument("picture", type=Path, metavar="PICTURE", help=".png, .pdf or .svg")
    drawn.set_defaults(run=plot)
    return parser


if __name__ == "__main__":
    sys.exit(main())
