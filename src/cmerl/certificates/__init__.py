"""Certificates: what a plan and its data prove."""

from cmerl.certificates.evidence import Certifier, estimate_constants, realised_excess, regret_bound
from cmerl.certificates.ledger import Certificate, Ledger
from cmerl.certificates.pac import PacPolicy, check_request, says, statement
from cmerl.certificates.proofs import HOLDS, Grounds, Proofs

__all__ = [
    "HOLDS",
    "Certificate",
    "Certifier",
    "Grounds",
    "Ledger",
    "PacPolicy",
    "Proofs",
    "check_request",
    "estimate_constants",
    "realised_excess",
    "regret_bound",
    "says",
    "statement",
]
