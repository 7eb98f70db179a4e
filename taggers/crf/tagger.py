"""The CRF tagger (paper 003, section 3.4.2), on either of two engines."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Self

import numpy as np
import numpy.typing as npt

from corpus.batch import Batch
from corpus.errors import InputError, shown
from corpus.tags import bio_labels, classes_of, well_formed
from taggers.annotators import (
    ANNOTATORS,
    Annotator,
    Phrases,
    Rules,
    annotated,
    annotators_of,
)
from taggers.annotators.content import contents_of, pruned_annotators, traces_in
from taggers.base import Detail, Progress, Tagging, Training, TrainingError
from taggers.confidence import (
    check_measure,
    document_confidence,
    needs_marginals,
    token_confidence_of,
)
from taggers.crf.crf_options import CRFOptions
from taggers.feature_sources import PHRASES
from taggers.model_folder import ModelFiles, errors_of_model, write_model
from taggers.option_values import options_of_fields
from taggers.options import INSIDE_MODEL
from taggers.resources import Resources, clusters_for
from taggers.templates import Templates

if TYPE_CHECKING:
    from typing import TypeAlias

    from taggers.crf.crfsuite import CRFsuiteEngine
    from taggers.crf.wordtype import WordTypeEngine
    from taggers.pruning import Pruning
    from taggers.public_lists import PublicLists

    Engine: TypeAlias = CRFsuiteEngine | WordTypeEngine


class CRFTagger:
    """A tagger with a linear-chain conditional random field.

    Parameters
    ----------
    options : CRFOptions, optional
        Engine, features, window and regularization; defaults if omitted.

    Attributes
    ----------
    labels : tuple of str
        The labels of the training documents; empty before training.
    training : Training or None
        The result of training; None before training.
    """

    kind = "crf"

    def __init__(self, options: CRFOptions | None = None) -> None:
        self.options = options or CRFOptions()
        self.labels: tuple[str, ...] = ()
        self.training: Training | None = None
        self._engine: Engine | None = None
        self._converted: WordTypeEngine | None = None
        self._resources = Resources()
        self._annotators: dict[str, Annotator] = {
            name: Rules(self.options.rules) if name == "rules" else ANNOTATORS[name]()
            for name in self.options.templates().needed
            if name in ANNOTATORS and name != PHRASES  # phrases are read from files by `fit`
        }

    def fit(
        self,
        train: Batch,
        validation: Batch | None = None,
        *,
        warm_start: Self | None = None,
        rng: np.random.Generator,
        progress: Progress | None = None,
    ) -> Self:
        """Train on tagged documents by L-BFGS.

        Parameters
        ----------
        train : Batch
            Training documents. The engine "wordtype" marginalises unknown tags.
        validation : Batch, optional
            Not used: L-BFGS stops when its own objective converges.
        warm_start : CRFTagger, optional
            A trained tagger whose weights initialise training; ignored by the engine "crfsuite".
        rng : numpy.random.Generator
            Draws the documents that are held out to select a clustering.
        progress : callable, optional
            Called with the number of completed L-BFGS iterations and their maximum.

        Returns
        -------
        CRFTagger
            The tagger itself.

        Raises
        ------
        TrainingError
            If the documents contain no known tags, or training produces no usable weights.
        InputError
            If a resource cannot be read, or a stream is missing and no annotator adds it.
        ValueError
            If the engine is "crfsuite", and tags are unknown or documents have weights.
        """
        if not train.n_tokens:
            raise TrainingError("the training documents contain no tokens")
        if self.options.phrases and PHRASES not in self._annotators:
            self._annotators[PHRASES] = Phrases.of_files(self.options.phrases)
        if self._resources.names is None:  # a loaded model has its own
            self._resources = Resources.of_names(self.options.names)
        if not self.options.clusters:
            return self._fit(train, warm_start, progress)
        clusters = clusters_for(train, self.options.clusters, self.options.clustering_names)
        if self.options.cluster_choice == "all":
            self._resources = self._resources.with_clusters(clusters)
            return self._fit(train, warm_start, progress)

        from taggers.crf.clusterings import (  # noqa: PLC0415 - numba is slow to import
            best_clustering,
        )

        def fit(name: str, part: Batch, part_progress: Progress | None) -> CRFTagger:
            tagger = CRFTagger(self.options)
            tagger._annotators = self._annotators
            tagger._resources = self._resources.with_clusters(clusters.only([name]))
            return tagger._fit(part, warm_start, part_progress)

        name, part_progress = best_clustering(clusters.names, train, fit, rng, progress)
        self._resources = self._resources.with_clusters(clusters.only([name]))
        self._fit(train, warm_start, part_progress)
        assert self.training is not None
        self.training = replace(self.training, clustering=name)
        return self

    def _fit(self, train: Batch, warm_start: CRFTagger | None, progress: Progress | None) -> Self:
        options, templates = self.options, self._templates()
        train = annotated(train, templates.needed, self._annotators)
        if options.engine == "crfsuite":
            from taggers.crf.crfsuite import CRFsuiteEngine  # noqa: PLC0415 - not always used

            found: tuple[Engine, Training] = CRFsuiteEngine.trained(
                train, options, templates, progress=progress
            )
        else:
            from taggers.crf.wordtype import WordTypeEngine  # noqa: PLC0415 - numba is slow to import

            before = warm_start.wordtype() if warm_start is not None else None
            found = WordTypeEngine.trained(
                train, options, templates, warm_start=before, progress=progress
            )
        self._engine, self.training = found
        self._converted = None
        self.labels = train.labels
        return self

    def _templates(self) -> Templates:
        """Return the feature templates of the model."""
        return self._resources.templates(self.options)

    def tag(
        self,
        batch: Batch,
        *,
        measure: str = "probability",
        detail: Detail = "document",
        progress: Progress | None = None,
    ) -> Tagging:
        """Predict the most probable tag sequence of each document.

        Parameters
        ----------
        batch : Batch
            Documents; their own tags are ignored.
        measure : str
            The measure of confidence, one of `taggers.base.MEASURES`.
        detail : {"document", "token", "entity", "labels"}
            What to compute in addition; see `taggers.base.Detail`. For ``"entity"``, a model of
            CRFsuite is converted to the engine "wordtype".
        progress : callable, optional
            Called with the number of tagged documents and the number of all documents.

        Raises
        ------
        InputError
            If the measure is unknown, or a stream is missing and no annotator adds it.
        ValueError
            If the tagger has not been trained.
        """
        check_measure(measure)
        if self._engine is None:
            raise ValueError("the CRF has not been trained")
        batch = annotated(batch, self._templates().needed, self._annotators)
        need: Detail = "token" if needs_marginals(measure) and detail == "document" else detail
        engine = self.wordtype() if detail == "entity" else self._engine
        decoded = engine.decode(batch, detail=need, progress=progress)
        number = [self.labels.index(name) for name in engine.labels]
        tags = np.array(number, np.int16)[decoded.labels]
        marginals = None
        if decoded.marginals is not None:
            marginals = np.zeros((len(tags), len(self.labels)))
            marginals[:, number] = decoded.marginals
        chosen = decoded.chosen
        if marginals is not None:
            chosen = token_confidence_of(marginals, tags)
        confidence = document_confidence(
            measure,
            batch.document_offsets,
            token_confidence=chosen,
            log_probability=decoded.log_probability,
        )
        return Tagging(
            well_formed(tags, batch.document_offsets, self.labels),
            self.labels,
            confidence,
            None if detail == "document" else chosen,
            marginals,
            None if decoded.entities is None else self._by_class(decoded.entities, engine.labels),
        )

    def _by_class(
        self, entities: npt.NDArray[np.float64], labels: Sequence[str]
    ) -> npt.NDArray[np.float64]:
        """Reorder columns by the classes of the engine to the classes of the tagger."""
        classes = classes_of(self.labels)
        found = np.zeros((len(entities), len(classes)))
        found[:, [classes.index(name) for name in classes_of(labels)]] = entities
        return found

    @property
    def kernels(self) -> tuple[str, ...]:
        """The modules whose compiled functions are called; see `taggers.base.kernels_of`."""
        modules = ("corpus.tokens.scanner", "taggers.crf.wordtype")
        return (*modules, "gazetteers.phrases.matching") if self.options.phrases else modules

    def wordtype(self) -> WordTypeEngine:
        """Return the word-type engine of this model, converted from CRFsuite if necessary."""
        from taggers.crf.wordtype import WordTypeEngine  # noqa: PLC0415 - numba is slow to import

        if self._engine is None:
            raise ValueError("the CRF has not been trained")
        if isinstance(self._engine, WordTypeEngine):
            return self._engine
        if self._converted is None:
            converted = WordTypeEngine.of_crfsuite(
                self._engine.model, self._templates(), lambda name: self.labels[int(name)]
            )
            self._converted = converted.with_patients(*self._engine.patients)
        return self._converted

    def contents(self) -> dict[str, int]:
        """Return the number of feature values with a weight, and of words and phrases of lists."""
        values = {"feature values": len(self.wordtype().weights.hashes)}
        return values | self._resources.contents() | contents_of(self._annotators)

    def pruned(self, pruning: Pruning) -> CRFTagger:
        """Return a model that reveals less of its training documents.

        Returns
        -------
        CRFTagger
            A model with the engine "wordtype".

        Raises
        ------
        InputError
            If the model knows no value that enough patients have. Model files of CRFsuite that
            this package has not trained do not say how many patients have a value.
        """
        engine = self.wordtype()
        if not pruning.keeps(engine.weights.patients).any():
            raise InputError(
                "no feature value of the model is known to occur in the training documents of "
                f"{pruning.min_patients} patients or more; export with a lower --min-patients, or "
                "train on more documents (a model file of another program does not say in how many "
                "documents a value occurs)"
            )
        options = replace(self.options, engine="wordtype")
        if self.options.engine == "crfsuite":  # which computes in double precision
            options = replace(options, precision="double")
        tagger = CRFTagger(options)
        tagger.labels, tagger.training = self.labels, self.training
        tagger._annotators = pruned_annotators(self._annotators, pruning)
        tagger._resources = self._resources.pruned(pruning)
        # The features of words use the pruned resources, too.
        tagger._engine = engine.pruned(pruning, tagger._templates())
        return tagger

    def traces(self, words: Sequence[str], lists: PublicLists) -> dict[str, npt.NDArray[np.bool_]]:
        """Return which words left traces; see `taggers.pruning.PrunableTagger`."""
        return {
            **self.wordtype().traces(words),
            **self._resources.traces(words, lists),
            **traces_in(self._annotators, words, lists),
        }

    @classmethod
    def of_crfsuite(cls, model: bytes) -> CRFTagger:
        """Convert a model file of CRFsuite, for the engine "wordtype".

        Parameters
        ----------
        model : bytes
            The content of a file with BIO labels and attributes such as ``-1:lower=dr``.

        Raises
        ------
        InputError
            If the file is damaged, or has other labels or attributes.
        """
        from taggers.crf.crfsuite_file import read_crfsuite  # noqa: PLC0415 - numba is slow to import
        from taggers.crf.wordtype import WordTypeEngine  # noqa: PLC0415 - the same

        names = read_crfsuite(model).labels
        classes = {name[2:] for name in names if name[:2] in {"B-", "I-"} and name[2:]}
        labels = bio_labels(classes)
        if unexpected := sorted(set(names) - set(labels)):
            raise InputError(
                f"the model has the label {shown(unexpected[0])}; expected O, B-CLASS and I-CLASS"
            )
        engine = WordTypeEngine.of_crfsuite(model)
        features = tuple(each.name for each in engine.templates.features)
        options = CRFOptions(
            features=features,
            window=engine.templates.window,
            streams=(),
            conjunctions=(),
            precision="double",
        )
        tagger = cls(options)
        tagger.labels, tagger._engine = labels, engine
        return tagger

    def save(self, folder: Path) -> None:
        """Write the model into a folder: its arrays and a description in JSON."""
        if self._engine is None:
            raise ValueError("the CRF has not been trained")
        options, resources = self.options, self._resources
        if resources.clusters is not None:
            weights = self.wordtype().weights
            resources = resources.with_nonzero_weights(
                self._templates(), weights.hashes, weights.key
            )
            options = replace(options, clusters=INSIDE_MODEL)
        if resources.names is not None:
            options = replace(options, names=(INSIDE_MODEL,))
        if options.phrases:
            options = replace(options, phrases=(INSIDE_MODEL,))
        description = {
            "kind": self.kind,
            "labels": self.labels,
            "engine_labels": self._engine.labels,
            "key": self._engine.key,
            "options": asdict(options),
            "annotators": {name: each.settings() for name, each in self._annotators.items()},
            **resources.description(),
            "training": asdict(self.training) if self.training else None,
        }
        write_model(folder, description, self._engine.files() | resources.files())

    @classmethod
    def load(cls, folder: Path) -> Self:
        """Read a model that `save` wrote.

        Raises
        ------
        InputError
            If the folder holds no CRF model, or one of its files was modified.
        """
        with errors_of_model(folder, cls.kind):
            model = ModelFiles(folder, cls.kind)
            tagger = cls(options_of_fields(CRFOptions, model.fields.fields("options")))
            tagger._annotators = annotators_of(model.fields.fields("annotators"))
            tagger._resources = Resources.of_model(model)
            tagger.labels, tagger.training = model.labels(), model.training()
            tagger._engine = _opened(model, tagger.options, tagger._templates())
        return tagger


def _opened(model: ModelFiles, options: CRFOptions, templates: Templates) -> Engine:
    if options.engine == "crfsuite":
        from taggers.crf.crfsuite import CRFsuiteEngine  # noqa: PLC0415 - not always used

        return CRFsuiteEngine.of_model(model, templates)
    from taggers.crf.wordtype import WordTypeEngine  # noqa: PLC0415 - numba is slow to import

    return WordTypeEngine.of_model(model, options, templates)
