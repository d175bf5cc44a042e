"""All stages in one process, without DVC.

python -m data_prep.all dataset=vertebral scale=smoke paths.work=out/data paths.results=out/results
"""

from data_prep import bundle, classifiers, fetch, labels, policies, split
from data_prep.pipeline.stage import entry_point

main = entry_point(fetch.run, split.run, classifiers.run, policies.run, bundle.run, labels.run)

if __name__ == "__main__":
    main()
