"""What `bootstrap check` counts, and what it warns of."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from bootstrap.config.configuration import Configuration, load_configuration
from bootstrap.data.checks import (
    MANY_COPIES,
    SplitReport,
    check_notes,
    interval_lines,
    reasons_against,
    warnings,
)
from bootstrap.data.splits import COPIES, read_notes
from corpus.document import Document, Span
from corpus.errors import NAMED_PER_KIND
from corpus.formats import write

Notes = Mapping[str, Any]


@pytest.fixture
def configured(tmp_path: Path) -> Callable[..., Configuration]:
    """Write the notes of splits, `id: (text, [[start, end, label]], group)`, as JSON lines."""

    def configure(
        seed: Notes, validation: Notes, unlabeled: Notes, *settings: str
    ) -> Configuration:
        splits = {"seed": seed, "validation": validation, "unlabeled": unlabeled}
        for split, notes in splits.items():
            lines = []
            for name, (text, label, *group) in notes.items():
                record = {"id": name, "text": text, "label": label}
                lines.append(json.dumps(record | ({"group": group[0]} if group else {})))
            (tmp_path / f"{split}.jsonl").write_text("\n".join(lines))
        (tmp_path / "config.toml").write_text('[data]\nvalidation = "validation.jsonl"\n')
        return load_configuration(tmp_path / "config.toml", settings)

    return configure


def check(configuration: Configuration) -> tuple[dict[str, SplitReport], list[str]]:
    data = configuration.data
    reports = check_notes(data, configuration.labels)
    return reports, list(warnings(reports, data, batch_size=configuration.loop.batch))


def many(number: int, label: str = "PERSON", prefix: str = "") -> dict[str, Any]:
    """Make notes of three tokens, of which the first is an entity; no two are the same."""
    return {f"{prefix}{i}": (f"Anna {prefix} {i}", [[0, 4, label]]) for i in range(number)}


def test_counts(configured: Callable[..., Configuration]) -> None:
    seed = {
        "a": ("Pac Anna Puig, Vic", [[4, 13, "PERSON"], [15, 18, "LOCATION"]], "p1"),
        "b": ("sin fiebre", [], "p1"),
        "c": ("sin fiebre", [], "p2"),
        "d": ("", []),
        "e": (" \n", []),
    }
    reports, _ = check(configured(seed, many(2), {"u": ("Hola, Pere", [[6, 10, "PERSON"]])}))
    report = reports["seed"]
    assert (report.sources, report.documents, report.tokens) == (5, 5, 9)
    assert (report.empty, report.without_entities, report.duplicates) == (2, 4, 1)
    assert report.entities == {"PERSON": 1, "LOCATION": 1}
    assert report.groups == {"p1", "p2"}
    # Labels of unlabeled notes are not for anyone to see.
    assert (reports["unlabeled"].tokens, reports["unlabeled"].entities) == (3, {})


def test_counts_units_and_classes(configured: Callable[..., Configuration]) -> None:
    seed = {"a": ("Anna\n\nve a Pere\r\nVic", [[0, 4, "N1"], [11, 15, "N2"], [17, 20, "L"]])}
    settings = ("data.unit=line", "labels.N1=PERSON", "labels.N2=PERSON")
    reports, _ = check(configured(seed, many(2), {}, *settings))
    report = reports["seed"]
    assert (report.sources, report.documents, report.without_entities) == (1, 3, 1)
    assert report.entities == {"PERSON": 2}


def test_counts_in_parts(configured, monkeypatch) -> None:
    configuration = configured(many(30, prefix="s"), many(31, prefix="v"), many(5, prefix="u"))
    whole = check(configuration)
    monkeypatch.setattr("corpus.formats.batches.MOST_ROWS", 7)
    assert check(configuration) == whole


def test_nothing_to_warn_of(configured: Callable[..., Configuration]) -> None:
    configuration = configured(
        many(30, prefix="s"), many(30, prefix="v"), many(5, prefix="u"), "loop.batch=5"
    )
    assert check(configuration)[1] == []


def test_names_the_unusual_characters_of_a_split(configured, monkeypatch) -> None:
    pool = {"a": ("Pere Pu\xadig", []), "b": ("P\xadere", []), "c": ("Ｐere", []), "d": ("Vic", [])}
    configuration = configured(many(30, prefix="s"), many(30, prefix="v"), pool, "loop.batch=1")
    expected = [
        "unlabeled: invisible characters (U+00AD) in 2 of 4 notes",
        "unlabeled: unusual forms of letters, digits and signs in 1 of 4 notes",
    ]
    assert check(configuration)[1] == expected
    monkeypatch.setattr("corpus.formats.batches.MOST_ROWS", 1)
    assert check(configuration)[1] == expected


def test_warns_of_rare_classes_and_of_those_on_one_side(configured) -> None:
    seed = many(29, "PERSON", "s") | many(30, "LOCATION", "t") | many(40, "AGE", "x")
    validation = many(30, "PERSON", "v") | many(30, "LOCATION", "w") | many(2, "DATE", "y")
    lines = check(configured(seed, validation, many(1), "loop.batch=1"))[1]
    assert lines == [
        "seed: only 29 PERSON entities; scores on fewer than 30 are unreliable",
        "validation: only 2 DATE entities; scores on fewer than 30 are unreliable",
        "DATE is in validation and not in the seed: it cannot be learned, so all its entities are "
        "missed",
        "AGE is in the seed and not in validation: it cannot be evaluated",
    ]


def test_warns_of_texts_and_patients_on_two_sides(configured: Callable[..., Configuration]) -> None:
    def grouped(notes: dict[str, Any], group: str) -> dict[str, Any]:
        return {name: (*note, group) for name, note in notes.items()}

    seed = grouped(many(30, prefix="s"), "p1")
    validation = grouped(many(30, prefix="v"), "p2") | {"same": seed["s4"]}
    unlabeled = grouped(many(6, prefix="u"), "p2") | {"t": ("Anna s 1", []), "u": ("Anna v 2", [])}
    lines = check(configured(seed, validation, unlabeled, "loop.batch=2"))[1]
    assert lines == [
        "texts of seed that are also in validation: 1; left out of the seed",
        "patients (groups) both in seed and in validation: 1; scores are optimistic",
        "texts of seed that are also in unlabeled: 1",
        "texts of validation that are also in unlabeled: 1; left out",
        "patients of validation that are also in unlabeled: 1; never selected",
    ]


@pytest.mark.parametrize("batch", [0, 1, 1000])
def test_warns_of_no_unlabeled_notes(configured: Callable[..., Configuration], batch: int) -> None:
    splits = many(30, prefix="s"), many(30, prefix="v"), {}
    assert check(configured(*splits, f"loop.batch={batch}"))[1] == [
        "unlabeled: there are no documents, so iteration 0 will be the only one"
    ]


def test_names_what_cannot_be_used_and_says_whether_a_run_would_stop(configured) -> None:
    seed = many(30, prefix="s") | {
        "misaligned": ("Annabel", [[0, 4, "PERSON"]]),
        "overlap": ("Anna Puig", [[0, 9, "PERSON"], [5, 9, "LOCATION"]]),
        "outside": ("Anna", [[0, 9, "PERSON"]]),
        "malformed": ("Anna", [[0, "4", "PERSON"]]),
        "text": (None, []),
    }
    validation = many(30, prefix="v") | many(30, "LOCATION", "w")
    configuration = configured(seed, validation, many(1), "loop.batch=1")
    reports, lines = check(configuration)
    report = reports["seed"]
    assert report.documents == 34
    counts = (report.problems.conflicting, report.unusable, report.unreadable)
    assert counts == (1, 2, 1)
    text = "\n".join(lines)
    assert "seed: annotations that do not align with tokens: 1" in text
    assert "document misaligned: 0-4 (PERSON), widened to whole tokens" in text
    assert "seed: overlapping annotations: 1" in text
    assert "document overlap: 0-9 (PERSON) is kept, 5-9 (LOCATION) is left out" in text
    assert "seed: annotations outside of the text: 1" in text
    stops = [
        "seed: a run stops at the first of the overlapping or discontinuous annotations (1); "
        '[data] conflicts = "longest" keeps the longest',
        "seed: a run stops at the first of the texts (1) and annotations (2) that cannot be used; "
        '[data] invalid = "skip" leaves them out',
    ]
    assert list(reasons_against(reports, configuration.data)) == stops
    # Where the user chose otherwise, a run does not stop.
    for settings, expected in (
        (["data.conflicts=longest"], stops[1:]),
        (["data.invalid=skip"], stops[:1]),
        (["data.conflicts=longest", "data.invalid=skip"], []),
    ):
        chosen = configured(seed, validation, many(1), "loop.batch=1", *settings)
        assert list(reasons_against(check(chosen)[0], chosen.data)) == expected


def test_a_seed_of_validation_notes_is_not_ready(configured) -> None:
    notes = many(30, prefix="v")
    for seed, ready in ((notes, False), (many(1, prefix="s") | notes, True)):
        configuration = configured(seed, notes, many(1), "loop.batch=1")
        reasons = list(reasons_against(check(configuration)[0], configuration.data))
        assert bool(reasons) != ready
        assert ready or "has the text of a validation or test note" in reasons[0]


def test_warns_of_units_that_differ(configured) -> None:
    notes = {name: (f"{text} " * 5, []) for name, (text, _) in many(40, prefix="u").items()}
    _, lines = check(configured(many(40, prefix="s"), many(40, prefix="v"), notes))
    assert [line[:41] for line in lines if "unit" in line] == [
        "seed: a document has 3 tokens, and one of",
        "validation: a document has 3 tokens, and ",
    ]


def test_says_how_many_annotations_a_narrow_interval_needs(configured) -> None:
    reports, _ = check(configured(many(40), many(100, prefix="v"), many(1)))
    (line,) = interval_lines(reports["validation"])
    assert line.startswith("validation: with 100 entities, the 95 % interval of F1 is about 0.10")
    assert line.endswith("for 0.02, annotate about 2,400 more such documents")


def test_warns_of_ids_that_come_twice(configured, tmp_path) -> None:
    configuration = configured(
        many(40, prefix="s"), many(40, prefix="v"), many(1), "loop.batch=1", "data.unit=line"
    )
    for split, again in (("seed", [3, 3, 7]), ("validation", [1, 2, 3, 4])):
        path = tmp_path / f"{split}.jsonl"
        lines = path.read_text().splitlines()
        # Its id is that of another note, its text is not.
        path.write_text("\n".join([*lines, *(lines[i].replace("Anna", "Anno") for i in again)]))
    assert check(configuration)[1] == [
        "seed: ids that occur more than once: 2 (s3#0, s7#0)",
        "validation: ids that occur more than once: 4 (v1#0, v2#0, v3#0, ...)",
    ]


def test_the_command_shows_the_counts(project: Path, command: Callable[..., Any]) -> None:
    done = command("check", project / "config.toml", "--set", "loop.batch=5000")
    assert (done.code, done.err) == (0, "")
    rows = {line[:42].strip(): line[42:].split() for line in done.out.splitlines()}
    assert rows["texts"] == ["60", "120", "2,000"]
    assert rows["documents (document)"] == ["60", "120", "2,000"]
    assert len(rows["PERSON"]) == len(rows["without entities"]) == 2
    assert rows["entities"] == [
        str(int(rows["PERSON"][split]) + int(rows["LOCATION"][split])) for split in (0, 1)
    ]
    for title in ("texts that cannot be read", "overlapping or discontinuous annotations"):
        assert rows[title] == ["0", "0", "0"]
    profile = done.out.partition("drawn at random:")[2]
    for title in ("PERSON per document", "tokens in PERSON"):
        (line,) = [line for line in profile.splitlines() if title in line]
        seed, validation = map(float, re.findall(r"\d+\.\d+", line))
        assert seed > 0 and validation > 0
    predicted = [line for line in profile.splitlines() if "as a small CRF of the seed" in line]
    assert len(predicted) == 2  # classes
    assert all(len(re.findall(r"\d+\.\d+", line)) == 2 for line in predicted)
    assert "! seed: its documents differ from the validation documents" in done.out
    assert "! unlabeled: 2,000 documents, fewer than one batch of 5,000" in done.out


def test_all_problems_can_be_listed(project, tmp_path, command) -> None:
    """The terminal names the first few of a kind."""
    number = NAMED_PER_KIND + 5
    notes = [Document(f"n{place}", "Annas ve", (Span(0, 4, "PERSON"),)) for place in range(number)]
    write(notes, tmp_path / "seed.jsonl")
    setting = f"data.seed={tmp_path / 'seed.jsonl'}"
    listed = tmp_path / "problems.txt"
    done = command("check", project / "config.toml", "--set", setting, "--problems", listed)
    assert done.code == 0
    assert "and 9 more lines; --problems FILE writes all" in done.out
    lines = listed.read_text(encoding="utf-8").splitlines()
    assert len(lines) == number
    assert all(
        line.startswith("seed: ") and f"n{place}" in line for place, line in enumerate(lines)
    )
    assert "Annas" not in "".join(lines)


@pytest.mark.parametrize(
    "validation",
    [
        '{"id": "a", "text": "Anna"}\n',
        '{"id": "a", "text": "Anna", "label": [[0, 4, "PERSON"]]}\n' * 2,
        '{"id": "a", "text": "Anna", "label": [[0, 4, "PERSON"], [0, 9, "PERSON"]]}\n',
    ],
)
def test_the_command_ends_with_an_error_where_a_run_will_not_start(
    validation: str, project: Path, tmp_path: Path, command: Callable[..., Any]
) -> None:
    (tmp_path / "bad.jsonl").write_text(validation)
    done = command(
        "check", project / "config.toml", "--set", f"data.validation={tmp_path / 'bad.jsonl'}"
    )
    assert done.code == 2
    assert "entities" in done.out  # the counts and what to look at are shown all the same
    assert done.out.startswith("not ready: validation")
    assert "config.toml: not ready: validation" in done.err


def test_the_command_writes_nothing(project: Path, command: Callable[..., Any]) -> None:
    before = sorted(project.rglob("*"))
    assert command("check", project / "config.toml").code == 0
    assert sorted(project.rglob("*")) == before


def test_copies_within_and_across_splits_are_counted(configured) -> None:
    words = " ".join(f"palabra{number}" for number in range(60))
    seed = {**many(30, prefix="s"), "long": (words, [])}
    pool = {f"u{n}": (f"{words} otra{n}", []) for n in range(MANY_COPIES)}
    pool |= {"x": (words.upper(), []), "y": (words, [])}
    configuration = configured(seed, many(30, prefix="v"), pool, "loop.batch=1")
    counts = check_notes(configuration.data)["unlabeled"].copies
    assert counts["exact", False] == 1  # y of x
    assert counts["exact", True] == 1  # x of the seed
    assert counts["near", False] == len(pool) - 1
    assert counts["near", True] == 1
    assert any('deduplicate = "exact"' in line for line in check(configuration)[1])
    configuration = configured(
        seed, many(30, prefix="v"), pool, "loop.batch=1", 'data.deduplicate="exact"'
    )
    assert not any("deduplicate" in line for line in check(configuration)[1])


@pytest.mark.parametrize(("kind", "kept"), [("none", 104), ("exact", 102), ("near", 2)])
def test_a_pool_has_one_of_all_copies(kind, kept, configured) -> None:
    words = " ".join(f"palabra{number}" for number in range(60))
    pool = {f"u{n}": (f"{words} otra{n}", []) for n in range(100)}
    pool |= {"x": (words, []), "y": (words.upper(), []), "z": ("Alta", []), "held": ("ALTA .", [])}
    validation = {**many(30, prefix="v"), "w": ("alta .", [])}
    configuration = configured(
        many(30, prefix="s"), validation, pool, "loop.batch=1", f'data.deduplicate="{kind}"'
    )
    notes = read_notes(configuration.data, batch_size=7).unlabeled
    ids = [name for batch in notes.batches() for name in batch.ids.to_pylist()]
    assert len(ids) == kept
    assert ids[0] == "u0"
    assert [*dict.fromkeys(ids)] == ids
    assert notes.problems.counts[COPIES] == len(pool) - kept
    again = [name for batch in notes.batches(0) for name in batch.ids.to_pylist()]
    assert again == ids
