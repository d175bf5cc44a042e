"""Every bound against a value worked out by hand from the formula as the paper (or its proof) writes it."""

import inspect
from collections.abc import Callable
from math import e, log, sqrt
from typing import Any

import numpy as np
import pytest

import cams
from cams import bounds


def test_bandit_rows_of_the_table() -> None:
    # k = 4, T = 100, n = 16, delta = 0.25: ln 4 = 1.386294, ln 16 = 2.772589, ln 64 = 4.158883
    assert bounds.exp3_regret(100, 4) == pytest.approx(47.0964, abs=1e-3)  # 2 sqrt(554.5177)
    assert bounds.exp3p_regret(100, 4, 0.25) == pytest.approx(171.5067, abs=1e-3)  # 5.15 sqrt(400 * 2.772589)
    assert bounds.exp4_regret(100, 4, 16) == pytest.approx(47.0964, abs=1e-3)  # sqrt(800 * 2.772589)
    assert bounds.exp4p_regret(100, 4, 16, 0.25) == pytest.approx(244.7205, abs=1e-3)  # 6 sqrt(1663.553)


def test_model_picker_rows_of_the_table() -> None:
    # Two suboptimal models: Delta = (0.1, 0.2), theta = (0.1, 0.5): lambda = min(0.1, 0.08) = 0.08, k = 3
    assert bounds.model_picker_stochastic_regret([0.1, 0.2], [0.1, 0.5]) == pytest.approx(
        62 * 0.2 * 3 / (0.0064 * 1.0986123), rel=1e-6
    )
    # k = 4, T = 100, c = 2, Delta = 0.5: sqrt(200 ln 4) = 16.65109, times 1 + 8 / 0.5
    assert bounds.model_picker_stochastic_queries(100, 4, 2, 0.5) == pytest.approx(16.65109 * 17, rel=1e-6)
    assert bounds.model_picker_adversarial_regret(100, 4) == pytest.approx(33.30218, abs=1e-4)
    assert bounds.model_picker_adversarial_queries(100, 4, 7) == pytest.approx(58.87050 + 14, abs=1e-4)


def test_the_two_readings_of_b_are_reciprocal() -> None:
    # p_min = 1/4, c = 2: p_min log_2(4) = 1/2 as printed, 2 in the proof
    assert bounds.advice_range_printed(0.25, 2) == pytest.approx(0.5)
    assert bounds.advice_range(0.25, 2) == pytest.approx(2.0)


def test_theorem_1() -> None:
    # m = 5, gamma = 0.5, b = 2, Delta = 0.1, delta = 2/e^2, so ln(2/delta) = 2:
    # numerator ln 8 + sqrt(ln 5 * 2 * 4 * 2) = 2.0794415 + 4 * 1.2686362 = 7.1539864; denominator 0.12686362
    value = bounds.cams_stochastic_regret(5, 0.1, 0.5, 2.0, 2 / e**2)
    assert value == pytest.approx((7.1539864 / 0.12686362) ** 2, rel=1e-6)
    smaller = bounds.cams_stochastic_regret(5, 0.1, 0.5, 0.5, 2 / e**2)  # the printed b, four times smaller
    assert smaller == pytest.approx(((2.0794415 + 1.2686362) / 0.12686362) ** 2, rel=1e-6)


def test_theorem_1_in_expectation_is_the_same_threshold_at_delta_one_over_horizon() -> None:
    high = bounds.cams_stochastic_regret(5, 0.1, 0.5, 2.0, 1 / 1000)
    assert bounds.cams_stochastic_regret_expected(1000, 5, 0.1, 0.5, 2.0) == pytest.approx(0.999 * high + 1)


def test_theorem_2() -> None:
    # T = 10000, R = 100, mu = 0.03, c = 10: loss 400, log_10 T = 4; 2 * 100 + 400 * 5 / 10 = 400
    assert bounds.cams_stochastic_queries(10_000, 100, 0.03, 10) == pytest.approx(400.0)
    # as printed: 400 * ln T / (10 ln 10) = 400 * 4 / 10
    assert bounds.cams_stochastic_queries_printed(10_000, 100, 0.03, 10) == pytest.approx(160.0)


def test_theorem_3() -> None:
    # T = 10000, c = 2, m = 4, rho = 0.25 (above 0.01): 4 sqrt(ln 2 / 0.25) sqrt(10^4 ln 4)
    #   = 4 * 100 * sqrt(4 * 2 (ln 2)^2) = 400 * 2 sqrt(2) ln 2
    assert bounds.cams_adversarial_regret(10_000, 4, 2, 0.25) == pytest.approx(784.2065, abs=1e-3)
    # rho = 0 falls back on sqrt(1/T) = 0.01: five times larger
    assert bounds.cams_adversarial_regret(10_000, 4, 2, 0.0) == pytest.approx(5 * 784.2065, abs=1e-2)


