"""The blocking list that comes with the program."""

from __future__ import annotations

from corpus.batch import make_batch
from corpus.document import Document
from gazetteers.builtin import BLOCKING, read_gazetteer
from gazetteers.folding import fold
from gazetteers.phrases.matcher import BLOCKED, PhraseMatcher, blocked


def test_it_holds_eponyms_months_weekdays_and_anatomy_once_each() -> None:
    gazetteer = read_gazetteer(BLOCKING)
    terms = gazetteer.terms.to_pylist()
    assert set(gazetteer.classes.to_pylist()) == {BLOCKED}
    assert set(gazetteer.counts.tolist()) == {1}  # a term that is there twice has two
    assert fold(terms) == terms
    assert len(terms) > 250
    some = ["Parkinson", "Guillain-Barré", "Guillain", "Gram", "marzo", "març", "cabeza", "sin"]
    assert set(fold(some)) <= set(terms)
    assert not {"cruz", "paz", "rubio", "dolores", "garcia"} & set(terms)


def test_it_keeps_words_from_being_names() -> None:
    names = {"NAME": ["Wilson", "Barré", "Cabeza", "Marzo", "Ana"]}
    matcher = PhraseMatcher.from_gazetteers([read_gazetteer(BLOCKING)])
    both = PhraseMatcher({**names, **matcher.phrases})
    text = "Ana: enfermedad de Wilson, Guillain-Barré, Cabeza y cuello en marzo"
    batch = make_batch([Document("", text)], labelled=False)
    kept = [batch.vocabulary[word] for word in batch.word_ids[blocked(both.match(batch))].tolist()]
    assert kept == ["Wilson", "Guillain", "-", "Barré", "Cabeza", "cuello", "marzo"]
    matches = both.find(batch)
    assert [both.classes[kind] for kind in matches.classes.tolist()].count("NAME") == 1
