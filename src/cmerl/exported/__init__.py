"""Exported policies: one small file, which needs NumPy only.

>>> import gymnasium, cmerl, tempfile, os
>>> policy = cmerl.CMERL(gymnasium.make("cmerl/RiverSwim-v0")).learn(20).policy(explore=False)
>>> path = os.path.join(tempfile.mkdtemp(), "swim.policy")
>>> policy.export(path)
>>> cmerl.load_policy(path)(0, 0) == policy(0, 0)
True
"""

from __future__ import annotations

from cmerl.exported.policies import ExportedPolicy, load

__all__ = ["ExportedPolicy", "load"]
