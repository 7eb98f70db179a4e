"""Compiled functions work wherever they are."""

import numpy as np

from corpus.kernels.compiled import compiled


def test_a_function_whose_code_can_be_kept_nowhere_is_compiled_all_the_same() -> None:
    names: dict[str, object] = {}
    exec("def doubled(values):\n    return 2 * values.sum()", names)  # it has no file
    doubled = compiled(names["doubled"])
    assert doubled(np.arange(4.0)) == 12
    assert doubled.nopython_signatures
