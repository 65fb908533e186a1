"""PetsCartPole: MuJoCo's motion, the ends of its track, friction and rewards by hand."""

import gymnasium
import numpy as np
import pytest
from energies import cart_pole_energies

from cmerl.envs import PetsCartPole, pets_cart_pole


def test_friction_takes_energy():
    body = pets_cart_pole.BODY
    env, state = PetsCartPole(), np.array([0.0, 1.0, 2.0, 3.0])
    energies = []
    for _ in range(50):
        energies.append(sum(cart_pole_energies(body)(state[[0, 2]], state[[1, 3]])))
        state = env.move(state, np.zeros(1))
    assert (np.diff(energies) < 0).all()


MODEL = """
<mujoco><option gravity="0 0 -9.81" integrator="RK4" timestep="0.02"/><default><geom contype="0"/></default>
<worldbody><body><joint name="slide" type="slide" axis="1 0 0" damping="1"/>
  <geom type="capsule" size="0.1 0.1"/>
  <body><joint name="hinge" type="hinge" axis="0 1 0" damping="1"/>
    <geom type="capsule" fromto="0 0 0 0 0 0.6" size="0.049"/></body></body></worldbody>
<actuator><motor joint="slide" gear="100" ctrlrange="-3 3" ctrllimited="true"/></actuator></mujoco>
"""


def test_pets_cart_pole_moves_as_in_mujoco():
    import mujoco

    model = mujoco.MjModel.from_xml_string(MODEL)
    np.testing.assert_allclose(model.body_mass[1:], [pets_cart_pole.CART, pets_cart_pole.POLE], rtol=1e-12)
    data, env, rng = mujoco.MjData(model), PetsCartPole(), np.random.default_rng(0)
    state = np.array([0.1, -0.2, np.pi - 0.3, 0.5])
    data.qpos[:], data.qvel[:] = state[[0, 2]], state[[1, 3]]
    env.constrain = lambda state: state  # MuJoCo's ends are soft: the comparison has none
    for _ in range(50):
        action = rng.uniform(-1, 1, 1)
        data.ctrl[:] = action
        mujoco.mj_step(model, data, nstep=2)
        state = env.move(state, action)
        np.testing.assert_allclose(state, [data.qpos[0], data.qvel[0], data.qpos[1], data.qvel[1]], atol=1e-8)


def test_an_end_of_the_track_stops_the_cart_and_leaves_the_pole_its_momentum():
    body, state = pets_cart_pole.BODY, np.array([2.6, 3.0, 0.7, -1.0])
    stopped = body.stop(state, 2.5)
    swing = body.inertia + body.pole * body.centre**2

    def momentum(s):  # of the pole, about the hinge
        return swing * s[3] + body.pole * body.centre * np.cos(s[2]) * s[1]

    assert stopped[:2].tolist() == [2.5, 0.0]
    assert momentum(stopped) == pytest.approx(momentum(state))
    assert sum(cart_pole_energies(body)(stopped[[0, 2]], stopped[[1, 3]])) < sum(
        cart_pole_energies(body)(state[[0, 2]], state[[1, 3]])
    )
    back = np.array([-2.6, 3.0, 0.7, -1.0])  # a cart that already moves inwards keeps its speed
    np.testing.assert_array_equal(body.stop(back, 2.5), [-2.5, 3.0, 0.7, -1.0])
    env = gymnasium.make("cmerl/PetsCartPole-v0")
    env.reset(seed=0)
    for _ in range(60):
        obs, *_ = env.step(np.array([3.0]))
        assert obs in env.observation_space
    assert obs[0] == 2.5


def test_rewards_by_hand():
    up, down = np.array([0.0, 0, 1, 0, 0]), np.array([0.0, 0, -1, 0, 0])
    paid = PetsCartPole.reward(down, np.array([[2.0], [0.0]]), np.array([up, down]))
    np.testing.assert_allclose(paid, [1 - 0.04, np.exp(-4.0)])


def test_a_capsule_has_the_moments_of_its_points():
    """Sums over a fine grid of points that lie in the capsule."""
    radius, length = 0.3, 0.8
    side = np.linspace(-0.7, 0.7, 141)
    x, y, z = np.meshgrid(side, side, side, indexing="ij", sparse=True)
    inside = x**2 + y**2 + np.maximum(abs(z) - length / 2, 0.0) ** 2 <= radius**2
    cell = pets_cart_pole.DENSITY * (side[1] - side[0]) ** 3
    mass, inertia = pets_cart_pole.capsule(radius, length)
    assert mass == pytest.approx(cell * inside.sum(), rel=0.01)
    assert inertia == pytest.approx(cell * (inside * (x**2 + z**2)).sum(), rel=0.01)
