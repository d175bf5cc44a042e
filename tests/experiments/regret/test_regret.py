"""Streams made to hurt, pools with known gaps, and what regret is measured against."""

from __future__ import annotations

import numpy as np
import pytest

import cams
from experiments.regret.adaptive import follow, mislead
from experiments.regret.adversarial import compute, fixed_orders
from experiments.regret.losses import best_policy_trace, favourite_losses, policy_losses, smallest_advice
from experiments.regret.orders import blocks, rivals
from experiments.regret.streams import gap_pool, rotating_pool
from experiments.regret.theory import compute_adversarial, compute_stochastic
from experiments.runner.plan import Case, Learner, Plan

DRAWN = {"recommend": "sample_policy"}
EVIDENCE_DRAWN = Learner("cams_evidence", "cams_evidence_drawn", DRAWN)
PLUS_DRAWN = Learner("cams_plus", "cams_plus_drawn", DRAWN)


def plan(names: list[str | Learner], horizon: int = 40, **options: object) -> Plan:
    return Plan(
        experiment="adversarial",
        dataset="vertebral",
        seed=0,
        horizon=horizon,
        realizations=2,
        budgets=(horizon,),
        trace_rounds=(1, horizon // 2, horizon),
        trace_budgets=(horizon,),
        learners=tuple(name if isinstance(name, Learner) else Learner(name, name, {}) for name in names),
        cases=(Case(),),
        options=options,
    )


def test_losses_of_extended_policies_by_hand() -> None:
    bundle = cams.Bundle(predictions=[[0, 1], [0, 1]], labels=[0, 1], advice=[[[0.75, 0.25]], [[0.75, 0.25]]])
    np.testing.assert_allclose(policy_losses(bundle, False), [[0.25, 0, 1], [0.75, 1, 0]])
    np.testing.assert_allclose(favourite_losses(bundle), [[0, 0, 1], [1, 1, 0]])
    # eta = 2 / 16, so the policy becomes (7/10, 3/10), and constants (3/4, 1/4).
    np.testing.assert_allclose(policy_losses(bundle, True)[0], [0.3, 0.25, 0.75])
    assert smallest_advice(bundle, True) == pytest.approx(0.25)
    so_far = best_policy_trace(policy_losses(bundle, False), np.array([0, 1]), np.array([1, 2]))
    np.testing.assert_allclose(so_far, [0, 1])


def test_rivals_are_right_on_different_rows() -> None:
    losses = np.array([[0, 0, 1], [0, 0, 1], [0, 1, 1], [1, 1, 0]])
    assert rivals(losses.astype(float), 2) == [0, 2]


def test_block_order_is_a_permutation_in_which_leaders_change() -> None:
    bundle = rotating_pool(4, 4)
    rows = np.arange(bundle.num_rows)
    ordered = blocks(bundle, 2)(rows, np.random.default_rng(0))
    assert sorted(ordered) == list(rows)
    losses = favourite_losses(bundle)
    pair = losses[:, rivals(losses, 2)][ordered]
    lead = np.cumsum(pair[:, 0] - pair[:, 1])
    # One rival gains over one stretch and loses over the other: the lead has a single turning point.
    turns = np.count_nonzero(np.diff(np.sign(np.diff(lead)[np.diff(lead) != 0])))
    assert turns == 1


def test_orders_follow_labels(bundle: cams.Bundle) -> None:
    order = fixed_orders(plan(["mp"], blocks=2), bundle, "labels")
    assert (np.diff(bundle.labels[order], axis=1) >= 0).all()
    with pytest.raises(cams.InputError, match="unknown order"):
        fixed_orders(plan(["mp"], blocks=2), bundle, "sideways")


@pytest.mark.parametrize("name", ["cams", "cams_adversarial"])
def test_the_adaptive_adversary_hurts_more_than_chance(name: str) -> None:
    pool = gap_pool(4, 4, 6, best_rate=0.05, gap=0.2)
    rows, coins = np.random.default_rng(0).permutation(pool.num_rows), np.random.default_rng(1).random((60, 4))
    first, twin, other = (
        cams.make_learner(name, num_models=4, num_policies=6, num_classes=4, horizon=60, budget=60, regularize=True)
        for _ in range(3)
    )
    misled = mislead(pool, first, twin, rows, coins, 8)
    assert len(set(misled.order)) == 60
    assert misled.expected_loss[-1] > 1.1 * follow(pool, other, rows[:60], coins).expected_loss[-1]


def test_round_by_round_is_the_compiled_replay(bundle: cams.Bundle) -> None:
    course_plan = plan(["cams_adversarial"], orders={"default": ["blocks"]}, blocks=2, choices=4)
    table = compute(course_plan, bundle, 1, None)
    order = fixed_orders(course_plan, bundle, "blocks")[1]
    learner = cams.make_learner(
        "cams_adversarial", num_models=5, num_policies=6, num_classes=3, horizon=40, budget=40, regularize=True
    )
    course = follow(bundle, learner, order, cams.randomness.uniforms(0, 1, 40))
    recorded = table[table["realization"] == 1].sort_values("round")
    np.testing.assert_array_equal(recorded["loss"], course.loss[[0, 19, 39]])
    np.testing.assert_array_equal(recorded["queries"], course.queries[[0, 19, 39]])
    assert (recorded["loss"] - recorded["reference"] < recorded["regret_bound"]).all()


def test_gap_pool_has_the_gap_it_was_asked_for() -> None:
    rates = np.sort(favourite_losses(gap_pool(4, 4, 6, best_rate=0.05, gap=0.2)).mean(axis=0))
    assert rates[:2] == pytest.approx([0.05, 0.25])


def test_policies_of_the_rotating_pool_err_equally() -> None:
    np.testing.assert_allclose(policy_losses(rotating_pool(4, 4), True).mean(axis=0), 0.75)


def test_bounds_of_our_own_stand_beside_the_learners_they_are_about(bundle: cams.Bundle) -> None:
    learners = ["cams_adversarial", "cams_plus", EVIDENCE_DRAWN, PLUS_DRAWN]
    table = compute(plan(learners, orders={"default": ["labels", "adaptive"]}, blocks=2, choices=4), bundle, 1, None)
    counts = table.groupby("series")[["regret_bound", "own_regret_bound"]].count()
    rows = 2 * 2 * 3  # orders, realizations, rounds
    assert counts.loc["cams_adversarial"].to_list() == [rows, 0]
    assert counts.loc["cams_plus"].to_list() == [0, 0]
    assert counts.loc["cams_plus_drawn"].to_list() == [0, rows]
    own = table[table["own_regret_bound"].notna()]
    means = own.groupby(["case", "series", "round"])[["loss", "reference", "own_regret_bound"]].mean()
    assert (means["loss"] - means["reference"] < means["own_regret_bound"]).all()
    # A prior costs, and so does an adversary that reacts.
    ends = means["own_regret_bound"].xs(40, level="round")
    assert ends["labels", "cams_evidence_drawn"] < ends["labels", "cams_plus_drawn"]
    assert ends["labels", "cams_evidence_drawn"] < ends["adaptive", "cams_evidence_drawn"]


def test_learners_whose_rate_does_not_know_the_horizon_show_every_one_on_one_stream() -> None:
    sizes = {"models": 4, "classes": 4, "horizons": [20, 200], "cases": ["even draws", "adaptive"]}
    table = compute_adversarial(plan(["cams_adversarial", EVIDENCE_DRAWN, PLUS_DRAWN], 200, **sizes), None, 1, None)
    assert (table.groupby(["case", "series", "round"]).size() == 2).all()
    own = table[table["series"] != "cams_adversarial"]
    assert (own["loss"] - own["reference"] < own["own_regret_bound"]).all()
    assert (own["queries"] < own["own_queries_bound"]).all()
    # The first 20 rounds of the long stream are the whole of the short one.
    short = compute_adversarial(plan([EVIDENCE_DRAWN], 20, **sizes), None, 1, None)
    first = own[(own["series"] == "cams_evidence_drawn") & (own["round"] == 20)]
    np.testing.assert_array_equal(short["loss"], first["loss"])
    # Without a learner that wants a stream of every length the shorter ones are left out.
    alone = compute_adversarial(plan([EVIDENCE_DRAWN], 200, **sizes), None, 1, None)
    np.testing.assert_array_equal(alone["loss"], own.loc[own["series"] == "cams_evidence_drawn", "loss"])


def test_only_compared_pools_show_every_learner() -> None:
    sizes = {"models": 4, "classes": 4, "policies": 3, "failure": 0.1, "horizons": [20, 200]}
    pools = {name: {"gap": 0.4, "best_rate": 0.05} for name in ("alone", "together")}
    learners = ["cams", "cams_evidence", "cams_plus"]
    table = compute_stochastic(plan(learners, 200, **sizes, pools=pools, compared=["together"]), None, 1, None)
    played = table.groupby("case")["series"].unique()
    assert list(played["alone"]) == ["cams"]
    assert list(played["together"]) == learners
    # Theorem 1 is CAMS's, ours is about ours.
    ours = table["series"] != "cams"
    assert table["regret_bound"].isna().equals(ours)
    assert table["own_regret_bound"].notna().equals(ours)


def test_theory_records_carry_bounds() -> None:
    sizes = {"models": 4, "classes": 4, "policies": 3, "failure": 0.1, "horizons": [20, 200]}
    pools = {"easy": {"gap": 0.4, "best_rate": 0.05}, "plain": {"gap": 0.4, "best_rate": 0.05, "regularize": False}}
    table = compute_stochastic(plan(["cams"], 200, **sizes, pools=pools, compared=[]), None, 1, None)
    assert table.groupby("case")["regret_bound"].count().to_dict() == {"easy": 4, "plain": 0}
    table = compute_adversarial(
        plan(["cams_adversarial"], 200, **sizes, cases=["even draws", "adaptive"]), None, 1, None
    )
    assert (table["loss"] - table["reference"] < table["regret_bound"]).all()
    # An adversary that answers the learner's doubts does more harm than chance.
    by_case = table[table["round"] == 200].groupby("case")["loss"].mean()
    assert by_case["adaptive"] > by_case["even draws"]
