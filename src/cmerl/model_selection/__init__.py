"""Model selection and actor selection: candidates, scores, and one rule for switching.

Models are scored by held-out predictions of next states, actors by simulated returns. A challenger replaces the
present choice if its paired gain exceeds its standard error.
"""

from cmerl.model_selection.actors import Choice, choose_actor
from cmerl.model_selection.models import displacement_is_better
from cmerl.model_selection.rule import Selection
from cmerl.model_selection.selector import MODELS, Selector

__all__ = ["MODELS", "Choice", "Selection", "Selector", "choose_actor", "displacement_is_better"]