def test_theorem_3_without_rho_grows_as_the_three_quarter_power() -> None:
    small, large = (bounds.cams_adversarial_regret(horizon, 10, 3, 0.0) for horizon in (1e4, 1e8))
    assert log(large / small) / log(1e4) == pytest.approx(0.75)


def test_theorem_3_part_of_the_way_through_the_stream() -> None:
    # 2 ln m / eta_t: at t = 16 of T = 10000 the floor is 1/4, the sqrt(T) that of the whole stream
    assert bounds.cams_adversarial_regret(10_000, 4, 2, 0.0, rounds=16) == pytest.approx(784.2065, abs=1e-3)
    whole = bounds.cams_adversarial_regret(10_000, 4, 2, 0.1)
    assert bounds.cams_adversarial_regret(10_000, 4, 2, 0.1, rounds=10_000) == whole


def test_theorem_4() -> None:
    # T = 1024, c = 2: log_2 T + 1 = 11, 2 sqrt(T) = 64
    regret = bounds.cams_adversarial_regret(1024, 4, 2, 1.0)
    assert regret == pytest.approx(4 * 32 * sqrt(2) * log(2))
    assert bounds.cams_adversarial_queries(1024, 4, 2, 1.0, 20) == pytest.approx(64 + (regret + 20) * 11 / 2)


def test_what_follows_from_the_regret_by_evidence_by_hand() -> None:
    # sqrt(4 * 9); evidence counts as 1 at least
    assert bounds.evidence_regret_in_hindsight(4, 9.0) == 6
    assert bounds.evidence_regret_in_hindsight(4, 0.0) == 2
    assert bounds.evidence_regret_in_hindsight(2, 8.0) == 4
    assert bounds.evidence_stochastic_regret(10, 0.5, 1.0) == pytest.approx(40)
    # (1 + 1/4) / (1/4 * 1/2) = 10 times 10, and with a prior of 2 that has not moved times 12
    assert bounds.evidence_stochastic_regret(10, 0.5, 0.25) == pytest.approx(100)
    assert bounds.evidence_stochastic_regret(10, 0.5, 0.25, prior=2) == pytest.approx(120)
    assert bounds.evidence_stochastic_regret(10, 0.5, 0.25, prior=2, disagreements=8) > 120
    # 2 sqrt(1024) + 30 (log_2 1024 + 1) / 2
    assert bounds.evidence_queries(1024, 2, 10, 20) == pytest.approx(64 + 30 * 11 / 2)


