"""Compiled functions work wherever they are, and products of matrices keep to one thread."""

import numpy as np
import threadpoolctl

from taggers.compiled import compiled, one_thread


def test_a_function_whose_code_can_be_kept_nowhere_is_compiled_all_the_same() -> None:
    names: dict[str, object] = {}
    exec("def doubled(values):\n    return 2 * values.sum()", names)  # it has no file
    doubled = compiled(names["doubled"])
    assert doubled(np.arange(4.0)) == 12
    assert doubled.nopython_signatures


def blas_threads() -> set[int]:
    found = threadpoolctl.threadpool_info()
    return {each["num_threads"] for each in found if each["user_api"] == "blas"}


def test_products_of_matrices_keep_to_one_thread_and_are_set_free_again() -> None:
    before = blas_threads()
    with one_thread():
        assert blas_threads() == {1}
    assert blas_threads() == before
