"""Products of matrices keep to one thread."""

import threadpoolctl

from taggers.threads import one_thread


def blas_threads() -> set[int]:
    result = threadpoolctl.threadpool_info()
    return {row["num_threads"] for row in result if row["user_api"] == "blas"}


def test_products_of_matrices_keep_to_one_thread_and_are_set_free_again() -> None:
    before = blas_threads()
    with one_thread():
        assert blas_threads() == {1}
    assert blas_threads() == before
