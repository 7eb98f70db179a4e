"""The parts of the loop that the configuration of a run describes, and its state on disk."""

from __future__ import annotations

import copy
import functools
import json
import logging
import shutil
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from bootstrap.active_learning.rounds import GoldOracle, Rounds
from bootstrap.config.configuration import Configuration
from bootstrap.config.options import AUTO, listed
from bootstrap.config.presets import list_model_options
from bootstrap.config.tagger_sections import TaggerSection
from bootstrap.data.pattern_trust import trusted_patterns
from bootstrap.data.splits import Notes
from bootstrap.execution.parallel_tagger import ParallelTagger, ReportStage, fit_all, in_folder
from bootstrap.runs.cached_pool import CachedPool
from bootstrap.runs.embeddings import embeddings_of_notes
from bootstrap.runs.folder import Run
from bootstrap.runs.iteration_folder import IterationFolder
from bootstrap.runs.lists import list_options_for
from bootstrap.runs.metrics import IterationMetrics, f1_of
from bootstrap.runs.observer import Stopwatch, TimedCandidates, TimedPool, TimedTrainer
from bootstrap.runs.records import RunError
from bootstrap.selection.proportional import ChosenDocuments, Selection
from bootstrap.selection.proportions import (
    Reference,
    configured_reference,
    content_of,
    measured_reference,
)
from bootstrap.selection.strategies import Strategy, initial_strategy_for, portfolio, uses_lists
from bootstrap.self_training.candidates import NO_STRATEGIES
from bootstrap.self_training.loop import Pool
from bootstrap.self_training.negatives import blank_documents, missing_blanks
from bootstrap.self_training.state import RELABEL, Candidate, State, TrainingSet, Trial, Views
from bootstrap.self_training.stopping import Limits
from corpus.batch import Batch
from corpus.counts import count_words
from corpus.errors import InputError
from corpus.evaluation.scoring import GoldBatch
from corpus.storage.atomic import new_folder
from corpus.tags import UNKNOWN, classes_of
from taggers import load_tagger
from taggers.augmentation import MentionReplacement
from taggers.base import Tagger, TrainingError
from taggers.dictionaries.dictionary_options import ListOptions
from taggers.model_folder import add_to_model, read_file_of_model
from taggers.options import TaggerOptions
from taggers.patterns import PATTERNS_FILE
from taggers.patterns.first import patterns_bytes, without_patterns

_log = logging.getLogger(__name__)

#: A file next to a model: the unit of its training documents and the classes for propagation.
UNIT_FILE = "unit.json"

#: Documents of mentions without context for each gold document with entities.
_MENTION_DOCUMENTS = 8

# Part of the seed of augmentation's random generator; every stage has a different one.
_STAGE = 3


#: Selects nothing: the strategy of rounds that are not hybrid.
NO_SELECTION = Strategy(lambda tagging, batch, rng: Selection(np.zeros(0, np.int64)))


class NoDocuments:
    """A pool without documents, for rounds that are not hybrid."""

    def batches(self, start: int = 0) -> Iterator[Batch]:
        """Yield nothing."""
        return iter(())


@dataclass(frozen=True, slots=True)
class RoundLimits(Limits):
    """The limits of a loop with rounds: the limits of the loop count from the last round on.

    Parameters
    ----------
    rounds : Rounds
        The rounds.
    kappas : list of float or None
        Cohen's kappa of the validation tags of each model and the one before; the caller adds to
        it.
    """

    rounds: Rounds = field(kw_only=True)
    kappas: list[float | None] = field(default_factory=list)

    def gold(self, state: State | None) -> Batch:
        """Ask for the documents of the next round, and return all that are annotated."""
        if state and not self.rounds.ended():
            query, second = self.rounds.query, state.second
            # Names are not propagated: the tagger itself is uncertain.
            others = [second] if query.views and second else []
            details = (query.detail, query.detail)
            self.rounds.ask(Views(state.model.tagger, others, query.measure, details).tag)
        return self.rounds.gold(self.rounds.number)

    def asks(self) -> bool:
        return not self.rounds.ended()

    def reads_after(self, iteration: int) -> bool:
        return self.asks() or iteration < self.rounds.number + self.loop.iterations

    def reason(self, state: State, *, batches_left: bool) -> str | None:
        if goal := self.rounds.goal(state.f1[-1], self.kappas):
            return goal
        if self.asks():
            return None
        number = self.rounds.number
        if not self.rounds.options.hybrid:
            return self.rounds.ended()
        after = replace(state, f1=state.f1[number:], learns_nothing=False)
        limits = Limits(self.loop, max(self.not_before - number, 0))
        return limits.reason(after, batches_left=batches_left)


