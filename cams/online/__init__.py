"""The online API: your own models, one instance at a time, labels whenever they come.

selector = Selector(models=["cnn", "forest"], policies=["router"], num_classes=10, budget=500, seed=0)
decision = selector.step(predictions, advice)
if decision.query:
    selector.label(decision.ticket, y)   # now, or many rounds later
"""

from cams.online.decision import Decision
from cams.online.selector import Selector

__all__ = ["Decision", "Selector"]
