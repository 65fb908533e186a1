"""Small plants that are in no suite, written to look for faults; `fresh_worlds.py` plays them."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

Array = NDArray[np.float64]


class Plant(gymnasium.Env[Array, Any]):
    """Equations as ``motion``, noise on every state, and a horizon."""

    horizon = 100
    episodes = 15
    actions: spaces.Space[Any] = spaces.Box(-1.0, 1.0, (1,), np.float64)
    noise: Array | float = 0.0
    bounds: tuple[float, float] = (-np.inf, np.inf)

    def __init__(self) -> None:
        size = len(self.shown(self.start(np.random.default_rng(0))))
        self.observation_space = spaces.Box(*self.bounds, (size,), np.float64)
        self.action_space = self.actions

    def start(self, rng: np.random.Generator) -> Array:
        """A first state."""
        raise NotImplementedError

    def motion(self, x: Array, u: Array) -> tuple[Array, float, bool]:
        """The next state before noise, the reward, and whether the episode ends."""
        raise NotImplementedError

    def shown(self, x: Array) -> Array:
        """The observation of a state."""
        return x

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Array, dict[str, Any]]:
        super().reset(seed=seed)
        self.x = self.start(self.np_random)
        return self.shown(self.x), {}

    def step(self, action: Any) -> tuple[Array, float, bool, bool, dict[str, Any]]:
        y, reward, ended = self.motion(self.x, np.atleast_1d(np.asarray(action, dtype=np.float64)))
        self.x = y + self.noise * self.np_random.normal(size=y.shape) if np.any(self.noise) else y
        return self.shown(self.x), float(reward), bool(ended), False, {}


class TwoTanks(Plant):
    """A pump fills one tank, which fills another; the second level should be 12."""

    horizon, noise = 120, 0.05
    actions = spaces.Box(0.0, 10.0, (1,), np.float64)

    def start(self, rng: np.random.Generator) -> Array:
        return np.array([rng.uniform(2, 6), rng.uniform(1, 4)])

    def motion(self, x: Array, u: Array) -> tuple[Array, float, bool]:
        first, second = np.maximum(x, 0.0)
        for _ in range(4):
            over, out = 0.9 * np.sqrt(first), 0.8 * np.sqrt(second)
            first, second = max(first + 0.25 * (0.55 * u[0] - over), 0.0), max(second + 0.25 * (over - out), 0.0)
        reward = -abs(second - 12.0) / 4.0 - 0.002 * u[0] ** 2 - 5.0 * (first > 25.0)
        return np.array([first, second]), reward, False


class Quadrotor(Plant):
    """A quadrotor in the plane should hover at the origin; far away or upside down it has crashed."""

    horizon = 120
    actions = spaces.Box(-1.0, 1.0, (2,), np.float64)

    def start(self, rng: np.random.Generator) -> Array:
        return np.concatenate([rng.uniform(-1, 1, 2), np.zeros(4)]) + 0.01 * rng.normal(size=6)

    def motion(self, x: Array, u: Array) -> tuple[Array, float, bool]:
        px, py, angle, vx, vy, spin = x
        lift = 9.81 * (1.0 + 0.25 * (u[0] + u[1]))
        vx, vy = vx - 0.05 * lift * np.sin(angle), vy + 0.05 * (lift * np.cos(angle) - 9.81)
        spin = spin + 0.05 * 5.0 * (u[0] - u[1])
        px, py, angle = px + 0.05 * vx, py + 0.05 * vy, angle + 0.05 * spin
        crashed = abs(px) > 3 or abs(py) > 3 or abs(angle) > 1.5
        return np.array([px, py, angle, vx, vy, spin]), np.exp(-(px**2) - py**2) - 0.01 * float(u @ u), crashed


class BallAndBeam(Plant):
    """A ball should stay in the middle of a beam that a motor tilts; it may fall off."""

    episodes = 12

    def start(self, rng: np.random.Generator) -> Array:
        return np.array([rng.uniform(-0.4, 0.4), 0.0, 0.0, 0.0])

    def motion(self, x: Array, u: Array) -> tuple[Array, float, bool]:
        p, v, tilt, w = x
        for _ in range(2):
            v += 0.025 * (0.7 * p * w**2 - 7.0 * np.sin(tilt))
            p += 0.025 * v
            w += 0.025 * (8.0 * u[0] - 2.0 * w)
            tilt = float(np.clip(tilt + 0.025 * w, -0.6, 0.6))
        return np.array([p, v, tilt, w]), 1.0 - abs(p) - 0.05 * u[0] ** 2, abs(p) > 1.0


class Fishery(Plant):
    """Two species, of which one eats the other and is fished with one of five efforts, until it dies out."""

    horizon, episodes, noise = 60, 20, 0.01
    actions = spaces.Discrete(5)

    def start(self, rng: np.random.Generator) -> Array:
        return np.array([rng.uniform(0.6, 1.0), rng.uniform(0.2, 0.5)])

    def motion(self, x: Array, u: Array) -> tuple[Array, float, bool]:
        (a, b), effort = np.maximum(x, 0.0), u[0] / 4.0
        catch = 0.5 * effort * a
        y = np.maximum([a + 0.6 * a * (1 - a) - 0.5 * a * b - catch, b + 0.4 * a * b - 0.15 * b], 0.0)
        return y, 10.0 * catch - effort, y[0] < 0.05


class RotaryPendulum(Plant):
    """A pendulum on a turning arm, to be swung up (Furuta); angles are shown as cosines and sines."""

    horizon = 200

    def start(self, rng: np.random.Generator) -> Array:
        return np.array([0.0, np.pi, 0.0, 0.0]) + 0.02 * rng.normal(size=4)

    def shown(self, x: Array) -> Array:
        return np.array([np.cos(x[0]), np.sin(x[0]), np.cos(x[1]), np.sin(x[1]), x[2], x[3]])

    def motion(self, x: Array, u: Array) -> tuple[Array, float, bool]:
        arm, angle, w, v = x
        for _ in range(4):
            push = 12.0 * u[0] - w
            pull = 25.0 * np.sin(angle) - 0.2 * v - 2.0 * np.cos(angle) * push
            w, v = w + 0.01 * push, v + 0.01 * pull
            arm, angle = arm + 0.01 * w, angle + 0.01 * v
        return np.array([arm, angle, w, v]), (1 + np.cos(angle)) / 2 - 0.002 * w**2 - 0.01 * u[0] ** 2, False


class Glucose(Plant):
    """Insulin should keep blood sugar between 80 and 140 (Bergman's minimal model); below 40 is an emergency."""

    horizon, noise = 96, np.array([3.0, 1e-5, 0.02])
    actions = spaces.Box(0.0, 30.0, (1,), np.float64)

    def start(self, rng: np.random.Generator) -> Array:
        return np.array([rng.uniform(120, 240), 0.0, 7.0])

    def motion(self, x: Array, u: Array) -> tuple[Array, float, bool]:
        sugar, effect, insulin = x
        for _ in range(15):
            sugar, effect, insulin = (
                sugar - (0.01 + effect) * sugar + 2.2,
                effect - 0.025 * effect + 1.3e-5 * (insulin - 7.0),
                insulin - 0.09 * (insulin - 7.0) + u[0] / 12.0,
            )
        low = sugar < 40.0
        reward = float(80.0 < sugar < 140.0) - abs(sugar - 110.0) / 200.0 - 20.0 * low
        return np.array([sugar, effect, insulin]), reward, low


class PointGoal(Plant):
    """A point is pushed about the plane; a small goal pays and ends the episode."""

    horizon = 80
    actions = spaces.Box(-1.0, 1.0, (2,), np.float64)

    def start(self, rng: np.random.Generator) -> Array:
        return 0.05 * rng.normal(size=4)

    def motion(self, x: Array, u: Array) -> tuple[Array, float, bool]:
        v = 0.9 * x[2:] + 0.02 * u
        p = np.clip(x[:2] + v, -1.5, 1.5)
        there = bool(np.hypot(*(p - np.array([1.0, 0.8]))) < 0.15)
        return np.concatenate([p, v]), 10.0 if there else -0.01 * float(u @ u), there


class NoisyPoint(Plant):
    """A point is pushed about by the wind and by an effort that costs; one place pays, and no episode ends."""

    horizon, episodes, noise = 60, 12, np.array([0.005, 0.005, 0.004, 0.004])
    actions = spaces.Box(-1.0, 1.0, (2,), np.float64)

    def start(self, rng: np.random.Generator) -> Array:
        return np.concatenate([0.05 * rng.normal(size=2), np.zeros(2)])

    def motion(self, x: Array, u: Array) -> tuple[Array, float, bool]:
        v = 0.85 * x[2:] + 0.03 * u
        p = np.clip(x[:2] + v, -1.0, 1.0)
        there = bool(np.hypot(*(p - np.array([-0.6, 0.7]))) < 0.25)
        return np.concatenate([p, v]), 1.0 * there - 0.05 * float(u @ u), False


class TwoLevers(Plant):
    """A lever warms a bath, which pays a little; the other charges a coil, which pays a lot once it is full."""

    horizon, episodes = 80, 15
    actions = spaces.Box(-1.0, 1.0, (2,), np.float64)

    def start(self, rng: np.random.Generator) -> Array:
        return np.array([rng.uniform(0.0, 0.1), rng.uniform(0.0, 0.1)])

    def motion(self, x: Array, u: Array) -> tuple[Array, float, bool]:
        warmth, charge = x
        warmth = float(np.clip(0.95 * warmth + 0.1 * max(u[0], 0.0), 0.0, 2.0))
        charge = float(np.clip(charge + 0.04 * u[1] - 0.02 * warmth * charge, 0.0, 1.5))
        return np.array([warmth, charge]), 0.1 * warmth + 2.0 * (charge > 1.0) - 0.02 * float(u @ u), False


class SlowTank(Plant):
    """A feed must be bought now for a culture that grows slowly and pays only when it is dense."""

    horizon, episodes, noise = 100, 12, 0.003
    actions = spaces.Discrete(4)

    def start(self, rng: np.random.Generator) -> Array:
        return np.array([0.1, rng.uniform(0.1, 0.2)])

    def motion(self, x: Array, u: Array) -> tuple[Array, float, bool]:
        food, cells = np.maximum(x, 0.0)
        feed = u[0] / 3.0
        eaten = 0.3 * food * cells
        y = np.array([0.97 * food + 0.1 * feed - eaten, cells * 0.985 + 0.6 * eaten])
        return np.clip(y, 0.0, 3.0), 3.0 * max(cells - 0.6, 0.0) - 0.05 * feed, False


class PerishableStock(Plant):
    """A perishable good: what is ordered arrives a day later and keeps for two days; demand is random."""

    horizon, bounds = 60, (0.0, 30.0)
    actions = spaces.Discrete(11)

    def start(self, rng: np.random.Generator) -> Array:
        return np.array([0.0, 0.0, 4.0])

    def motion(self, x: Array, u: Array) -> tuple[Array, float, bool]:
        old, fresh, ordered = x
        demand = float(self.np_random.poisson(4.0))
        from_old = min(old, demand)
        from_fresh = min(fresh, demand - from_old)
        sold = from_old + from_fresh
        reward = 5.0 * sold - 2.0 * u[0] - (old - from_old) - 2.0 * (demand - sold)
        return np.array([fresh - from_fresh, ordered, u[0]]), reward, False


class ReferencePrice(Plant):
    """A price for customers who remember what they paid, while demand drifts."""

    horizon, episodes, noise = 80, 12, np.array([0.3, 0.0])
    actions = spaces.Box(1.0, 10.0, (1,), np.float64)

    def start(self, rng: np.random.Generator) -> Array:
        return np.array([5.0 + rng.normal(), 5.0])

    def motion(self, x: Array, u: Array) -> tuple[Array, float, bool]:
        (demand, usual), price = x, u[0]
        sold = max(demand - 0.6 * price + usual - price, 0.0)
        return np.array([5.0 + 0.95 * (demand - 5.0), 0.9 * usual + 0.1 * price]), price * sold, False


class TwoQueues(Plant):
    """Customers of two kinds arrive one by one, and are sent to one of two queues or away."""

    horizon, bounds = 100, (0.0, 20.0)
    actions = spaces.Discrete(3)

    def start(self, rng: np.random.Generator) -> Array:
        return np.array([0.0, 0.0, 1.0, 0.0])

    def motion(self, x: Array, u: Array) -> tuple[Array, float, bool]:
        queues, kind, rng = x[:2].copy(), x[2:], self.np_random
        taken = u[0] > 0 and kind.any()
        if taken:
            queues[int(u[0]) - 1] += 1.0
        reward = taken * float(kind @ [2.0, 5.0]) - 0.3 * queues.sum()
        queues = np.clip(queues - (rng.random(2) < [0.35, 0.2]), 0.0, 20.0)
        arrives = rng.random()
        return np.array([*queues, arrives < 0.5, 0.5 <= arrives < 0.8], dtype=np.float64), reward, False


class SlipperyGrid(Plant):
    """A grid of eight by eight cells with two walls, a goal and a pit; one move in ten goes anywhere."""

    horizon, episodes, bounds = 60, 25, (0.0, 7.0)
    actions = spaces.Discrete(4)

    def start(self, rng: np.random.Generator) -> Array:
        return np.zeros(2)

    def motion(self, x: Array, u: Array) -> tuple[Array, float, bool]:
        way = int(self.np_random.integers(4)) if self.np_random.random() < 0.1 else int(u[0])
        y = np.clip(x + [(1, 0), (-1, 0), (0, 1), (0, -1)][way], 0, 7)
        if (y[0] == 2 and y[1] < 6) or (y[0] == 5 and y[1] > 1):
            y = x
        goal, pit = bool(np.all(y == 7)), bool(y[0] == 4 and y[1] == 0)
        return y, 1.0 * goal - 1.0 * pit - 0.02, goal or pit


class ParkedCart(Plant):
    """A cart earns 1 a step where it stands in a small place, and nothing elsewhere."""

    episodes, bounds = 12, (-2.0, 2.0)

    def start(self, rng: np.random.Generator) -> Array:
        return np.array([-0.5 + 0.05 * rng.normal(), 0.0])

    def motion(self, x: Array, u: Array) -> tuple[Array, float, bool]:
        there = abs(x[0] - 0.8) < 0.1 and abs(x[1]) < 0.3
        return np.clip([x[0] + 0.1 * x[1], 0.98 * x[1] + 0.1 * u[0]], -2.0, 2.0), 1.0 * there, False


class WalledRooms(Plant):
    """A point finds its way to a goal through the gaps of two walls; every step costs."""

    horizon, noise, bounds = 120, 0.005, (0.0, 1.0)
    actions = spaces.Box(-1.0, 1.0, (2,), np.float64)

    def start(self, rng: np.random.Generator) -> Array:
        return np.asarray(rng.uniform(0.05, 0.15, 2))

    def motion(self, x: Array, u: Array) -> tuple[Array, float, bool]:
        y = np.clip(x + 0.06 * u, 0.0, 1.0)
        for wall, low, high in ((0.35, 0.7, 1.0), (0.7, 0.0, 0.3)):
            if (x[0] - wall) * (y[0] - wall) <= 0.0 and not low < y[1] < high:
                y = x
        return y, -1.0, bool(np.hypot(*(y - 0.9)) < 0.08)


class FourTanks(Plant):
    """Two pumps fill four tanks crosswise; the lower levels should be 12 and 9, and three sensors show noise only."""

    horizon, noise = 80, np.array([0.05] * 4 + [1.0] * 3)
    episodes = 12
    actions = spaces.Box(0.0, 10.0, (2,), np.float64)

    def start(self, rng: np.random.Generator) -> Array:
        return np.append(rng.uniform(2, 8, 4), rng.normal(size=3))

    def motion(self, x: Array, u: Array) -> tuple[Array, float, bool]:
        levels = np.clip(x[:4], 0.0, 20.0)
        for _ in range(5):
            out = 3.1 * np.sqrt(levels)
            flow = 3.3 * np.array([0.7 * u[0], 0.6 * u[1], 0.4 * u[1], 0.3 * u[0]])
            levels = np.clip(levels + (flow - out + np.append(out[2:], [0.0, 0.0])) / 28, 0.0, 20.0)
        return np.append(levels, 0.5 * x[4:]), -(abs(levels[0] - 12) + abs(levels[1] - 9)) / 10, False


class StickSlip(Plant):
    """A slide with dry friction, to be brought to 0.5 from places all along the rail."""

    episodes = 12

    def start(self, rng: np.random.Generator) -> Array:
        return np.array([rng.uniform(-1, 1), 0.0])

    def motion(self, x: Array, u: Array) -> tuple[Array, float, bool]:
        (place, speed), push = x, 3.0 * float(u[0])
        for _ in range(5):
            if speed == 0.0:
                speed = 0.01 * (push - np.sign(push)) if abs(push) > 1.0 else 0.0
            else:
                faster = speed + 0.01 * (push - 0.8 * np.sign(speed))
                speed = 0.0 if faster * speed < 0.0 and abs(push) < 1.0 else faster
            place = np.clip(place + 0.01 * speed, -3.0, 3.0)
        return np.array([place, speed]), -abs(place - 0.5) - 0.02 * float(u[0]) ** 2, False


class SoftLanding(Plant):
    """A lander with one engine: the ground pays 10, less 5 for every unit of speed, and waiting costs."""

    horizon, noise = 80, np.array([0.0, 0.02])
    actions = spaces.Discrete(2)

    def start(self, rng: np.random.Generator) -> Array:
        return np.array([rng.uniform(8, 12), rng.uniform(-1, 0)])

    def motion(self, x: Array, u: Array) -> tuple[Array, float, bool]:
        speed = x[1] + 0.2 * (3.0 * u[0] - 1.6)
        height = x[0] + 0.2 * speed
        down = height <= 0.0
        return np.array([height, speed]), (10 - 5 * abs(min(speed, 0.0)) if down else 0.0) - 0.05 * u[0] - 0.05, down


def wrapped(angle: float) -> float:
    """An angle between −π and π."""
    return float((angle + np.pi) % (2.0 * np.pi) - np.pi)


class WrappedPendulum(Plant):
    """Gymnasium's pendulum, seen by an angle between −π and π and by its speed."""

    horizon, episodes = 200, 12
    actions = spaces.Box(-2.0, 2.0, (1,), np.float64)

    def start(self, rng: np.random.Generator) -> Array:
        return np.array([rng.uniform(-np.pi, np.pi), rng.uniform(-1, 1)])

    def motion(self, x: Array, u: Array) -> tuple[Array, float, bool]:
        angle, speed = x
        cost = wrapped(angle) ** 2 + 0.1 * speed**2 + 0.001 * u[0] ** 2
        speed = float(np.clip(speed + 0.05 * (15.0 * np.sin(angle) + 3.0 * u[0]), -8.0, 8.0))
        return np.array([angle + 0.05 * speed, speed]), -cost, False

    def shown(self, x: Array) -> Array:
        return np.array([wrapped(x[0]), x[1]])


class TurningPendulum(WrappedPendulum):
    """The same, seen by an angle that counts its turns."""

    def shown(self, x: Array) -> Array:
        return x


class Unicycle(Plant):
    """A cart with a heading between −π and π should drive to the origin."""

    horizon, episodes = 60, 12
    actions = spaces.Box(-1.0, 1.0, (2,), np.float64)

    def start(self, rng: np.random.Generator) -> Array:
        return np.append(rng.uniform(-1, 1, 2), rng.uniform(-np.pi, np.pi))

    def motion(self, x: Array, u: Array) -> tuple[Array, float, bool]:
        heading = x[2] + 0.5 * u[1]
        place = x[:2] + 0.1 * u[0] * np.array([np.cos(heading), np.sin(heading)])
        return np.append(np.clip(place, -2.0, 2.0), heading), -float(np.hypot(*x[:2])), False

    def shown(self, x: Array) -> Array:
        return np.array([x[0], x[1], wrapped(x[2])])


WORLDS = (
    TwoTanks,
    Quadrotor,
    BallAndBeam,
    Fishery,
    RotaryPendulum,
    Glucose,
    PointGoal,
    NoisyPoint,
    TwoLevers,
    SlowTank,
    PerishableStock,
    ReferencePrice,
    TwoQueues,
    SlipperyGrid,
    ParkedCart,
    WalledRooms,
    FourTanks,
    StickSlip,
    SoftLanding,
    WrappedPendulum,
    TurningPendulum,
    Unicycle,
)
