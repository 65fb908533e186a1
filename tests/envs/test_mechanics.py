"""The mechanical worlds against the Lagrangian of their parts."""

import numpy as np
import pytest
from energies import cart_pole_energies, jacobian, rod
from gymnasium.utils.env_checker import check_env
from scipy.integrate import solve_ivp
from scipy.linalg import solve_discrete_are

from cmerl.envs import PetsCartPole, PilcoCartPole, PilcoDoublePendulum, pets_cart_pole, pilco_cart_pole
from cmerl.envs.mechanics import CartPole

WORLDS = [PetsCartPole, PilcoCartPole, PilcoDoublePendulum]
STATES = [(0.3, -0.7, 2.0, -1.5), (-0.2, 1.1, 0.4, 3.0), (1.0, 0.0, -2.6, 0.5)]


# --- an independent derivation: the positions of the parts, and Lagrange's equations by finite differences


def lagrangian(energies, q, v):
    kinetic, potential = energies(q, v)
    return kinetic - potential


def accelerations(energies, q, v, forces, eps=1e-4):
    """Of coordinates q (2,) at speeds v (2,): M q̈ = ∂L/∂q − (d/dq ∂L/∂v) v + forces."""

    def slope(function, at):
        steps = eps * np.eye(2)
        return np.array([(function(at + h) - function(at - h)) / (2 * eps) for h in steps])

    def momentum(q, v):
        return slope(lambda u: lagrangian(energies, q, u), v)

    mass = slope(lambda u: momentum(q, u), v)
    carried = slope(lambda p: momentum(p, v), q).T @ v
    return np.linalg.solve(mass, slope(lambda p: lagrangian(energies, p, v), q) - carried + forces)


def double_pendulum_energies(q, v):
    m, l, g = 0.5, 0.5, 9.82  # noqa: E741
    parts = m, l / 2, m * l**2 / 12, g
    inner = rod(np.zeros(2), np.zeros(2), q[0], v[0], *parts)
    joint = l * np.array([np.sin(q[0]), np.cos(q[0])])
    joint_speed = l * v[0] * np.array([np.cos(q[0]), -np.sin(q[0])])
    outer = rod(joint, joint_speed, q[1], v[1], *parts)
    return inner[0] + outer[0], inner[1] + outer[1]


def by_lagrange(world, state, action):
    """The derivative of a world's state, from its energies."""
    state = np.asarray(state)
    if world is PilcoDoublePendulum:
        return np.append(state[2:], accelerations(double_pendulum_energies, state[:2], state[2:], action))
    body = pets_cart_pole.BODY if world is PetsCartPole else pilco_cart_pole.BODY
    force = (100.0 if world is PetsCartPole else 1.0) * action[0]
    q, v = state[[0, 2]], state[[1, 3]]
    forces = np.array([force - body.friction * v[0], -body.hinge_friction * v[1]])
    found = accelerations(cart_pole_energies(body), q, v, forces)
    return np.array([v[0], found[0], v[1], found[1]])


