"""Products of matrices keep to one thread."""

import threadpoolctl

from taggers.threads import one_thread


def blas_threads() -> set[int]:
    found = threadpoolctl.threadpool_info()
    return {each["num_threads"] for each in found if each["user_api"] == "blas"}


def test_products_of_matrices_keep_to_one_thread_and_are_set_free_again() -> None:
    before = blas_threads()
    with one_thread():
        assert blas_threads() == {1}
    assert blas_threads() == before
