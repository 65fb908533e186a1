"""Energies of rods on moving pivots, and slopes by differences."""

from __future__ import annotations

import numpy as np


def rod(pivot, pivot_speed, angle, turn, mass, centre, inertia, gravity):
    """Energies of a rod that stands on a moving pivot, by where its centre is and how fast that moves."""
    place = pivot + centre * np.array([np.sin(angle), np.cos(angle)])
    speed = pivot_speed + centre * turn * np.array([np.cos(angle), -np.sin(angle)])
    return mass * speed @ speed / 2 + inertia * turn**2 / 2, mass * gravity * place[1]


def cart_pole_energies(body):
    def energies(q, v):
        pole = rod(
            np.array([q[0], 0.0]),
            np.array([v[0], 0.0]),
            q[1],
            v[1],
            body.pole,
            body.centre,
            body.inertia,
            body.gravity,
        )
        return body.cart * v[0] ** 2 / 2 + pole[0], pole[1]

    return energies


def jacobian(function, at, eps=1e-5):
    return np.array([(function(at + h) - function(at - h)) / (2 * eps) for h in eps * np.eye(len(at))]).T
