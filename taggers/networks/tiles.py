"""Instructions for tiles of a matrix product, whose sums stay in the registers of the processor.

A tile is a few rows of the product and the columns of a few vector registers. Compiled loops over
arrays load and store every sum at every step; a tile does so once. numba has no vector types, so
that a tile is generated as instructions of LLVM, the compiler behind numba.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from llvmlite import binding, ir
from numba.core import cgutils, types
from numba.extending import intrinsic

from corpus.kernels.compiled import Array, compiled

#: Numbers of single precision in a vector register, and rows of a tile: with 32 registers of 512
#: bits 24 sums, and with 16 of 256 bits 12.
LANES, ROWS = (16, 6) if binding.get_host_cpu_features().get("avx512f") else (8, 3)

#: Vector registers in a row of a tile.
VECTORS = 4

#: Columns of a tile.
PANEL = VECTORS * LANES

_allocate: Any = cgutils.alloca_once  # without annotations
_VECTOR = ir.VectorType(ir.FloatType(), LANES)
_ALIGNMENT = 4  # bytes: rows begin anywhere
_CONTRACT = ("contract",)  # a product and a sum may become one instruction


def panels(weights: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    """Divide the columns of a matrix into panels, and pad the last one with zeros.

    Parameters
    ----------
    weights : ndarray of float32, shape (K, C)

    Returns
    -------
    ndarray of float32, shape (ceil(C / PANEL), K, PANEL)
    """
    rows, columns = weights.shape
    padded = np.pad(weights, ((0, 0), (0, -columns % PANEL)))
    apart = padded.reshape(rows, padded.shape[1] // PANEL, PANEL)
    return np.ascontiguousarray(apart.transpose(1, 0, 2))


class Vector:
    """A vector of `LANES` numbers in generated code.

    Parameters
    ----------
    builder : llvmlite.ir.IRBuilder
        Where instructions are added.
    value : llvmlite.ir.Value
        The vector.
    """

    def __init__(self, builder: Any, value: Any) -> None:
        self._builder = builder
        self.value = value

    def _operand(self, other: Vector | np.float32) -> Any:
        if isinstance(other, Vector):
            return other.value
        return ir.Constant(_VECTOR, [float(other)] * LANES)

    def __add__(self, other: Vector | np.float32) -> Vector:
        sums = self._builder.fadd(self.value, self._operand(other), flags=_CONTRACT)
        return Vector(self._builder, sums)

    def __mul__(self, other: Vector | np.float32) -> Vector:
        products = self._builder.fmul(self.value, self._operand(other), flags=_CONTRACT)
        return Vector(self._builder, products)

    def __truediv__(self, other: Vector) -> Vector:
        return Vector(self._builder, self._builder.fdiv(self.value, other.value))

    def clipped(self, limit: np.float32) -> Vector:
        """Limit the absolute values."""
        value = self.value
        for sign, bound in (("<", -limit), (">", limit)):
            constant = self._operand(bound)
            beyond = self._builder.fcmp_ordered(sign, value, constant)
            value = self._builder.select(beyond, constant, value)
        return Vector(self._builder, value)


class Tile:
    """The generated code of a tile, whose sums are in registers.

    Parameters
    ----------
    context, builder
        The arguments that numba passes to the generator of an intrinsic function.
    rows : int
        Rows of the tile.
    """

    def __init__(self, context: Any, builder: Any, rows: int) -> None:
        self._context = context
        self._builder = builder
        self._sums = [[_allocate(builder, _VECTOR) for _ in range(VECTORS)] for _ in range(rows)]

    def arrays(self, kinds: Sequence[Any], values: Sequence[Any]) -> list[Any]:
        """Return arguments that are arrays, so that `row` and `item` can address them."""
        pairs = zip(kinds, values, strict=True)
        return [
            self._context.make_array(kind)(self._context, self._builder, of) for kind, of in pairs
        ]

    def plus(self, number: Any, more: Any) -> Any:
        """Add an integer, which is a value or known when the code is generated."""
        if isinstance(more, int):
            more = ir.Constant(number.type, more)
        return self._builder.add(number, more)

    def times(self, number: Any, factor: int) -> Any:
        """Multiply an integer value by one that is known when the code is generated."""
        return self._builder.mul(number, ir.Constant(number.type, factor))

    def row(self, matrix: Any, index: Any) -> Any:
        """Return the address of a row of a matrix."""
        begin = self._builder.ptrtoint(matrix.data, index.type)
        stride = self._builder.extract_value(matrix.strides, 0)
        address = self._builder.add(begin, self._builder.mul(index, stride))
        return self._builder.inttoptr(address, matrix.data.type)

    def item(self, array: Any, index: Any) -> Any:
        """Return an item of an array of integers, as an index."""
        value = self._builder.load(self._builder.gep(array.data, [index]))
        return self._builder.sext(value, index.type) if value.type != index.type else value

    def at(self, row: Any, column: Any) -> Any:
        """Return the address of a column of a row."""
        return self._builder.gep(row, [column])

    def load(self, address: Any, vector: int = 0) -> Vector:
        """Load the vector that begins at an address, or one of those that follow."""
        value = self._builder.load(self._vector_address(address, vector))
        value.align = _ALIGNMENT
        return Vector(self._builder, value)

    def store(self, values: Vector, address: Any, vector: int = 0) -> None:
        """Store a vector at an address, or after it."""
        stored = self._builder.store(values.value, self._vector_address(address, vector))
        stored.align = _ALIGNMENT

    def _vector_address(self, address: Any, vector: int) -> Any:
        vectors = self._builder.bitcast(address, _VECTOR.as_pointer())
        return self._builder.gep(vectors, [ir.Constant(ir.IntType(64), vector)])

    def sums(self, row: int) -> list[Vector]:
        """Return the sums of a row."""
        return [Vector(self._builder, self._builder.load(each)) for each in self._sums[row]]

    def set_sums(self, row: int, values: Sequence[Vector]) -> None:
        """Set the sums of a row."""
        for value, place in zip(values, self._sums[row], strict=True):
            self._builder.store(value.value, place)

    def add_product(self, inputs: Sequence[Any], weights: Any, depth: Any) -> None:
        """Add the product of rows of inputs with a panel of weights to the sums.

        Parameters
        ----------
        inputs : sequence
            The address of each row of inputs.
        weights : address
            Where the panel begins, shape (depth, PANEL).
        depth : value
            The number of inputs in a row.
        """
        with cgutils.for_range(self._builder, depth) as loop:
            line = self.at(weights, self.times(loop.index, PANEL))
            vectors = [self.load(line, number) for number in range(VECTORS)]
            for row, address in enumerate(inputs):
                number = self._repeated(self._builder.load(self.at(address, loop.index)))
                pairs = zip(self.sums(row), vectors, strict=True)
                self.set_sums(row, [total + number * vector for total, vector in pairs])

    def _repeated(self, number: Any) -> Vector:
        """Return a vector all of whose numbers are the same."""
        first, undefined = ir.Constant(ir.IntType(32), 0), ir.Constant(_VECTOR, ir.Undefined)
        vector = self._builder.insert_element(undefined, number, first)
        lanes = ir.Constant(ir.VectorType(ir.IntType(32), LANES), [0] * LANES)
        return Vector(self._builder, self._builder.shuffle_vector(vector, vector, lanes))


def _product_tile(rows: int) -> Any:
    """Return a function that adds the product of a number of rows of inputs with a panel."""

    @intrinsic
    def add_tile(
        typing: Any, inputs: Any, row: Any, weights: Any, panel: Any, outputs: Any, into: Any
    ) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            tile = Tile(context, builder, rows)
            matrices = tile.arrays(signature.args[::2], arguments[::2])
            row, panel, into = arguments[1::2]
            targets = [tile.row(matrices[2], tile.plus(into, number)) for number in range(rows)]
            for number, target in enumerate(targets):
                tile.set_sums(number, [tile.load(target, vector) for vector in range(VECTORS)])
            sources = [tile.row(matrices[0], tile.plus(row, number)) for number in range(rows)]
            depth = builder.extract_value(matrices[1].shape, 1)
            tile.add_product(sources, tile.row(matrices[1], panel), depth)
            for number, target in enumerate(targets):
                for vector, total in enumerate(tile.sums(number)):
                    tile.store(total, target, vector)
            return context.get_dummy_value()

        return types.void(inputs, row, weights, panel, outputs, into), generate

    return add_tile


_add_tile, _add_row = _product_tile(ROWS), _product_tile(1)


@compiled()
def add_product(
    inputs: Array, first: int, last: int, weights: Array, panel: int, outputs: Array
) -> None:
    """Add the product of some rows of inputs with a panel of weights.

    Parameters
    ----------
    inputs : ndarray of float32, shape (N, K)
    first, last : int
        The rows of inputs, `last` excluded.
    weights : ndarray of float32, shape (panels, K, PANEL)
        See `panels`.
    panel : int
        The panel of weights.
    outputs : ndarray of float32, shape (last - first or more, PANEL)
        What the product is added to.
    """
    row = first
    while row + ROWS <= last:
        _add_tile(inputs, row, weights, panel, outputs, row - first)
        row += ROWS
    while row < last:
        _add_row(inputs, row, weights, panel, outputs, row - first)
        row += 1