def test_a_known_drift_stands_for_the_logarithm() -> None:
    assert bounds.evidence_regret(8, 4.0, prior=3.0, drift=6 * log(7)) == pytest.approx(
        bounds.evidence_regret(8, 4.0, prior=3.0, disagreements=7)
    )
    still = bounds.evidence_regret(8, 4.0, prior=3.0, drift=0.0)
    assert still == bounds.evidence_regret(8, 4.0, prior=3.0)


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: bounds.evidence_regret(8, 4.0, drift=-1.0), "drift"),
        (lambda: bounds.evidence_regret_in_hindsight(1, 4.0), "num_extended is 1, expected at least 2"),
        (lambda: bounds.evidence_regret_in_hindsight(2, -1.0), "evidence is -1.0, expected at least 0"),
        (lambda: bounds.evidence_stochastic_regret(10, 0.5, 1.5), "margin is 1.5"),
        (lambda: bounds.evidence_stochastic_regret(10, 0.5, 0.5, disagreements=0), "disagreements is 0"),
        (lambda: bounds.evidence_stochastic_regret(10, 0.5, 0.5, prior=-9), "prior is -9, expected at least 0"),
        (lambda: bounds.evidence_queries(10, 1, 10, 20), "num_classes is 1, expected at least 2"),
        (lambda: bounds.evidence_stochastic_regret(10, 0.0, 0.5), "gap"),
        (lambda: bounds.evidence_stochastic_regret(10, 0.1, 0.0), "margin"),
        (lambda: bounds.evidence_queries(0, 2, 10, 20), "horizon"),
        (lambda: bounds.cams_adversarial_regret(10, 0, 2, 0.5), "num_extended is 0, expected at least 1"),
        (lambda: bounds.exp3_regret(0, 4), "horizon"),
        (lambda: bounds.exp3p_regret(10, 4, 1.0), "failure"),
        (lambda: bounds.exp3p_regret(10, 4, 0.0), "failure"),
        (lambda: bounds.exp4_regret(10, 4, 0), "num_policies is 0, expected at least 1"),
        (lambda: bounds.exp4p_regret(10, 4, 0, 0.1), "num_policies is 0, expected at least 1"),
        (
            lambda: bounds.model_picker_stochastic_regret([0.0], [0.1]),
            "^every gap must be positive: a single best model",
        ),
        (lambda: bounds.model_picker_stochastic_regret([0.1], [0.0]), "^every disagreement must be positive$"),
        (lambda: bounds.model_picker_stochastic_regret([0.1], [0.1, 0.2]), "^expected one gap and one disag"),
        (lambda: bounds.model_picker_stochastic_regret([], []), "expected one gap and one disagreement"),
        (lambda: bounds.model_picker_stochastic_queries(10, 4, 2, 0.0), "gap is 0.0, expected a positive number"),
        (lambda: bounds.cams_stochastic_regret_expected(1, 5, 0.1, 0.5, 2), "horizon is 1, expected at least 2"),
        (lambda: bounds.cams_stochastic_regret(1, 0.1, 0.5, 1, 0.1), "num_extended is 1, expected at least 2"),
        (lambda: bounds.cams_stochastic_queries(10, 1, 0.1, 1), "num_classes is 1, expected at least 2"),
        (lambda: bounds.cams_stochastic_queries_printed(10, 1, 0.1, 1), "num_classes is 1, expected at least 2"),
        (lambda: bounds.cams_adversarial_regret(10, 5, 1, 0.5), "num_classes is 1, expected at least 2"),
        (lambda: bounds.evidence_regret(1, 4.0), "num_extended is 1, expected at least 2"),
        (lambda: bounds.evidence_regret(3, -0.5), "evidence is -0.5, expected at least 0"),
        (lambda: bounds.evidence_regret(3, 4.0, prior=-0.5), "prior is -0.5, expected at least 0"),
        (lambda: bounds.evidence_regret(3, 4.0, disagreements=0), "disagreements is 0, expected at least 1"),
        (lambda: bounds.advice_range(0.0, 3), "smallest_advice"),
        (lambda: bounds.advice_range_printed(1.0, 3), r"smallest_advice is 1.0, expected in \(0, 1\)"),
        (lambda: bounds.advice_range_printed(1.5, 3), r"smallest_advice is 1.5, expected in \(0, 1\)"),
        (lambda: bounds.advice_range(0.5, 1), "num_classes is 1, expected at least 2"),
        (lambda: bounds.cams_stochastic_regret(5, 0.1, 1.5, 1, 0.1), r"margin is 1.5, expected in \(0, 1\]"),
        (lambda: bounds.cams_stochastic_regret(5, 0.0, 0.5, 1, 0.1), "gap"),
        (lambda: bounds.cams_stochastic_regret(5, 0.1, 0.0, 1, 0.1), "margin"),
        (lambda: bounds.cams_adversarial_regret(10, 5, 3, 1.2), "rho"),
        (lambda: bounds.cams_adversarial_regret(10, 5, 3, 0.5, rounds=11), "rounds"),
    ],
)
def test_values_outside_the_assumptions_are_refused(call, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        call()


# Something fit for every argument that a bound may have.
FIT: dict[str, float] = {
    "horizon": 100, "rounds": 10, "num_models": 4, "num_policies": 3, "num_extended": 7, "num_classes": 2,
    "failure": 0.1, "gap": 0.5, "margin": 0.5, "range_": 2, "smallest_advice": 0.25, "rho": 0.5,
    "regret": 10, "best_error": 0.1, "best_loss": 5, "evidence": 9, "prior": 1, "disagreements": 3, "drift": 1,
}  # fmt: skip
# In a module that is being mutated the changed ones begin with x_.
BOUNDS = {
    name: bound for name, bound in inspect.getmembers(bounds, inspect.isfunction) if not name.startswith(("_", "x_"))
}


@pytest.mark.parametrize("bound", [bound for name, bound in BOUNDS.items() if name != "model_picker_stochastic_regret"])
def test_no_bound_takes_a_missing_number(bound: Callable[..., float]) -> None:
    fit = {name: FIT[name] for name in inspect.signature(bound).parameters}
    assert bound(**fit) > 0
    for name in fit:
        with pytest.raises(cams.InputError, match=f"^{name} is nan, expected a finite number$"):
            bound(**fit | {name: np.nan})


def test_no_gap_and_no_disagreement_is_missing() -> None:
    with pytest.raises(cams.InputError, match=r"^gap is nan, expected a finite number$"):
        bounds.model_picker_stochastic_regret([0.1, np.nan], [0.1, 0.1])
    with pytest.raises(cams.InputError, match=r"^disagreement is nan, expected a finite number$"):
        bounds.model_picker_stochastic_regret([0.1, 0.1], [0.1, np.nan])


def test_the_least_that_is_allowed() -> None:
    """One policy leaves nothing to choose; one rival makes two models; two rounds are a horizon."""
    assert bounds.exp4_regret(100, 4, 1) == 0
    assert bounds.cams_adversarial_regret(100, 1, 2, 0.5) == 0
    assert bounds.exp3_regret(1, 4) == pytest.approx(2 * sqrt(4 * log(4)))
    assert bounds.exp4p_regret(100, 4, 1, 1 / e) == pytest.approx(120)  # 6 sqrt(400)
    # Delta = 0.5, theta = 0.5: lambda = 0.5, k = 2
    assert bounds.model_picker_stochastic_regret([0.5], [0.5]) == pytest.approx(62 * 0.5 * 2 / (0.25 * log(2)))
    assert bounds.cams_stochastic_regret_expected(2, 2, 1.0, 1.0, 0.0) == 1  # ln 1 = 0: nothing but the + 1
    # Two classes: 2 sqrt(16) + 6 (log_2 16 + 1) / 2, and as printed 6 * 4 / 2
    assert bounds.cams_stochastic_queries(16, 2, 0.25, 2) == pytest.approx(8 + 15)
    assert bounds.cams_stochastic_queries_printed(16, 2, 0.25, 2) == pytest.approx(12)
    assert bounds.evidence_regret(2, 1.0) == pytest.approx(sqrt(log(2)) + sqrt(2 * log(2)) + 2 + sqrt(2))


def test_numbers_may_be_as_small_and_as_large_as_the_sentence_says() -> None:
    with pytest.raises(
        cams.InputError, match=r"^horizon is beyond reach, expected a number from 1e-60 to 1e\+60 in size$"
    ):
        bounds.exp3_regret(1.1e60, 4)
    # sqrt(10^120) times sqrt(ln of 10^120), and 5.15 times the same
    assert bounds.exp3_regret(1e60, 1e60) == pytest.approx(2e60 * sqrt(60 * log(10)))
    assert bounds.exp3p_regret(1e60, 1e60, 1e-60) == pytest.approx(5.15e60 * sqrt(120 * log(10)))


def test_theorem_4_part_of_the_way_through_the_stream() -> None:
    # After t = 16 of T = 256 rounds, c = 2: 2 sqrt(16) = 8, log_2 16 + 1 = 5
    regret = bounds.cams_adversarial_regret(256, 4, 2, 0.0, rounds=16)
    assert regret < bounds.cams_adversarial_regret(256, 4, 2, 0.0)
    assert bounds.cams_adversarial_queries(256, 4, 2, 0.0, 3, rounds=16) == pytest.approx(8 + (regret + 3) * 5 / 2)


def test_evidence_regret_by_hand() -> None:
    # ln 8 = 2.079442, V = 4, root 2: (2.079442 + 3 + 6 * 1.945910) * 2 / 1.442027 = 23.2380,
    # (sqrt(4.158883) + 2 + sqrt(2)) * 2 = 10.9071.
    assert bounds.evidence_regret(8, 4.0, prior=3.0, disagreements=7) == pytest.approx(34.1452, abs=1e-3)
    assert bounds.evidence_regret(3, 0.0) == bounds.evidence_regret(3, 1.0)  # V counts as 1 at least
    assert bounds.expected_evidence(8) == pytest.approx(18)  # 2/3 * 27


@pytest.mark.parametrize("settings", [{}, {"prior": 6.0, "fade": 10.0}, {"prior": 6.0, "votes": "plain"}])
def test_the_regret_of_estimates_stays_under_its_bound(make_bundle: Any, settings: dict[str, Any]) -> None:
    """On every stream and for every coin: malicious labels too, which make the majority wrong half of the time."""
    for seed in range(5):
        bundle = make_bundle(rows=300, k=5, n=4, c=3, seed=seed, skill=0.3)
        learner = cams.make_learner(
            "cams_evidence", num_models=5, num_policies=4, num_classes=3, recommend="sample_policy", **settings
        )
        draws = np.random.default_rng(seed).random((300, 4))
        own, evidence, disagreements = 0.0, 0.0, 0
        for _, decided, label in cams.play(learner, bundle, range(300), draws):
            disagreements += bool((decided.predictions != decided.predictions[0]).any())
            if label is not None:
                own += decided.model_weights @ (decided.predictions != label) / decided.query_probability
                evidence += decided.query_probability**-2
        limit = bounds.evidence_regret(
            9, evidence, prior=settings.get("prior", 0.0), disagreements=max(1, disagreements)
        )
        assert own - learner.L.min() <= limit
