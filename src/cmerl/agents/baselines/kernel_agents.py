"""The catalogue of linear and kernel agents and of agents for dynamical systems."""

from __future__ import annotations

from cmerl.agents.base import Agent
from cmerl.agents.baselines.embedding_sampling import EmbeddingSampling
from cmerl.agents.baselines.igp_ucb import IGPUCB
from cmerl.agents.baselines.kernel_rlsvi import KernelRLSVI
from cmerl.agents.baselines.kernel_ucbvi import KernelUCBVI, RepresentativeKernelUCBVI
from cmerl.agents.baselines.kovi import KOVI
from cmerl.agents.baselines.lc3 import LC3
from cmerl.agents.baselines.linear_quadratic import CertaintyEquivalentLQ, OptimisticLQ
from cmerl.agents.baselines.lsvi_ucb import LSVIUCB
from cmerl.agents.baselines.matrix_rl import MatrixRL
from cmerl.agents.baselines.ucrl_vtr import UCRLVTR

LINEAR_AND_KERNEL: tuple[type[Agent], ...] = (
    LSVIUCB,
    KOVI,
    KernelUCBVI,
    RepresentativeKernelUCBVI,
    MatrixRL,
    UCRLVTR,
    IGPUCB,
    KernelRLSVI,
    EmbeddingSampling,
)
DYNAMICAL: tuple[type[Agent], ...] = (LC3, CertaintyEquivalentLQ, OptimisticLQ)