@dataclass(frozen=True)
class LoopParts:
    """What a run hands to `bootstrap.self_training.loop.self_train`.

    Parameters
    ----------
    run : Run
        The run; its closed iterations are the ones to continue.
    configuration : Configuration
        Its configuration.
    notes : Notes
        Its documents.
    jobs : int
        Number of processes that tag.
    report : callable
        Called with the progress within an iteration.
    watch : Stopwatch
        Measures the stages of iterations.
    """

    run: Run
    configuration: Configuration
    notes: Notes
    jobs: int
    report: ReportStage
    watch: Stopwatch

    @cached_property
    def closed(self) -> list[IterationMetrics]:
        """The metrics of the iterations that were closed before."""
        return self.run.metrics()

    @cached_property
    def validation(self) -> GoldBatch:
        """The validation documents."""
        validation = self.notes.validation
        return GoldBatch.from_documents(validation.documents, validation.batch)

    @cached_property
    def reference(self) -> Reference:
        """The reference proportions, of the classes of the seed: a tagger finds no others."""
        batch, configured = self.notes.validation.batch, self.configuration.reference
        if configured:
            tokens = batch.n_tokens / max(len(batch), 1)
            return configured_reference(
                configured.per_token, configured.length, configured.empty, tokens
            )
        classes = classes_of(self.notes.seed.batch.labels)
        return measured_reference(content_of(batch, batch.tags, batch.labels, classes), classes)

    @cached_property
    def rounds(self) -> Rounds | None:
        """The rounds of active learning that follow the closed iterations."""
        active, gold = self.configuration.active, self.notes.gold
        if active is None or gold is None:
            return None
        return Rounds(
            self.notes.seed.batch,
            gold.batch.with_tags(np.full(gold.batch.n_tokens, UNKNOWN, np.int16), ()),
            GoldOracle(gold.batch),
            active,
            random_state=self.configuration.loop.random_state,
            queried=self.run.queried(classes_of(gold.batch.labels)),
        )

    @cached_property
    def limits(self) -> Limits:
        """When the loop ends."""
        loop, later = self.configuration.loop, self.configuration.later
        not_before = later.start.iteration if later else 0
        if self.rounds is None:
            return Limits(loop, not_before)
        kappas = [row.kappa for row in self.closed[1:]]
        return RoundLimits(loop, not_before, rounds=self.rounds, kappas=kappas)

    def gold(self, state: State | None) -> Batch:
        """Return the annotated documents of the iteration after a state.

        Raises
        ------
        RunError
            If the iteration needs a model of the second view, and there is none: the run was ended.
        """
        if state and not (state.second or state.is_initial):
            strategies = self.candidates.strategies_after(state.chosen)
            if any(strategy.views for strategy in strategies):
                raise RunError(
                    f"{self.run.folder}: iteration {state.iteration} has no model of the second "
                    "view, with which the next one selects; start a new run in another folder"
                )
        if not isinstance(self.limits, RoundLimits):
            return self.notes.seed.batch
        with self.watch.stage("query"):
            return self.limits.gold(state)

    @cached_property
    def pool(self) -> Pool:
        """The unlabeled documents."""
        notes = self.notes.unlabeled
        if not self.configuration.self_trains:
            return NoDocuments()
        if self.configuration.loop.keep != RELABEL:
            return TimedPool(notes, self.watch)
        return TimedPool(CachedPool(notes, self.run.batches_folder), self.watch)

    @cached_property
    def candidates(self) -> TimedCandidates:
        """What selects pseudo-labels.

        Raises
        ------
        InputError
            If the strategy needs a tagger of lists, and the lists have names or places of no class.
        """
        configuration, rounds, strategies = self.configuration, self.rounds, [NO_SELECTION]
        initial, select = configuration.initial_model, configuration.select
        reference = self.reference if select.proportions else None
        list_tagger = self.list_tagger()
        if configuration.self_trains:
            lists = list_tagger is not None
            strategies = portfolio(select, reference, configuration.capabilities, lists=lists)
        return TimedCandidates(
            [self.watch.timed_strategy(strategy) for strategy in strategies],
            configuration.loop,
            augment=self.augmentation(list_tagger),
            copy=self.copy_once,
            initial=initial_strategy_for(initial.selection, select, reference) if initial else None,
            list_tagger=list_tagger,
            excludes=self.excludes,
            queries_second=lambda: bool(rounds and rounds.query.views and not rounds.ended()),
            watch=self.watch,
        )

    def augmentation(
        self, list_tagger: Callable[[], Tagger] | None, *, second: bool = True
    ) -> Callable[[Batch], tuple[Batch | None, Batch | None, Batch | None]] | None:
        """Return the function that derives documents from gold ones; None without augmentation.

        The blank ones are found by a tagger of lists. Only the second view needs mentions.
        """
        options, random_state = self.configuration.augment, self.configuration.loop.random_state
        if not options.copies:
            return None

        @functools.cache
        def unlabeled() -> Batch | None:
            batch = next(iter(self.pool.batches()), None)
            return batch and batch.take(np.flatnonzero(~self.excludes(batch)))

        def augment(gold: Batch) -> tuple[Batch | None, Batch | None, Batch | None]:
            replacement = MentionReplacement(gold, options)
            rng = np.random.default_rng([random_state, 0, _STAGE])
            copies = replacement.copies(rng)
            number, mentions = len(replacement.rows), None
            if second:
                mentions = replacement.joined(rng, _MENTION_DOCUMENTS * number, float(number))
            missing, blanks = missing_blanks(gold, self.notes.validation.batch), None
            if list_tagger and missing and (pool := unlabeled()):
                blanks = blank_documents(pool, gold, list_tagger(), missing, rng)
            return copies if len(copies) else None, mentions, blanks

        return augment

    def copy_once(self, documents: Batch) -> Batch:
        """Return a copy with other mentions of each document with entities."""
        replacement = MentionReplacement(documents, replace(self.configuration.augment, copies=1))
        random_state = self.configuration.loop.random_state
        return replacement.copies(np.random.default_rng([random_state, 0, _STAGE]))

    def excludes(self, batch: Batch) -> npt.NDArray[np.bool_]:
        """Return which documents are annotated, or belong to held-out patients."""
        groups = pa.array(sorted(self.notes.held_out.groups), pa.large_string())
        excluded: npt.NDArray[np.bool_] = np.asarray(pc.is_in(batch.groups, groups))
        return excluded | self.rounds.annotated(batch) if self.rounds else excluded

    @cached_property
    def trainer(self) -> TimedTrainer:
        """What trains the taggers, each in a folder of the run."""
        configuration, run, report, jobs = self.configuration, self.run, self.report, self.jobs
        random_state = configuration.loop.random_state
        embeddings = functools.partial(
            embeddings_of_notes,
            *(run.embeddings_folder, self.notes, random_state),
            jobs=jobs,
            report=report,
        )
        unit = {
            "unit": configuration.data.unit,
            "columns": asdict(configuration.data.columns_of("unlabeled")),
        }
        files = {UNIT_FILE: json.dumps(unit).encode()}
        trusted = trusted_patterns(
            configuration.patterns, self.notes.seed.batch, self.notes.validation.batch
        )
        if trusted.patterns:
            files[PATTERNS_FILE] = patterns_bytes(trusted.patterns)
        if trusted.decisions:
            run.save_patterns(trusted.decisions)

        def untrained(
            section: TaggerSection, folder: Path, *, keeps: bool = False
        ) -> ParallelTagger:
            options = self._with_counts(section.options).with_embeddings(embeddings)
            options = options.with_list_model(lambda: self.list_model)
            return ParallelTagger(
                folder, section.kind, options, jobs=jobs, report=report, files=files, keeps=keeps
            )

        numbers = Counter[int]()

        def alternative(iteration: int) -> ParallelTagger:
            folder = run.iteration(iteration).alternative(numbers[iteration])
            numbers[iteration] += 1
            return untrained(configuration.tagger_of(iteration), folder, keeps=True)

        def continued() -> ParallelTagger:
            folder = run.iteration(0).alternative(numbers[0])
            numbers[0] += 1
            shutil.rmtree(folder, ignore_errors=True)  # of an interrupted process
            best = Run(Path(configuration.loop.continues)).best_model()
            tagger = without_patterns(load_tagger(best, trust=configuration.kinds))
            folder.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            with new_folder(folder) as staging:
                tagger.save(staging)
                add_to_model(staging, files)
            return self.load(folder)  # with these patterns

        train = functools.partial(fit_all, jobs=self.jobs, report=report)
        return TimedTrainer(
            alternative,
            self.validation,
            configuration.loop,
            measure=configuration.select.measure,
            second_tagger_for=lambda i: untrained(
                configuration.second_tagger_of(i), run.iteration(i).second_folder
            ),
            min_probability=configuration.min_probability,
            propagate=configuration.propagate,
            fit_all=self.watch.timed("train", train),
            continued=continued if configuration.loop.continues else None,
            watch=self.watch,
        )

    def state(self) -> State | None:
        """Read the state after the closed iterations; None if there are none."""
        if not self.closed:
            return None
        configuration, last = self.configuration, self.closed[-1]
        folder = self.run.iteration(last.iteration)
        tagger, second = self.load(folder.model_folder), None
        if folder.second_folder.is_dir():
            second = self.load(folder.second_folder)
        initial = configuration.initial_model
        is_initial = initial is not None and tagger.kind == initial.kind
        gold = self.rounds.gold(self.rounds.number) if self.rounds else self.notes.seed.batch
        selected = self.selected(last.iteration, classes_of(tagger.labels))
        unchanged = [row.iteration for row in self.closed if row.is_unchanged]
        copies, pseudo = gold if last.augmented else None, tuple(selected)
        training = self.candidates.training_set(
            gold,
            TrainingSet(gold, configuration.loop, copies, None, None, pseudo, last.with_blanks),
        )
        goes_on = training.has_entities() or (last.finds_entities and not last.selected)
        return State(
            f1=tuple(f1_of(self.closed)),
            model=self.trainer.scored(Candidate("", training), tagger),
            training=training,
            second=second,
            chosen=tuple(
                row.strategy
                for row in self.closed[max(unchanged, default=0) + 1 :]
                if len({trial.name for trial in row.trials} - NO_STRATEGIES) > 1
            ),
            is_initial=is_initial,
            learns_nothing=is_initial and last.iteration > 0 and not goes_on,
        )

    def selected(self, iteration: int, classes: Sequence[str]) -> list[ChosenDocuments]:
        """Read the pseudo-labelled documents in the training set of a closed iteration."""
        rows = self.closed[: iteration + 1]
        changed = [row.iteration for row in rows if not row.is_unchanged]
        relabels = self.configuration.loop.keep == RELABEL
        return self.run.selected(changed[-1:] if relabels else changed, classes)

    def load(self, folder: Path) -> ParallelTagger:
        """Load a model of the run."""
        kinds = self.configuration.kinds
        return ParallelTagger.load(folder, trust=kinds, jobs=self.jobs, report=self.report)

    def list_tagger(self) -> Callable[[], Tagger] | None:
        """Return a function that returns the tagger of lists, if there is one."""
        configuration, notes = self.configuration, self.notes
        strategy = configuration.select.strategy
        if not (configuration.self_trains and uses_lists(strategy)):
            return None
        gold, validation = notes.seed.batch, notes.validation.batch
        lists = list_options_for(
            gold, configuration.augment, validation=validation, labels=configuration.lists.labels
        )
        if lists is None and strategy != AUTO:
            raise InputError(
                f"[select] strategy = {strategy!r} needs lists, and no class of the seed consists "
                "of names or places of [augment] gazetteers, or several classes share them; name "
                "gazetteers of them, or choose another strategy"
            )
        if lists is None:
            return None

        @functools.cache
        def list_tagger() -> Tagger:
            folder, jobs, report = self.run.lists_folder, self.jobs, self.report
            if folder.is_dir():
                return ParallelTagger.load(folder, jobs=jobs, report=report)
            options = self._with_counts(lists)
            tagger = ParallelTagger(folder, "lists", options, jobs=jobs, report=report)
            return tagger.fit(gold, rng=np.random.default_rng(0))

        # "auto" leaves strategies out without it; one that the user chose builds it when it tags.
        if strategy == AUTO and configuration.loop.iterations:
            try:
                list_tagger()
            except TrainingError as error:
                _log.warning("strategies with a view of lists are left out: %s", error)
                return None
        return list_tagger

    @cached_property
    def list_model(self) -> Path | None:
        """The folder of a model of the built-in lists, fitted to the words of the notes.

        These are the words of the unlabeled notes, or else of the seed. There is no model without
        built-in lists of a language, and none if no name of them is in the notes.
        """
        folder = self.run.list_model_folder
        lists = list_model_options(listed(self.configuration.data.language))
        if folder.is_dir() or not lists["names"]:
            return folder if folder.is_dir() else None
        options = ListOptions(**lists)
        for fitted in (self._with_counts(options), options):
            tagger = ParallelTagger(folder, "lists", fitted, jobs=self.jobs, report=self.report)
            with suppress(TrainingError):
                tagger.fit(self.notes.seed.batch, rng=np.random.default_rng(0))
                return folder
        if not self.closed:
            _log.warning('list_model = "auto" has no effect: no name of the lists is in the notes')
        return None

    def _with_counts(self, options: TaggerOptions) -> TaggerOptions:
        """Return the options of a tagger with the counts of the unlabeled documents."""
        run, report = self.run, self.report
        pool = copy.copy(self.notes.unlabeled)  # only the iterations report problems

        def count() -> Path:
            if not run.counts_file.exists():  # they may have been counted before an interruption
                report("counting words", 0, 0)
                counts = count_words(
                    pool.units(), progress=lambda done: report("counting words", done, 0)
                )
                counts.save(run.counts_file)
            return run.counts_file

        return options.with_word_counts(count)


def keep_models(folder: IterationFolder, state: State) -> None:
    """Move the models of an iteration to their places, and remove its alternatives.

    Models of the iteration before are copied, if nothing was better.
    """
    model = state.model
    tagger = in_folder(model.tagger)
    if tagger.folder.is_relative_to(folder.folder):
        add_choices(tagger, model)
        tagger.move(folder.model_folder)
    else:
        tagger.copy(folder.model_folder)
        shutil.rmtree(folder.second_folder, ignore_errors=True)  # of an alternative
        if state.second:
            in_folder(state.second).copy(folder.second_folder)
    folder.remove_alternatives()


def add_choices(tagger: ParallelTagger, model: Trial | IterationMetrics) -> None:
    """Add the smallest probabilities and the propagation of a model to its `UNIT_FILE`."""
    if model.min_probability or model.propagate:
        content = json.loads(read_file_of_model(tagger.folder, UNIT_FILE) or "{}")
        content["min_probability"] = dict(model.min_probability)
        content["propagate"] = dict(model.propagate)
        tagger.add_files({UNIT_FILE: json.dumps(content).encode()})
