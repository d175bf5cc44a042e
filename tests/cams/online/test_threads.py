"""Many threads at one selector: each ticket once, never more than the budget."""

from __future__ import annotations

import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from cams import InputError, Selector

THREADS, STEPS, BUDGET = 8, 250, 300


def test_eight_threads_share_one_selector():
    selector = Selector(models=["a", "b"], num_classes=2, budget=BUDGET, learner="hedge")

    def work(thread: int) -> tuple[list[int], int, bool]:
        rng = np.random.default_rng(thread)
        tickets, labels, held = [], 0, True
        for _ in range(STEPS):
            decision = selector.step(rng.integers(0, 2, 2))
            tickets.append(decision.ticket)
            held &= selector.committed <= BUDGET
            if decision.query and rng.random() < 0.3:
                selector.drop(decision.ticket)
            elif decision.query:
                selector.label(decision.ticket, 0)
                labels += 1
        return tickets, labels, held

    # Often enough that threads without a lock would meet inside a step.
    usual = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(THREADS) as pool:
            done = list(pool.map(work, range(THREADS)))
    finally:
        sys.setswitchinterval(usual)
    tickets = [ticket for some, _, _ in done for ticket in some]
    assert sorted(tickets) == list(range(1, THREADS * STEPS + 1))
    assert all(held for _, _, held in done)
    assert selector.spent == sum(labels for _, labels, _ in done) == BUDGET
    assert selector.committed == BUDGET
    assert not selector.pending


def test_one_label_is_taken_once_however_many_threads_bring_it():
    selector = Selector(models=["a", "b"], num_classes=2, learner="hedge")
    tickets = [selector.step([0, 1]).ticket for _ in range(50)]

    def bring(_: int) -> int:
        taken = 0
        for ticket in tickets:
            try:
                selector.label(ticket, 0)
                taken += 1
            except InputError:
                pass
        return taken

    with ThreadPoolExecutor(THREADS) as pool:
        assert sum(pool.map(bring, range(THREADS))) == len(tickets)
    assert selector.spent == len(tickets)