@pytest.mark.parametrize("world", WORLDS)
@pytest.mark.parametrize("state", STATES)
def test_the_equations_of_motion_are_lagranges(world, state):
    action = np.array([1.3, -0.6])[: world().action_space.shape[0]]
    found = world().derivative(np.array(state), action)
    np.testing.assert_allclose(found, by_lagrange(world, state, action), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("world", WORLDS)
def test_a_step_is_the_solution_of_the_equations(world):
    env, action = world(), np.array([0.8, -0.5])[: world().action_space.shape[0]]
    state = np.array(STATES[0])
    exact = solve_ivp(lambda t, s: by_lagrange(world, s, action), (0.0, env.seconds), state, rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(env.move(state, action), exact.y[:, -1], atol=2e-5)


def test_energy_stays_without_friction_and_force():
    body = CartPole(0.5, 0.5, 0.25, 0.5 * 0.5**2 / 12, gravity=9.82)
    cart, links = np.array([0.0, 0.4, 2.0, -3.0]), np.array([2.0, -2.5, 1.0, 4.0])

    def cart_energy(state):
        return sum(cart_pole_energies(body)(state[[0, 2]], state[[1, 3]]))

    def link_energy(state):
        return sum(double_pendulum_energies(state[:2], state[2:]))

    class Free(PilcoCartPole):
        def derivative(self, state, action):
            return body.derivative(state, 0.0)

    before = cart_energy(cart), link_energy(links)
    for _ in range(40):
        cart, links = Free().move(cart, np.zeros(1)), PilcoDoublePendulum().move(links, np.zeros(2))
    assert cart_energy(cart) == pytest.approx(before[0], abs=1e-4)
    assert link_energy(links) == pytest.approx(before[1], abs=1e-3)


@pytest.mark.parametrize("world", WORLDS)
def test_upright_and_hanging_are_equilibria(world):
    for angle in (0.0, np.pi):
        env = world()
        state = np.array([angle, angle, 0, 0]) if world is PilcoDoublePendulum else np.array([0.5, 0, angle, 0])
        still = np.zeros(env.action_space.shape)
        np.testing.assert_allclose(env.derivative(state, still), 0.0, atol=1e-13)
        growth = np.linalg.eigvals(
            jacobian(lambda s, env=env, still=still: env.derivative(s, still), state)
        ).real.max()
        assert (growth > 1.0) == (angle == 0.0)  # upright falls, hanging does not


def test_linearised_a_free_cart_pole_falls_at_its_rate():
    """Upright without friction: λ² = (M + m) m c g / ((M + m)(I + mc²) − m²c²)."""
    body = CartPole(0.5, 0.5, 0.25, 0.5 * 0.5**2 / 12, gravity=9.82)
    found = np.linalg.eigvals(jacobian(lambda s: body.derivative(s, 0.0), np.zeros(4))).real.max()
    swing = body.inertia + 0.5 * 0.25**2
    assert found == pytest.approx(np.sqrt(1.0 * 0.125 * 9.82 / (1.0 * swing - 0.125**2)), rel=1e-6)


@pytest.mark.parametrize("world", WORLDS)
def test_a_linear_regulator_keeps_it_up(world):
    """The regulator comes from finite differences of the step itself: all signs agree."""
    env = world()
    k = env.action_space.shape[0]
    still, origin = np.zeros(k), np.zeros(4)
    A = jacobian(lambda s: env.move(s, still), origin)
    B = jacobian(lambda a: env.move(origin, a), still)
    P = solve_discrete_are(A, B, np.eye(4), np.eye(k))
    gain = np.linalg.solve(np.eye(k) + B.T @ P @ B, B.T @ P @ A)
    _, info = env.reset(seed=0, options={"state": np.full(4, 0.02)})
    paid = []
    for _ in range(env.horizon):
        action = np.clip(-gain @ info["state"], env.action_space.low, env.action_space.high)
        _, reward, ended, _, info = env.step(action)
        paid.append(reward)
        assert not ended
    assert np.mean(paid) > 0.98


@pytest.mark.filterwarnings("ignore:.*infinity")  # speeds have no bound
@pytest.mark.filterwarnings("ignore:.*normalized space")  # actions are in the papers' units
@pytest.mark.parametrize("world", WORLDS)
def test_gymnasiums_checker_has_no_complaint(world):
    check_env(world(), skip_render_check=True)  # warnings are errors


@pytest.mark.parametrize(("world", "horizon"), [*zip(WORLDS, [200, 40, 50], strict=True)])
def test_episodes_start_hanging_and_repeat_by_seed(world, horizon):
    assert world().horizon == horizon

    def play(seed, noise=0.0):
        env = world(noise=noise)
        action = np.full(env.action_space.shape, 0.3)
        seen = [env.reset(seed=seed)[0]]
        seen += [env.step(action)[0] for _ in range(4)]
        return np.array(seen)

    np.testing.assert_array_equal(play(3), play(3))
    assert not np.array_equal(play(3), play(4))
    starts = np.array([world().reset(seed=seed)[1]["state"] for seed in range(200)])
    rest, spread = world().rest, world().spread
    np.testing.assert_allclose(starts.mean(axis=0), rest, atol=0.03)
    np.testing.assert_allclose(starts.std(axis=0), np.broadcast_to(spread, 4), rtol=0.2)
