"""The functions of ``import bootstrap``: the commands as functions of Python objects."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from itertools import chain
from pathlib import Path
from typing import Any

from anonymizers.keys import Key
from bootstrap.config.configuration import (
    LACKS_ACTIVE,
    SECTIONS,
    Configuration,
    parse_configuration,
    read_tables,
)
from bootstrap.config.overrides import Source
from bootstrap.data.preparation import prepare
from bootstrap.deidentification.deidentify import (
    DeidentifyOptions,
    deidentified_batches,
    deidentify_options,
)
from bootstrap.execution.cluster import connected
from bootstrap.execution.parallel_tagger import ParallelTagger, ReportStage
from bootstrap.execution.processes import default_jobs
from bootstrap.experiments.folder import opened_experiment
from bootstrap.experiments.plan import load_plan
from bootstrap.experiments.results import read_results, write_results
from bootstrap.experiments.runner import Event, carry_out_all, prepare_runs
from bootstrap.inference import TaggedDocument, find_model, read_unit_file, tag_documents
from bootstrap.record_batches import BatchDeidentifier, BatchTagger
from bootstrap.reports.comparison import RunResult
from bootstrap.runs.continued import check_continued
from bootstrap.runs.folder import Run
from bootstrap.runs.lists import with_classes_of_lists
from bootstrap.runs.metrics import IterationMetrics
from bootstrap.runs.resume import opened_run
from bootstrap.runs.runner import complete_run, run_iterations, warm_up_taggers
from bootstrap.tagging import TagOptions
from corpus import formats
from corpus.arguments import elements_of, typed
from corpus.document import Document
from corpus.errors import InputError, Problems
from corpus.evaluation import scoring
from corpus.evaluation.measures import Scores
from corpus.formats import Columns, WriteReport
from corpus.formats.batches import batches_of, documents_of
from corpus.tags import classes_of
from corpus.units import Unit
from taggers.base import Detail
from taggers.options import Reach

#: The keys of ``[data]`` that `train` takes as separate arguments.
_NOTES = ("seed", "validation", "unlabeled", "unit")


@dataclass(frozen=True, slots=True)
class Model:
    """A trained tagger, with the settings of its run for tagging.

    Parameters
    ----------
    tagger : ParallelTagger
        The tagger.
    unit : {"document", "line", "sentence"}
        The unit that is tagged separately.
    propagate : mapping of str to {"text", "words"}
        What is propagated of the entities of each class within a note.
    min_probability : mapping of str to float
        The smallest probability of entities that are tagged, by class.
    """

    tagger: ParallelTagger
    unit: Unit
    propagate: Mapping[str, Reach]
    min_probability: Mapping[str, float]

    @property
    def classes(self) -> tuple[str, ...]:
        """The classes that the model finds."""
        return classes_of(self.tagger.labels)

    def _tag_options(self, measure: str, detail: Detail = "document") -> TagOptions:
        return TagOptions(self.unit, measure, detail, self.propagate, self.min_probability)

    @typed
    def tag(
        self,
        notes: Iterable[str | Document | TaggedDocument],
        *,
        measure: str = "probability",
        span_confidence: bool = False,
    ) -> Iterator[TaggedDocument]:
        """Return notes with the spans that the model finds.

        Parameters
        ----------
        notes : iterable of str, Document or TaggedDocument
            Texts, with their positions as ids, or documents, whose own spans are ignored. They are
            read as they are tagged, a bounded number at a time.
        measure : str
            The measure of the confidence of a note, one of `taggers.base.MEASURES`.
        span_confidence : bool
            Whether to compute the probability of each span as well.

        Returns
        -------
        iterator of TaggedDocument
            In the order of the notes.

        Raises
        ------
        TypeError, InputError
            When a note is read that is neither a text nor a document; the message has its position.
        """
        options = self._tag_options(measure, "entity" if span_confidence else "document")
        return tag_documents(_documents_of(notes, "notes", str), self.tagger, options)

    @typed
    def deidentify(
        self,
        notes: Iterable[str | Document | TaggedDocument],
        *,
        policy: str | Path | None = None,
        key: bytes | None = None,
        threshold: float = 0.0,
    ) -> Iterator[Document]:
        """Return notes without the patient, as ``bootstrap deidentify`` writes them.

        Parameters
        ----------
        notes : iterable of str, Document or TaggedDocument
            As for `tag`. Notes of the same group are of one patient.
        policy : str or Path, optional
            A policy of the package, or a TOML file: ``"surrogates"`` by default with a key, and
            ``"placeholders"`` without one.
        key : bytes, optional
            The secret from which replacements follow, at least 32 bytes.
        threshold : float
            Tokens whose probability of being outside of all entities is lower are also replaced.

        Returns
        -------
        iterator of Document
            In the order of the notes, with the spans of what stands for mentions in the new texts.

        Raises
        ------
        TypeError, InputError
            If the policy or the key is invalid; otherwise as in `tag`.
        """
        options = self._deidentify_options(policy, key, threshold)
        batches = batches_of(_documents_of(notes, "notes", str))
        results = deidentified_batches(batches, self.tagger, options)
        return chain.from_iterable(documents_of(result.annotated) for _, result in results)

    @typed
    def batch_tagger(
        self, *, measure: str = "probability", columns: Mapping[str, str] | None = None
    ) -> BatchTagger:
        """Return a function that tags notes in record batches, in any process.

        It is a plain value that pickles, for Ray Data, Spark and other engines. Each process loads
        the model once, from its path, which all machines need.

        Parameters
        ----------
        measure : str
            As in `tag`.
        columns : mapping of str to str, optional
            The names of the columns ``id``, ``text``, ``label`` and ``group``, where they differ.

        Returns
        -------
        callable
            From RecordBatch to RecordBatch: it receives texts, and returns the same rows with a
            column of spans and one of confidences. Other columns stay.

        Examples
        --------
        >>> tag = bootstrap.load("runs/first").batch_tagger()  # doctest: +SKIP
        >>> frame.mapInArrow(lambda batches: map(tag, batches), schema)  # doctest: +SKIP
        """
        return BatchTagger(self.tagger.saved, self._tag_options(measure), _columns(columns))

    @typed
    def batch_deidentifier(
        self,
        *,
        policy: str | Path | None = None,
        key: bytes | None = None,
        columns: Mapping[str, str] | None = None,
    ) -> BatchDeidentifier:
        """Return a function that de-identifies notes in record batches, in any process.

        Notes of a patient, whom the column ``group`` names, are seen together within a batch alone.

        Parameters
        ----------
        policy, key
            As in `deidentify`.
        columns : mapping of str to str, optional
            As in `batch_tagger`.

        Raises
        ------
        InputError
            If the policy or the key is invalid, or the policy has ``[known]`` patients.
        """
        options = self._deidentify_options(policy, key)
        if options.policy.known:
            raise InputError(f"the policy {policy} has [known], which bootstrap deidentify reads")
        return BatchDeidentifier(self.tagger.saved, options, _columns(columns))

    def _deidentify_options(
        self, policy: str | Path | None, key: bytes | None, threshold: float = 0.0
    ) -> DeidentifyOptions:
        name = str(policy) if policy else "placeholders" if key is None else "surrogates"
        given = None if key is None else Key(key)
        return deidentify_options(name, given, self.unit, threshold=threshold)


def _columns(names: Mapping[str, str] | None) -> Columns:
    """Return the names of columns, some of which are given."""
    known = asdict(Columns())
    for key in names or ():
        if key not in known:
            raise InputError(f"columns has the key {key!r}; expected {', '.join(known)}")
    return Columns(**(known | dict(names or {})))


def _documents_of(values: Iterable[Any], name: str, *kinds: type) -> Iterator[Document]:
    """Yield the documents of an argument, whose elements may also be of other kinds."""
    for number, value in enumerate(elements_of(values, name, Document, TaggedDocument, *kinds)):
        if isinstance(value, str):
            try:
                yield Document(str(number), value)
            except InputError as error:
                raise InputError(f"{name}[{number}]: {error}") from None
        else:
            yield value.document if isinstance(value, TaggedDocument) else value


def _number_of(jobs: int | None) -> int:
    if jobs is not None and jobs < 1:
        raise InputError(f"jobs = {jobs}: expected 1 or more")
    return jobs or default_jobs()


@typed
def load(path: str | Path, *, jobs: int = 1, trust: Collection[str] = ()) -> Model:
    """Load a model.

    Parameters
    ----------
    path : str or Path
        A run, whose final or best model is loaded, or a model folder.
    jobs : int
        Number of processes that tag.
    trust : collection of str
        Taggers of other packages, ``"package.module:Class"``, whose code may be imported because
        the folder names it.

    Raises
    ------
    InputError
        If the path is neither, or the model is damaged, or is of a kind that is not trusted.
    """
    jobs = _number_of(jobs)
    folder = find_model(Path(path))
    tagger = ParallelTagger.load(folder, trust=trust, jobs=jobs)
    of_run = read_unit_file(folder)
    return Model(tagger, of_run.unit, of_run.propagate, of_run.min_probability)


@typed
def train(
    config: str | Path | None = None,
    *,
    out: str | Path,
    resume: bool = False,
    jobs: int | None = None,
    on_iteration: Callable[[IterationMetrics], None] | None = None,
    report: ReportStage | None = None,
    trust: Collection[str] = (),
    **settings: Any,
) -> Run:
    """Train a tagger by self-training, in a run folder as ``bootstrap run`` does.

    Parameters
    ----------
    config : str or Path, optional
        A TOML file of settings; without one, all settings have their defaults.
    out : str or Path
        The run folder.
    resume : bool
        Whether to resume an interrupted run in that folder.
    jobs : int, optional
        Number of processes that tag; by default the number of processors.
    on_iteration : callable, optional
        Called with the metrics of each iteration when it is finished.
    report : callable, optional
        Called with the stage, the steps done and their total within an iteration.
    trust : collection of str
        Taggers of other packages that the configuration of a run may name, as in `load`. Your own
        file, and `settings`, may name any.
    **settings
        Settings that override the file: ``seed``, ``validation``, ``unlabeled`` and ``unit`` of
        ``[data]`` by name, and the sections ``data``, ``labels``, ``initial_model``, ``tagger``,
        ``loop``, ``select`` and others as mappings. Relative paths are relative to the current
        folder. A section ``[active]`` of the file has no effect: see `active`.

    Returns
    -------
    Run
        The finished run: ``run.metrics()``, ``run.outcome()``, ``run.best_model()``.

    Raises
    ------
    InputError
        If a setting or a file is invalid.
    TrainingError
        If the training of a model fails.
    """
    if "active" in settings:
        raise InputError("bootstrap.train does no active learning; use bootstrap.active")
    configuration = _configuration(config, settings, "bootstrap.train", trust)
    configuration = replace(configuration, active=None)
    return _run(configuration, Path(out), resume, jobs, on_iteration, report)


@typed
def active(
    config: str | Path | None = None,
    *,
    out: str | Path,
    resume: bool = False,
    jobs: int | None = None,
    on_iteration: Callable[[IterationMetrics], None] | None = None,
    report: ReportStage | None = None,
    trust: Collection[str] = (),
    **settings: Any,
) -> Run:
    """Train a tagger by active learning, in a run folder as ``bootstrap active`` does.

    Parameters
    ----------
    config, out, resume, jobs, on_iteration, report, trust
        As in `train`.
    **settings
        As in `train`. The section ``active`` is required, here or in the file: its ``gold`` names
        the documents whose annotations are used, and its ``budget`` limits how many.

    Returns
    -------
    Run
        The finished run; ``human_documents`` and ``human_tokens`` of ``run.metrics()`` count what
        was annotated.

    Raises
    ------
    InputError
        If a setting or a file is invalid.
    TrainingError
        If the training of a model fails.
    """
    configuration = _configuration(config, settings, "bootstrap.active", trust)
    if configuration.active is None:
        raise InputError(LACKS_ACTIVE.format(config or "bootstrap.active"))
    return _run(configuration, Path(out), resume, jobs, on_iteration, report)


def _run(  # noqa: PLR0917 - the arguments of `train` and `active`
    configuration: Configuration,
    folder: Path,
    resume: bool,
    jobs: int | None,
    on_iteration: Callable[[IterationMetrics], None] | None,
    report: ReportStage | None,
) -> Run:
    configuration = with_classes_of_lists(configuration)
    notes, _ = prepare(configuration)
    check_continued(configuration, notes)
    with (
        connected(configuration.execution.cluster),
        opened_run(folder, configuration, resume=resume) as run,
    ):
        if not run.is_finished():
            warm_up_taggers(configuration)
            for metrics in run_iterations(
                run,
                configuration,
                notes,
                jobs=_number_of(jobs),
                report=report or (lambda *_: None),
            ):
                if on_iteration:
                    on_iteration(metrics)
        complete_run(run, configuration, notes, jobs=_number_of(jobs))
    return run


def _configuration(
    config: str | Path | None,
    settings: Mapping[str, Any],
    function: str,
    trust: Collection[str],
) -> Configuration:
    """Combine the settings of a file with the keyword arguments of a function."""
    path = Path(config or function)
    tables = read_tables(path) if config else {}
    origins: dict[tuple[str, ...], str] = {}
    for keys, value in _by_key(settings, function):
        section = tables.setdefault(keys[0], {})
        if not isinstance(section, dict):
            raise InputError(f"{path}: {keys[0]} must be a section, [{keys[0]}]")
        section[keys[1]] = str(value) if isinstance(value, Path) else value
        origins[keys] = function
    return parse_configuration(tables, Source(str(path), path.parent, origins, trust))


def _by_key(settings: Mapping[str, Any], function: str) -> Iterator[tuple[tuple[str, str], Any]]:
    """Yield each setting of keyword arguments with its section and key."""
    for name, value in settings.items():
        if name in _NOTES:
            yield ("data", name), value
        elif (
            name in SECTIONS
            and isinstance(value, Mapping)
            and all(isinstance(k, str) for k in value)
        ):
            yield from (((name, key), setting) for key, setting in value.items())
        elif name in SECTIONS:
            raise InputError(f"{function}: {name} = {value!r}: expected a mapping of settings")
        else:
            expected = ", ".join((*_NOTES, *SECTIONS))
            raise InputError(f'{function} has no setting "{name}"; expected {expected}')


@typed
def experiment(
    file: str | Path,
    *,
    out: str | Path,
    jobs: int | None = None,
    on_event: Callable[[Event], None] | None = None,
    trust: Collection[str] = (),
) -> list[RunResult]:
    """Carry out the runs of an experiment file that are not finished.

    Parameters
    ----------
    file : str or Path
        An experiment file, as for ``bootstrap experiment``.
    out : str or Path
        The folder of the experiment, which is continued if it exists.
    jobs : int, optional
        Number of processes; by default the number of processors.
    on_event : callable, optional
        Called with what the runs report.
    trust : collection of str
        As in `train`.

    Returns
    -------
    list of RunResult
        The results of all runs; `bootstrap.compare` compares their variants.

    Raises
    ------
    InputError
        If a setting or a file is invalid, or if a run fails; the other runs are finished first.
    """
    plan = load_plan(Path(file), trust)
    failures = []
    with opened_experiment(Path(out), plan) as folder:
        schedule = prepare_runs(plan, folder)
        for event in carry_out_all(schedule, jobs=_number_of(jobs)):
            if event.message.kind == "failed":
                failures.append(f"{event.what.name} failed: {event.message.text}")
            if on_event:
                on_event(event)
        write_results(folder)
        results = read_results(folder)
    if failures:
        raise InputError(f"{out}: {'; '.join(failures)}")
    return results


@typed
def evaluate(
    gold: Iterable[Document | TaggedDocument], predicted: Iterable[Document | TaggedDocument]
) -> Scores:
    """Score predicted against gold documents, compared by their ids.

    Returns
    -------
    Scores
        ``scores.counts().f1`` is strict entity F1; ``scores.class_counts("PERSON").recall`` is the
        recall of a class.
    """
    return scoring.score(_documents_of(gold, "gold"), _documents_of(predicted, "predicted"))


@typed
def read(
    source: str | Path,
    *,
    format: str | None = None,
    columns: Columns | None = None,
    encoding: str | None = None,
    delimiter: str | None = None,
    problems: Problems | None = None,
) -> Iterator[Document]:
    """Yield the documents of a corpus.

    Parameters
    ----------
    source : str or Path
        A file, a folder or a glob pattern, or ``"synthetic:1000"`` for generated notes.
    format : str, optional
        A key of `corpus.formats.table.FORMATS`; detected if not given.
    columns : Columns, optional
        The names of columns or keys.
    encoding : str, optional
        Encoding of text formats; by default, that of CSV is detected, and others are UTF-8.
    delimiter : str, optional
        The character between the columns of CSV, or ``"tab"``; detected by default.
    problems : Problems, optional
        Collects what cannot be used; by default reading stops at the first such problem.
    """
    return formats.read(
        source,
        format=format,
        columns=columns or Columns(),
        problems=problems or Problems(),
        encoding=encoding,
        delimiter=delimiter,
    )


@typed
def write(
    documents: Iterable[Document | TaggedDocument],
    target: str | Path,
    *,
    format: str | None = None,
    columns: Columns | None = None,
) -> WriteReport:
    """Write documents to a new file or folder: completely, or not at all.

    Parameters
    ----------
    documents : iterable of Document or TaggedDocument
        The documents, which are written one by one.
    target : str or Path
        The target, which must not exist. Its suffix determines the format by default.
    format : str, optional
        A key of `corpus.formats.table.FORMATS`.
    columns : Columns, optional
        The names of columns or keys.

    Returns
    -------
    WriteReport
        What was written, and what the format could not hold.
    """
    bare = _documents_of(documents, "documents")
    return formats.write(bare, target, format=format, columns=columns or Columns())


@typed
def open_run(path: str | Path) -> Run:
    """Open the folder of a run, finished or not.

    Raises
    ------
    InputError
        If it is not the folder of a run.
    """
    run = Run(Path(path))
    run.metrics()
    return run
