"""Regions of chemical space: k-means on the leading singular vectors of the MACCS keys."""

import numpy as np
from sklearn.cluster import KMeans
from sklearn.decomposition import TruncatedSVD
from threadpoolctl import threadpool_limits

from data_prep.datasets.hiv.features import Molecules, unpack
from data_prep.pipeline.context import Context
from data_prep.pipeline.dataset import Split


def regions_of(molecules: Molecules, split: Split, context: Context) -> np.ndarray:
    """(N,) region number of every molecule, 0 the largest. Fitted on classifier rows alone, labels unused."""
    settings = context.settings.regions
    keys = unpack(molecules.fingerprints["maccs"], "maccs")
    seed = context.integer_seed("regions")
    # With several threads sums are rounded otherwise, and hundreds of molecules change their region.
    with threadpool_limits(1):
        directions = TruncatedSVD(settings.dimensions, random_state=seed).fit(keys[split.classifier_rows])
        places = directions.transform(keys)
        clusters = KMeans(settings.count, n_init=4, random_state=seed).fit(places[split.classifier_rows])
        nearest = clusters.predict(places)
    sizes = np.bincount(clusters.labels_, minlength=settings.count)
    number_of = np.argsort(np.argsort(-sizes, kind="stable"))
    return number_of[nearest]
