"""Which model and which actor the data ask for: candidates, one score each, and one rule for switching.

Models are scored by held-out predictions of next states, ways to act by their returns in simulation. A challenger
replaces what it is compared with if its paired gain exceeds the standard error of that gain, and what simulations are
known to be wrong by.
"""

from cmerl.model_selection.actors import Choice, choose_actor, planning_discount, returns_within
from cmerl.model_selection.models import displacement_is_better
from cmerl.model_selection.rule import Selection

__all__ = ["Choice", "Selection", "choose_actor", "displacement_is_better", "planning_discount", "returns_within"]
