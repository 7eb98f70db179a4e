"""Cross-validation of a configuration: an experiment without grid and without drawn seeds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from bootstrap.config.errors import ConfigurationError
from bootstrap.experiments.plan import OWN_SECTIONS


def crossvalidation_tables(
    tables: Mapping[str, Any],
    *,
    folds: int,
    methods: Sequence[str] = (),
    random_states: Sequence[int] = (0,),
) -> dict[str, Any]:
    """Return the tables of an experiment that cross-validates a configuration.

    The folds are those of ``[data] seed``. Each is the test documents in turn. ``[data]
    validation``, or else the next fold, determines when to stop.

    Parameters
    ----------
    tables : mapping of str to Any
        The tables of the configuration of a run.
    folds : int
        The number of folds, 2 or more.
    methods : sequence of str
        The methods to compare; by default supervised training, and self-training if there are
        unlabeled documents.
    random_states : sequence of int
        The random states.

    Raises
    ------
    ConfigurationError
        If there are fewer than two folds, a method twice, or sections of an experiment.
    """
    if folds < 2:
        raise ConfigurationError(f"--folds {folds}: expected 2 or more")
    for section in OWN_SECTIONS:
        if section in tables:
            raise ConfigurationError(
                f"[{section}] belongs to an experiment: carry it out with `bootstrap experiment`, "
                "where [experiment] folds sets the number of folds"
            )
    data = tables.get("data")
    has_pool = isinstance(data, Mapping) and bool(data.get("unlabeled"))
    names = methods or (("supervised", "self-training") if has_pool else ("supervised",))
    if len(set(names)) < len(names):
        raise ConfigurationError(f"--methods {','.join(names)}: a method is named twice")
    tables = {key: value for key, value in tables.items() if key != "active" or key in names}
    if isinstance(data, Mapping):
        data = {key: value for key, value in data.items() if key != "test"}
    return {
        **tables,
        **({} if data is None else {"data": data}),
        "experiment": {"folds": folds, "random_states": list(random_states)},
        "variants": {name: {"method": name} for name in names},
    }
