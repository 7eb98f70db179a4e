"""Experiment files: which variants and runs they mean, and what is refused."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest

from bootstrap.config.overrides import ConfigurationError, Source
from bootstrap.experiments.configurations import check_variants
from bootstrap.experiments.plan import Plan, load_plan, parse_plan

DATA = {"seed": "gold", "validation": "dev"}


def plan_of(tables: dict[str, Any], data: dict[str, Any] | None = None) -> Plan:
    return parse_plan({"data": DATA if data is None else data, **tables}, Source("e.toml", Path()))


def names(tables: dict[str, Any]) -> list[str]:
    return [variant.name for variant in plan_of({"seed": {"documents": 9}, **tables}).variants]


def test_without_variants_and_grid_there_is_one_variant() -> None:
    plan = plan_of({"seed": {"documents": 9}})
    assert [(variant.name, variant.method) for variant in plan.variants] == [
        ("self-training", "self-training")
    ]
    assert plan.splits == ("half-0", "half-1")
    assert len(plan.runs) == 6  # three random states


def test_every_variant_has_every_point_of_the_grid() -> None:
    variants = names(
        {
            "variants": {"a": {}, "b": {"loop": {"keep": "relabel"}}},
            "grid": {"select": {"confidence": [0.5, 0.9]}, "seed": {"documents": [100, 331]}},
        }
    )
    points = [
        f"select.confidence={confidence}, seed.documents={number}"
        for confidence in (0.5, 0.9)
        for number in (100, 331)
    ]
    assert variants == [f"{name}, {point}" for name in "ab" for point in points]


def test_a_variant_may_be_left_out_of_the_grid() -> None:
    variants = names(
        {
            "variants": {"alone": {"method": "supervised", "grid": False}, "b": {}},
            "grid": {"select": {"proportions": [True, False]}},
        }
    )
    assert variants == ["alone", "b, select.proportions=true", "b, select.proportions=false"]


def test_settings_of_the_file_the_variant_and_the_grid_are_combined() -> None:
    tables = {
        "seed": {"documents": 9, "with_entities": 0.5},
        "loop": {"preset": "paper", "patience": 2},
        "patterns": {"labels": {"A": "x"}},
        "variants": {"v": {"loop": {"patience": 4}, "patterns": {"labels": {"B": "y"}}}},
        "grid": {"loop": {"keep": ["relabel"]}, "seed": {"documents": [7]}},
    }
    (variant,) = plan_of(tables).variants
    assert variant.tables["loop"] == {"preset": "paper", "patience": 4, "keep": "relabel"}
    assert variant.tables["patterns"] == {"labels": {"A": "x", "B": "y"}}
    assert (variant.seed.documents, variant.seed.with_entities) == (7, 0.5)
    assert tables["loop"] == {"preset": "paper", "patience": 2}  # unchanged


def test_an_empty_table_removes_a_section_from_a_variant() -> None:
    tables = {"seed": {"documents": 9}, "select": {"confidence": 0.5}, "loop": {"batch": 20}}
    variants = plan_of({**tables, "variants": {"a": {"select": {}}, "b": {}}}).variants
    assert [variant.tables.get("select") for variant in variants] == [{}, {"confidence": 0.5}]
    assert all(variant.tables["loop"] == {"batch": 20} for variant in variants)


def test_splits_are_folds_the_test_documents_or_halves() -> None:
    seed = {"seed": {"documents": 9}}
    assert plan_of(seed, {**DATA, "test": "test"}).splits == ("test",)
    folds = {"experiment": {"folds": 3}, **seed}
    assert plan_of(folds, {"seed": "gold"}).splits == ("fold-0", "fold-1", "fold-2")


def test_paths_are_relative_to_the_file(tmp_path: Path) -> None:
    (tmp_path / "e.toml").write_text('[data]\nseed = "gold"\nvalidation = "dev"\nunlabeled = "u"\n')
    data = load_plan(tmp_path / "e.toml").data
    assert (data.seed, data.unlabeled) == (str(tmp_path / "gold"), str(tmp_path / "u"))
    assert data.test == ""


MISTAKES: list[tuple[dict[str, Any], str]] = [
    ({"gird": {}}, 'no section "gird"; the nearest is "grid"'),
    ({"experiment": {"fold": 3}}, 'no key in [experiment] "fold"; the nearest is "folds"'),
    ({"variants": {"v": {"method": "magic"}}}, "expected one of"),
    ({"variants": {"v": {"selct": {}}}}, "selct"),
    ({"variants": {"v": 3}}, "[variants.v] must be a section"),
    ({"variants": {"v": {"grid": 1}}}, "expected true or false"),
    ({"grid": {"select": {"confidence": 0.5}}}, "= a list of values"),
    ({"grid": {"confidence": [0.5]}}, "expected SECTION.KEY"),
    ({"grid": {"select": {"confidence": [1, 1]}}}, "has a value twice"),
    ({"grid": {"data": {"unit": ["line"]}}}, "is the same in all runs"),
    ({"loop": {"random_state": 1}}, "is set by [experiment] random_states"),
    (
        {"variants": {"": {"method": "supervised"}, "supervised": {}}},
        "two variants have the name supervised",
    ),
    (
        {
            "grid": {"select": {"confidence": [0.5]}},
            "variants": {"a": {}, "a, select.confidence=0.5": {"grid": False}},
        },
        "two variants have the name a, select.confidence=0.5",
    ),
    (
        {"variants": {"v": {"active": {"budget": 9}}}},
        '[variants.v] has settings of [active], but method = "self-training"',
    ),
    ({"grid": {"active": {"hybrid": [True, False]}}}, "[grid] has settings of [active]"),
    ({"active": {"budget": 9}}, "[active] applies to no variant"),
    ({"grid": {"select": {"confidnce": [0.5]}}}, 'the nearest is "confidence"'),
    ({"grid": {"select": {"confidence": [0.5, 2.0]}}}, "(variant select.confidence=2.0)"),
    ({"variants": {"a": {"method": "active"}}}, "budget"),
    ({"variants": {"a": {"tagger": {"kind": "crff"}}}}, "crff"),
]


@pytest.mark.parametrize(
    ("data", "tables", "message"),
    [
        ({"validation": "d"}, {"seed": {"documents": 9}}, "[seed] needs annotated documents"),
        ({"seed": "g"}, {}, "names no validation documents"),
        ({"seed": "g", "test": "t"}, {"experiment": {"folds": 3}}, "remove [data] test"),
        ({"seed": "g"}, {"experiment": {"folds": 2}}, "none is left for training"),
        (DATA, {}, "variant self-training needs unlabeled documents"),
        (
            {"validation": "d", "unlabeled": "u"},
            {"variants": {"v": {"method": "full-supervision"}}},
            "needs all annotated documents",
        ),
        (
            {**DATA, "unlabeled": "u"},
            {"variants": {"a": {"method": "active", "active": {"budget": 9}}}},
            "needs documents to annotate",
        ),
        *((DATA, {"seed": {"documents": 9}, **tables}, message) for tables, message in MISTAKES),
    ],
)
def test_mistakes_are_refused_with_their_place(data, tables, message) -> None:
    with pytest.raises(ConfigurationError, match=r"e\.toml") as refusal:
        check_variants(plan_of(tables, data))
    assert message in str(refusal.value)


def test_a_large_grid_is_counted_and_a_huge_one_refused() -> None:
    axis = {"confidence": [number / 100 for number in range(100)]}
    grid = {"select": axis, "loop": {"patience": list(range(1, 101))}}
    plan = plan_of({"seed": {"documents": 9}, "grid": grid})
    assert len(plan.runs) == 10_000 * 6
    huge = {"select": {f"k{number}": [*range(100)] for number in range(8)}}
    with pytest.raises(ConfigurationError, match=f"{math.prod([100] * 8):,} combinations"):
        plan_of({"seed": {"documents": 9}, "grid": huge})
