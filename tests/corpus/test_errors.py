"""What cannot be used is counted and named, and stops the program where the user says so."""

import pytest

from corpus.errors import NAMED_PER_KIND, Problem, ProblemError, Problems, number_of

OVERLAP = Problem("overlapping annotations", "a.ann:3", "T2 4-9 (AGE), left out")
BROKEN = Problem("not UTF-8", "b.txt", "byte 17, left out")


def test_stops_unless_told_otherwise() -> None:
    problems = Problems()
    with pytest.raises(ProblemError, match=r'a\.ann:3.*overlapping.*4-9.*conflicts = "longest"'):
        problems.conflict(OVERLAP)
    with pytest.raises(ProblemError, match=r'b\.txt.*not UTF-8.*byte 17.*invalid = "skip"'):
        problems.reject(BROKEN)
    assert not problems.counts


def test_each_choice_concerns_its_own_kind() -> None:
    keeps, skips = Problems(conflicts="longest"), Problems(invalid="skip")
    keeps.conflict(OVERLAP)
    skips.reject(BROKEN)
    with pytest.raises(ProblemError):
        keeps.reject(BROKEN)
    with pytest.raises(ProblemError):
        skips.conflict(OVERLAP)
    assert keeps.counts == {OVERLAP.kind: 1}
    assert skips.counts == {BROKEN.kind: 1}


def test_a_note_never_stops() -> None:
    problems = Problems()
    problems.note(OVERLAP)
    assert list(problems.lines()) == [
        "overlapping annotations: 1",
        "  a.ann:3: T2 4-9 (AGE), left out",
    ]


def test_all_are_counted_and_the_first_named() -> None:
    problems = Problems()
    for number in range(NAMED_PER_KIND + 3):
        problems.note(Problem("lost", f"note {number}", "0-1"))
    problems.note(BROKEN)
    lines = list(problems.lines())
    assert lines[0] == f"lost: {NAMED_PER_KIND + 3}"
    assert lines[1:-3] == [f"  note {number}: 0-1" for number in range(NAMED_PER_KIND)]
    assert lines[-3:] == ["  and 3 more", "not UTF-8: 1", "  b.txt: byte 17, left out"]


def test_one_thing_is_named_in_the_singular() -> None:
    words = [number_of(count, "note") for count in (0, 1, 1200)]
    assert words == ["0 notes", "1 note", "1,200 notes"]
    assert number_of(2, "class", "classes") == "2 classes"
