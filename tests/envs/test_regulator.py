"""Regulator: its physics and its optimum."""

from __future__ import annotations

import numpy as np
import pytest

from cmerl.envs import Regulator
from cmerl.errors import InputError
from cmerl.oracles import solve


class TestRegulator:
    def test_the_mean_is_linear_in_the_features_everywhere(self) -> None:
        env = Regulator()
        for state, action in (((1.0, 1.0), 2), ((-1.0, -1.0), 0), ((0.2, -0.7), 1)):
            met = []
            for seed in range(2500):
                env.reset(seed=seed, options={"state": state})
                met.append(env.step(action)[0])
            x, v = state
            phi = np.array([x, v, np.sin(np.pi * x), action - 1.0])
            np.testing.assert_allclose(np.mean(met, axis=0), np.array(env.dynamics.W) @ phi, atol=0.0015)
            np.testing.assert_allclose(np.std(met, axis=0), 0.02, rtol=0.08)

    def test_the_norm_of_its_operator_is_what_least_squares_find(self) -> None:
        env, rng = Regulator(), np.random.default_rng(0)
        states, actions = rng.uniform(-1, 1, (300, 2)), rng.integers(3, size=300)
        phi = np.vstack([env.dynamics.features(s[None], a) for s, a in zip(states, actions, strict=True)])
        mean = np.vstack([env.dynamics.mean_next(s[None], a) for s, a in zip(states, actions, strict=True)])
        found = np.linalg.lstsq(phi, mean, rcond=None)[0]
        assert env.operator_norm == pytest.approx(np.linalg.norm(found))

    def test_playing_the_oracles_policy_earns_what_it_says(self) -> None:
        env = Regulator(horizon=15, start=(0.0, 0.0))
        solution = solve(env, 15)
        returns = []
        for seed in range(200):
            obs, total = env.reset(seed=seed)[0], 0.0
            for step in range(15):
                obs, reward, *_ = env.step(int(np.argmax(solution.q(obs, step))))
                total += reward
            returns.append(total)
        error = np.std(returns) / np.sqrt(200)
        assert abs(np.mean(returns) - solution.value(env.start)) < 4 * error + 0.02 * solution.value(env.start)

    def test_what_would_leave_the_square_is_refused(self) -> None:
        with pytest.raises(InputError, match="outside of the square"):
            Regulator(noise=0.1)
        with pytest.raises(InputError, match="W must be a finite array"):
            Regulator(W=np.eye(2))
        with pytest.raises(InputError, match="must lie in the square"):
            Regulator(start=(2.0, 0.0))
