"""The hyperbolic tangent in single precision, as a fraction of polynomials."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba.extending import register_jitable

from corpus.kernels.compiled import Array, compiled
from taggers.networks.tiles import Vector

#: Beyond this absolute value, the hyperbolic tangent is 1 in single precision.
_SATURATED = np.float32(7.9)

#: Coefficients of x P(x²) / Q(x²), the minimax approximation of tanh(x) up to `_SATURATED`, with a
#: relative error of 6e-9 before rounding. They minimise the largest of the relative errors at 4,000
#: Chebyshev nodes, by least squares that are weighted anew until the errors are equal.
_P0, _P1, _P2, _P3, _P4 = map(
    np.float32,
    (
        0.9999999943496477,
        0.13450623127266648,
        0.0035789950764524374,
        2.202329626895227e-05,
        1.54280462225179e-08,
    ),
)
_Q1, _Q2, _Q3, _Q4 = map(
    np.float32,
    (0.46783951128129847, 0.026192249506468198, 0.00034236555780285194, 8.598809562987777e-07),
)
_ONE = np.float32(1)


@register_jitable
def _polynomials(z: Any) -> tuple[Any, Any]:
    """Compute P(z) and Q(z): of numbers in compiled functions, of vectors in generated code."""
    p = (((z * _P4 + _P3) * z + _P2) * z + _P1) * z + _P0
    q = (((z * _Q4 + _Q3) * z + _Q2) * z + _Q1) * z + _ONE
    return p, q


def tanh_fraction(x: Vector) -> tuple[Vector, Vector]:
    """Compute the numerators and the denominators of hyperbolic tangents in generated code."""
    x = x.clipped(_SATURATED)
    p, q = _polynomials(x * x)
    return x * p, q


@compiled("float32[::1]", vectorised=True)
def tanh_in_place(values: Array) -> None:
    """Replace values by their hyperbolic tangents, with an absolute error of about 4e-7."""
    for index in range(len(values)):
        x = values[index]
        x = -_SATURATED if x < -_SATURATED else x
        x = _SATURATED if x > _SATURATED else x
        p, q = _polynomials(x * x)
        values[index] = x * p / q
