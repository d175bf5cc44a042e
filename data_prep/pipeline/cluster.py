"""Tasks on a Dask cluster: `cluster=tcp://host:8786`, or `cluster=local:4` for four processes of this machine.

A Dask cluster runs whatever it is sent: docs/cluster.md says who must be trusted. Dask is imported only where a cluster
is asked for. A task is a function of its arguments alone; one whose worker dies is run again, and given up when several
workers have died with it.
"""

from __future__ import annotations

import logging
import pickle
import platform
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any

from cams.errors import InputError
from data_prep.pipeline.tasks import Job, Result, sent_to

SECONDS_TO_ANSWER = 30
# How long a cluster may be without any worker: they restart, or wait in a queue of their own.
SECONDS_WITHOUT_WORKERS = 120


@contextmanager
def connected(address: str | None) -> Iterator[None]:
    """Run the tasks of this block on a cluster; without an address, on this machine as ever."""
    if address is None:
        yield
        return
    cluster = _connect(address)
    try:
        with _explained(address):
            _require_same_versions(cluster.client)
        with sent_to(cluster):
            yield
    finally:
        cluster.client.close()
        if cluster.client.cluster is not None:
            cluster.client.cluster.close()


@dataclass(frozen=True)
class Cluster:
    """Workers of a Dask cluster, for `data_prep.pipeline.tasks`."""

    address: str
    client: Any

    def width(self) -> int:
        return sum(self.client.nthreads().values())

    def run(self, function: Callable[..., Result], jobs: Sequence[Job]) -> Iterator[Result]:
        """Yield function(*job) for every job, in their order. What several jobs share goes to each worker once."""
        with _explained(self.address):
            shared = _share(self.client, jobs)
            futures = [
                self.client.submit(function, *(shared.get(id(argument), argument) for argument in job), pure=False)
                for job in jobs
            ]
            try:
                while futures:
                    yield self._wait_for(futures[0])
                    # Let go of it: the cluster keeps what somebody still holds.
                    del futures[0]
            finally:
                if self.client.status == "running":
                    self.client.cancel(futures)

    def _wait_for(self, future: Any) -> Any:
        while not future.done():
            try:
                return future.result(timeout=SECONDS_TO_ANSWER)
            except TimeoutError:
                if not self.client.nthreads():
                    self.client.wait_for_workers(1, timeout=SECONDS_WITHOUT_WORKERS)
        return future.result()


def _share(client: Any, jobs: Sequence[Job]) -> dict[int, Any]:
    """Return, by id, what several jobs take, as values that the cluster passes from worker to worker.

    Each is itself a task, and so is made again when the workers that have it die; scattered data would be lost.
    """
    counts = Counter(key for job in jobs for key in {id(argument) for argument in job})
    arguments = {id(argument): argument for job in jobs for argument in job}
    return {
        key: client.submit(pickle.loads, pickle.dumps(argument, pickle.HIGHEST_PROTOCOL), pure=False)
        for key, argument in arguments.items()
        if counts[key] > 1 and not isinstance(argument, str | int | float | None)
    }


@contextmanager
def _explained(address: str) -> Iterator[None]:
    """Say in one sentence what happened to a cluster; what a task raised is raised as it is."""
    from distributed import CancelledError, KilledWorker
    from distributed.comm.core import CommClosedError

    try:
        yield
    except KilledWorker as error:
        deaths = error.allowed_failures + 1
        raise InputError(
            f"the cluster {address} gave up a task with which {deaths} workers died, perhaps for want of memory"
        ) from None
    except (CancelledError, CommClosedError):
        raise InputError(f"the scheduler {address} went away; what was finished is kept, run again") from None
    except TimeoutError as error:
        raise InputError(f"the cluster {address} is at a standstill: {str(error).splitlines()[0]}") from None


def _connect(address: str) -> Cluster:
    local = re.fullmatch(r"local:([1-9]\d*)", address)
    if not local and not re.fullmatch(r"(tcp|tls)://\S+:\d+", address):
        raise InputError(f"cluster is '{address}', expected tcp://HOST:PORT, tls://HOST:PORT or local:WORKERS")
    try:
        from distributed import Client, LocalCluster
    except ImportError:
        raise InputError("cluster= needs Dask, which pip install 'cams[cluster]' brings") from None
    # Its warnings tell how it copes with what `_explained` tells when it does not.
    logging.getLogger("distributed").setLevel(logging.CRITICAL)
    if local:
        quiet = {"dashboard_address": None, "silence_logs": logging.CRITICAL}
        return Cluster(address, Client(LocalCluster(n_workers=int(local[1]), threads_per_worker=1, **quiet)))
    try:
        client = Client(address, timeout=SECONDS_TO_ANSWER)
    except (OSError, ValueError) as error:
        raise InputError(f"no scheduler answers at {address}: {str(error).splitlines()[0]}") from None
    try:
        client.wait_for_workers(1, timeout=SECONDS_TO_ANSWER)
    except TimeoutError:
        client.close()
        raise InputError(f"the scheduler {address} has no worker") from None
    return Cluster(address, client)


def versions() -> dict[str, str]:
    """Return what results may depend on, as this process has it."""
    packages = ("cams", "numpy", "numba", "scikit-learn")
    return {"python": platform.python_version()} | {name: version(name) for name in packages}


def _require_same_versions(client: Any) -> None:
    here = versions()
    for worker, there in client.run(versions).items():
        for name, needed in here.items():
            if there[name] != needed:
                raise InputError(f"worker {worker} has {name} {there[name]}, here it is {needed}")
