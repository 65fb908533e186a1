"""Cautious exploration: limits, forecasts, and fallbacks."""

from cmerl.safety.caution import Caution, Intervention
from cmerl.safety.finite import finite_risk, known_laws
from cmerl.safety.forecast import Forecast
from cmerl.safety.given import as_cost, as_fallback, as_mask
from cmerl.safety.limits import Limits
from cmerl.safety.supervisor import Plans, Supervisor, Watch

__all__ = [
    "Caution",
    "Forecast",
    "Intervention",
    "Limits",
    "Plans",
    "Supervisor",
    "Watch",
    "as_cost",
    "as_fallback",
    "as_mask",
    "finite_risk",
    "known_laws",
]
