"""Languages of notes: what is found in English and Catalan, and how languages are told apart.

    python benchmarks/languages.py            # people by lists and self-training, without a seed
    python benchmarks/languages.py detection  # the language of notes
    python benchmarks/languages.py transfer   # a CRF trained on notes of one language or of both

Without a seed: half of the names are drawn from the lists by their frequencies, and half are
invented: in no list. The sentences were written for this project. 100 choose, 200 others are
scored. The other programs read synthetic notes, and MEDDOCAN for Spanish.
"""

from __future__ import annotations

import argparse
import itertools
import re
import tempfile

import numpy as np
from meddocan_lines import units_of

import bootstrap
from bootstrap import Document, Span
from corpus.batch import make_batch
from corpus.evaluation.scoring import score_batches
from corpus.synthetic import synthetic_notes
from gazetteers.builtin import CENSUS, CENSUS_US, read_gazetteer
from gazetteers.casing import in_case
from taggers import CRFOptions, CRFTagger
from taggers.morphology.languages import find_languages

LISTS = {"en": CENSUS_US, "ca": CENSUS}

#: P is a whole name, G a given name, S a surname and N a number.
SENTENCES = {
    "en": """\
Patient P was admitted on N/6/2019 with chest pain.
P, a N-year-old teacher, reports shortness of breath for three days.
Seen in clinic today with Dr. S.
Discussed the results with P and his wife P.
Mr. S denies fever or chills.
Mrs. S was discharged home in stable condition.
Blood pressure was 140/N and heart rate 88 beats per minute.
The patient has a history of hypertension and type 2 diabetes.
Referred by Dr. P for evaluation of anemia.
MRI of the brain showed no acute infarction.
Signed: P, MD
Follow up with P in two weeks.
Her daughter G lives nearby and helps with medication.
Started on metoprolol N mg twice daily.
Physical examination revealed a soft abdomen without tenderness.
Surgeon: P
P underwent laparoscopic cholecystectomy without complications.
Past medical history: Crohn disease, Hashimoto thyroiditis.
The patient was seen by P from Cardiology.
Nurse S removed the drain on day three.
Name: P
Mother: P
No known drug allergies.
Mr. P lives in Boston with his family.
Family history is notable for Parkinson disease in his father.
The culture grew Escherichia coli sensitive to ciprofloxacin.
We spoke to P by phone about the biopsy.""",
    "ca": """\
El pacient P ingressa el dia N/6/2019 per dolor toràcic.
P, de N anys, consulta per dispnea de tres dies d'evolució.
Visitat avui a consultes pel Dr. S.
S'informa P i la seva dona P dels resultats.
El Sr. S nega febre i calfreds.
La Sra. S és donada d'alta en bon estat general.
Tensió arterial 140/N i freqüència cardíaca de 88 per minut.
Antecedents d'hipertensió i diabetis mellitus tipus 2.
Derivat per la Dra. P per estudi d'anèmia.
La ressonància cerebral no mostra lesions agudes.
Signat: P
Control amb P en dues setmanes.
La seva filla G viu a prop i ajuda amb la medicació.
S'inicia metoprolol N mg cada dotze hores.
Abdomen tou i depressible, sense dolor.
Cirurgià: P
P és intervinguda de colecistectomia laparoscòpica sense complicacions.
Malaltia de Crohn i tiroïditis de Hashimoto.
Valorat per P de Cardiologia.
La infermera G retira el drenatge el tercer dia.
Nom: P
Mare: P
Sense al·lèrgies medicamentoses conegudes.
El senyor P viu a Girona amb la família.
El pare tenia malaltia de Parkinson.
El cultiu és positiu per Escherichia coli.
Es truca a P per explicar la biòpsia.""",
}
_MARK = re.compile(r"(?<![\w'])([PGSN])(?![\w'])")
_SYLLABLES = (
    *("bra", "dor", "vel", "kim", "zu", "tha", "lor", "nis", "que", "wen", "mar", "sto", "gri"),
    *("fal", "ono", "pel", "rux", "vai", "sen", "dri"),
)


class Names:
    """A source of names: of a list, or invented, with equal probability."""

    def __init__(self, language: str, rng: np.random.Generator) -> None:
        table = read_gazetteer(LISTS[language]).table()
        self._rng, self._lists = rng, {}
        for kind in ("given_name", "surname"):
            rows = [row for row in table.to_pylist() if row["class"] == kind]
            counts = np.array([row["count"] for row in rows], float)
            self._lists[kind] = ([row["term"] for row in rows], counts / counts.sum())

    def draw(self, kind: str) -> str:
        """Return a name in title case."""
        if self._rng.random() < 0.5:
            return "".join(self._rng.choice(_SYLLABLES, self._rng.integers(2, 4))).title()
        terms, shares = self._lists[kind]
        return in_case(terms[self._rng.choice(len(terms), p=shares)], "title", frozenset())


def sentences(language: str, random_state: int, number: int) -> list[Document]:
    """Return sentences with their names."""
    rng = np.random.default_rng(random_state)
    names, templates = Names(language, rng), SENTENCES[language].split("\n")
    kinds = {"G": ("given_name",), "S": ("surname",) * (1 if language == "en" else 2)}
    kinds["P"] = (*kinds["G"], *kinds["S"])
    documents = []
    for row in range(number):
        text, spans = "", list[Span]()
        for part in _MARK.split(templates[rng.integers(len(templates))]):
            if part in kinds:
                name = " ".join(map(names.draw, kinds[part]))
                spans.append(Span(len(text), len(text) + len(name), "NAME"))
                text += name
            else:
                text += str(rng.integers(10, 29)) if part == "N" else part
        documents.append(Document(f"{random_state}-{row}", text, tuple(spans)))
    return documents


def without_seed() -> None:
    """Print precision and recall of the lists alone and of the run, for each language."""
    print("| language | lists alone | run |")
    print("|---|---|---|")
    for language in LISTS:
        with tempfile.TemporaryDirectory() as folder:
            sizes = {"validation": 100, "test": 200, "unlabeled": 3000}
            for state, (split, number) in enumerate(sizes.items(), start=1):
                bootstrap.write(sentences(language, state, number), f"{folder}/{split}.jsonl")
            run = bootstrap.train(
                out=f"{folder}/run",
                seed="",
                validation=f"{folder}/validation.jsonl",
                unlabeled=f"{folder}/unlabeled.jsonl",
                data={"language": language, "test": f"{folder}/test.jsonl"},
                initial_model={"kind": "lists"},
            )
            outcome = run.headline()
            cells = (
                f"P {counts.precision:.3f} R {counts.recall:.3f} F1 {counts.f1:.3f}"
                for counts in (outcome.first, outcome.best)
            )
            print(f"| {language} | {' | '.join(cells)} |", flush=True)


def detection() -> None:
    """Print the share of notes whose language is found, by their length in characters."""
    limits = (0, 40, 120, 10**9)
    parts = [f"{least} to {most - 1}" for least, most in itertools.pairwise(limits)]
    parts[-1] = f"{limits[-2]} or more"
    print(f"| notes | {' | '.join([*parts, 'all'])} |\n{'|---' * (len(parts) + 2)}|")
    sources = {
        "synthetic, Spanish": ("es", synthetic_notes(4000, random_state=7, language="es")),
        "synthetic, Catalan": ("ca", synthetic_notes(4000, random_state=7, language="ca")),
        "MEDDOCAN, dev": ("es", units_of("dev", None, "document")),
        "its lines": ("es", units_of("dev", None, "line")),
    }
    for name, (language, notes) in sources.items():
        texts = [note.text for note in notes]
        right = np.array(find_languages(texts, ("es", "ca"))) == language
        lengths = np.array([len(text) for text in texts])
        cells = []
        for least, most in itertools.pairwise(limits):
            own = (lengths >= least) & (lengths < most)
            cells.append(f"{right[own].mean():.3f} ({own.sum():,})" if own.any() else "")
        print(f"| {name} | {' | '.join([*cells, f'{right.mean():.3f}'])} |", flush=True)


def transfer() -> None:
    """Print F1 of CRFs on notes of each language, the mean of three random states."""
    languages = ("es", "ca", "mixed")
    chosen = [f"language frequency-{name}" for name in ("given_name", "surname")]
    lemmas = {"es": "simplemma", "ca": "simplemma"}
    variants = {
        "Spanish": ("es", {}),
        "Catalan": ("ca", {}),
        "all": ("all", {}),
        "all, names by the language": (
            "all",
            {"conjunctions": (*CRFOptions().conjunctions, *chosen)},
        ),
        "all, lemmas by the language": (
            "all",
            {"streams": ("header", "colon", "language", "lemmas[-1..1]"), "analysers": lemmas},
        ),
    }
    print(f"| trained on | {' | '.join(languages)} |\n{'|---' * 4}|")
    judges = [
        make_batch(synthetic_notes(3000, random_state=9, language=language), labelled=True)
        for language in languages
    ]
    for name, (language, settings) in variants.items():
        rows = []
        for state in range(3):
            notes = synthetic_notes(2000, random_state=20 + state, language=language)
            tagger = CRFTagger(CRFOptions(clusters="", **settings))
            tagger.fit(make_batch(notes, labelled=True), rng=np.random.default_rng(state))
            taggings = [(gold, tagger.tag(gold)) for gold in judges]
            rows.append(
                [
                    score_batches(gold, gold.with_tags(own.tags, own.labels)).counts("ner").f1
                    for gold, own in taggings
                ]
            )
        print(f"| {name} | {' | '.join(f'{f1:.3f}' for f1 in np.mean(rows, axis=0))} |", flush=True)


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    works = {"lists": without_seed, "detection": detection, "transfer": transfer}
    parser.add_argument("what", nargs="?", choices=works, default="lists")
    works[parser.parse_args().what]()


if __name__ == "__main__":
    main()
