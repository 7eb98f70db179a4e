"""The commands and their arguments; `bootstrap.cli.commands` has the functions behind them.

It is imported for every command, its help and the reference, so it imports nothing that is slow.
"""

from __future__ import annotations

import logging
from pathlib import Path

from bootstrap.cli.arguments import (
    PARTS,
    CommandParser,
    class_probability,
    class_reach,
    natural,
    one_of,
    points,
    positive,
    share,
    size,
)
from bootstrap.reports.figures import AXES
from gazetteers.builtin import BUILTIN_LISTS

#: The measures of confidence and the normalisations of words; both modules are slow to import.
_MEASURES = ("probability", "normalised", "min_marginal")
_NORMALISATIONS = ("none", "lower", "unaccented", "digits")

#: The default initial model of a demonstration.
SEED = "seed"
#: Experiments with more runs are carried out only after a confirmation.
MANY_RUNS = 100
#: The folds of the paper (003, table 4.2).
_FOLDS = 7
#: The default of --min-patients; docs/privacy.md has the measurement.
_MIN_PATIENTS = 5
#: The parts of a model that an export can keep.
KEPT_PARTS = ("names", "phrases", "clusters", "vectors")
_REPORT = Path("report.html")
#: Number of terms listed for a class, and of listed terms that contain a word.
OF_CLASS, OF_WORD = 10, 5


def build_parser() -> CommandParser:
    """Build the parser of all commands.

    The parsed options have the function `main` of a command, its `parser`, and this parser as
    `root`. If no command is named, `main` is None and `parser` is the group's parser.
    """
    parser = CommandParser(
        prog="bootstrap",
        description="Train taggers that find protected health information in clinical notes from "
        "a few annotated notes and many unlabeled ones, by self-training.",
    )
    parser.set_defaults(verbosity=logging.INFO, log=None, root=parser)
    _add_runs(parser)
    _add_tagging(parser)
    _add_deidentification(parser)
    _add_sharing(parser)
    _add_conversions(parser)
    _add_embed(parser)
    _add_gazetteer(parser)
    _add_rules(parser)
    _add_results(parser)
    _add_help(parser)
    return parser


def _add_runs(commands: CommandParser) -> None:
    """Add the commands that lead to a run or an experiment."""
    parser = commands.add_command("demo", "demo.main", "run self-training on synthetic notes")
    parser.add_number(
        "--notes",
        "number of unlabeled notes (default: 12000 with a seed, 60000 without; with --compare, "
        "5000)",
    )
    parser.add_choice(
        "--initial-model",
        (SEED, "divergence"),
        "train the first model on a seed of annotated notes, or derive it from a list of names and "
        "their frequencies",
    )
    parser.add_flag(
        "--compare",
        "compare training on the seed alone, self-training, active learning and both together",
    )
    parser.add_path("--out", "DIR", "a new folder (default: runs/demo or runs/demo-N)")
    parser.add_jobs()

    parser = commands.add_command("init", "help.init", "write a configuration to start from")
    parser.add_path("folder", "DIR", "where to write config.toml")
    parser.add_flag("--all", "write every setting with its default")

    summary = "check the notes of a run before training, or whether its model fits new notes"
    parser = commands.add_command("check", "check.main", summary)
    parser.add_configuration()
    help = "new notes, which are compared with those of a run: name its folder as CONFIG"
    parser.add_text("notes", "NOTES", help, nargs="?")
    parser.add_path("--problems", "FILE", "write all problems found, one per line")

    parser = commands.add_command("run", "run.main", "train a tagger by self-training")
    _add_run(parser, "")
    summary = "train a tagger on rounds of annotated documents that it chooses itself"
    _add_run(commands.add_command("active", "run.active", summary), "-active")

    summary = "run a grid of configurations and compare them"
    parser = commands.add_command("experiment", "experiment.main", summary)
    parser.add_path("file", "FILE", "an experiment file, in TOML")
    parser.add_trust()
    _add_experiment(parser, "runs/NAME, named after FILE")

    summary = "cross-validate a configuration on its annotated notes, by patient"
    parser = commands.add_command("crossvalidate", "experiment.crossvalidate", summary)
    parser.add_configuration()
    help = f"number of folds of [data] seed (default: {_FOLDS})"
    parser.add_argument("--folds", type=natural, default=_FOLDS, metavar="K", help=help)
    parser.add_list(
        "--methods",
        "NAME",
        "what is compared: supervised, self-training, active (default: supervised, and "
        "self-training if [data] names unlabeled notes)",
    )
    help = "seeds of the random number generator (default: 0)"
    parser.add_list("--random-states", "N", help, convert=natural)
    _add_experiment(parser, "runs/NAME-folds, named after CONFIG or its folder")


def _add_run(parser: CommandParser, suffix: str) -> None:
    """Add the arguments of a run; the name of its folder ends with `suffix` by default."""
    parser.set_defaults(suffix=suffix)
    parser.add_configuration(nargs="?")
    help = "start from the model of a finished run; without CONFIG, with its settings"
    parser.add_path("--continue", "RUN", help, dest="continued")
    help = f"the run folder (default: runs/NAME{suffix}, named after CONFIG or its folder)"
    parser.add_path("--out", "DIR", help)
    parser.add_flag("--resume", "continue an interrupted run")
    parser.add_jobs()


def _add_experiment(parser: CommandParser, default: str) -> None:
    """Add the arguments of an experiment; `default` describes its default folder."""
    help = f"the folder of the experiment, which is continued if it exists (default: {default})"
    parser.add_path("--out", "DIR", help)
    parser.add_flag("--yes", f"do not ask before more than {MANY_RUNS} runs")
    help = "run nothing: list the runs, and compare the finished ones"
    parser.add_flag("--list", help)
    parser.add_jobs()


def _add_tagging(commands: CommandParser) -> None:
    parser = commands.add_command("tag", "tag.main", "tag notes with the model of a run")
    help = "a run, a model folder, or kind:NAME, such as kind:lists, which needs no annotated notes"
    parser.add_text("model", "MODEL", help)
    parser.add_trust()
    parser.add_overrides("an option of kind:NAME, such as place_label=TOWN")
    parser.add_source_and_target(datasets=True)
    parser.add_choice("--measure", _MEASURES, "confidence of a document")
    help = "write the confidence of each span as well (JSONL and Parquet)"
    parser.add_flag("--span-confidence", help)
    parser.add_list(
        "--propagate",
        "CLASS=REACH",
        'propagation: tag the "text" of entities of a class throughout a note, or also the "words" '
        'of full names; "none" tags nothing again (default: as the run chose)',
        convert=class_reach,
    )
    parser.add_list(
        "--min-probability",
        "CLASS=P",
        "tag entities of a class from this probability on; 0 tags all (default: as the run chose)",
        convert=class_probability,
    )
    parser.add_formats("that of the run, or ")
    parser.add_jobs()
    parser.add_cluster()

    summary = "score predicted against gold annotations"
    parser = commands.add_command("evaluate", "evaluate.main", summary)
    parser.add_text("gold", "GOLD", "annotated notes")
    parser.add_text("predicted", "PREDICTED", "the same notes, tagged")
    parser.add_path("--json", "FILE", "write all figures as JSON")
    parser.add_label_map()
    parser.add_columns()
    for name in PARTS:
        help = f"column or key of the {name} in GOLD (default: as --{name}-column)"
        parser.add_text(f"--gold-{name}-column", "NAME", help)
    parser.add_rules()


def _add_deidentification(commands: CommandParser) -> None:
    summary = "write notes without the patient"
    parser = commands.add_command("deidentify", "deidentify.main", summary)
    help = (
        "a run, a model folder, kind:NAME, such as kind:patterns, which needs no annotated notes, "
        "or -, to replace the annotations of IN"
    )
    parser.add_text("model", "MODEL", help)
    parser.add_trust()
    parser.add_overrides("an option of kind:NAME, such as place_label=TOWN")
    parser.add_source_and_target(datasets=True)
    help = (
        "what replaces each class: placeholders, surrogates, limited, strict, or a TOML file "
        "(default: surrogates with a key, otherwise placeholders)"
    )
    parser.add_text("--policy", "POLICY", help)
    help = "the key from which replacements follow (default: BOOTSTRAP_KEY, in hexadecimal)"
    parser.add_path("--key-file", "FILE", help)
    parser.add_flag("--spans", "write the spans of what was replaced, in the new text")
    help = "replace more tokens, so that this share of mentions is covered, such as 0.99"
    parser.add_text("--recall", "SHARE", help, type=share)
    parser.add_gold("annotated notes for --recall and for the estimate of what is left")
    help = "write an encrypted map, with which reidentify puts back what was replaced"
    parser.add_path("--reversible", "MAP", help)
    parser.add_path("--json", "FILE", "write all figures as JSON")
    parser.add_path("--html", "FILE", "write a page with all figures, and without any text")
    help = "show notes on the page, before and after: these ids, or the first twenty"
    parser.add_text("--show-text", "ID", help, nargs="*")
    parser.add_formats("that of the run, or ")
    parser.add_jobs()
    parser.add_cluster()

    parser = commands.add_command("key", "deidentify.key", "make a key for deidentify")
    parser.add_path("file", "FILE", "a new file")

    summary = "put back into notes what deidentify --reversible has replaced"
    parser = commands.add_command("reidentify", "deidentify.reidentify", summary)
    parser.add_path("map", "MAP", "a map that deidentify has written")
    parser.add_source_and_target()
    help = "the key of the map (default: BOOTSTRAP_KEY, in hexadecimal)"
    parser.add_path("--key-file", "FILE", help)
    parser.add_formats()

    summary = "find out how well what is left in notes tells patients apart: k-anonymity"
    parser = commands.add_command("risk", "risk.main", summary)
    parser.add_notes()
    help = "other columns of the notes that somebody may know of a patient"
    parser.add_list("--columns", "COLUMN", help)
    help = "classes of annotations whose texts somebody may know, such as DATE"
    parser.add_list("--classes", "CLASS", help)
    parser.add_path("--json", "FILE", "write all figures as JSON")


def _add_sharing(commands: CommandParser) -> None:
    """Add the commands that make models for others, and that attack models."""
    summary = "export a model that reveals less of its training notes"
    parser = commands.add_command("export", "export.main", summary)
    parser.add_model()
    parser.add_path("target", "OUT", "a new folder")
    parser.add_number(
        "--min-patients",
        "drop words and other values that occur in the training notes of fewer than N patients; a "
        f"document of an unknown patient counts as one of its own (default: {_MIN_PATIENTS})",
        default=_MIN_PATIENTS,
    )
    parser.add_flag(
        "--hash-names",
        "store keyed hashes of words and other values, and not their text; the key is in the model",
    )
    parser.add_list(
        "--public",
        "LIST",
        "gazetteers whose words are public, besides the built-in lists; names and phrases of "
        "other lists are dropped",
    )
    help = f"keep a part of the model as it is, because it is public: {', '.join(KEPT_PARTS)}"
    parser.add_list("--keep", "PART", help, convert=one_of(KEPT_PARTS))
    parser.add_gold("annotated notes to score the model on before and after")
    parser.add_columns()
    parser.add_rules()

    summary = "find out which names of its training notes a model reveals"
    parser = commands.add_command("audit", "audit.main", summary)
    parser.add_model()
    help = "the names that an attacker tries: gazetteers, or built-in lists such as census-es"
    parser.add_text("--against", "LIST", help, nargs="+", required=True)
    help = "all annotated notes that the model was trained on"
    parser.add_text("--notes", "NOTES", help, nargs="+", required=True)
    help = "the run or model that MODEL was exported from, to compare it with"
    parser.add_path("--before", "MODEL", help)
    help = "the classes of annotations that are names (default: all)"
    parser.add_list("--classes", "CLASS", help)
    parser.add_gold("annotated notes to score the models on")
    parser.add_path("--json", "FILE", "write all figures as JSON")
    parser.add_columns()
    parser.add_rules()


def _add_conversions(commands: CommandParser) -> None:
    parser = commands.add_command("convert", "convert.main", "convert notes to another format")
    parser.add_source_and_target()
    parser.add_label_map()
    help = 'add a column "language": which of these languages each note has, such as es,ca'
    parser.add_list("--languages", "CODE", help)
    parser.add_formats()

    parser = commands.add_command("count", "count.main", "count the words of a corpus")
    parser.add_notes()
    parser.add_output("a new Parquet file", required=True)
    parser.add_cluster()


def _add_embed(commands: CommandParser) -> None:
    group = commands.add_command("embed", None, "train, load and inspect word embeddings")
    summary = "train word embeddings on unlabeled notes"
    parser = group.add_command("train", "embed.train", summary)
    parser.add_notes()
    parser.add_embeddings("-o --output", required=True)
    parser.add_choice("--kind", ("word2vec", "fasttext"), "algorithm")
    parser.add_list(
        "--normalise",
        "NAME",
        f"normalisations of words ({', '.join(_NORMALISATIONS)}), an embedding for each "
        "(default: none,lower,unaccented)",
        convert=one_of(_NORMALISATIONS),
    )
    help = "context words on each side, an embedding for each (default: 5)"
    parser.add_list("--window", "N", help, convert=positive)
    parser.add_number("--dimension", "dimension of the vectors (default: 100)", 100)
    parser.add_number("--min-count", "ignore words with fewer occurrences (default: 5)", 5)
    parser.add_number("--epochs", "passes over the notes (default: 5 to 30, more for fewer notes)")
    help = "threads per embedding; more than 1 is not reproducible (default: 1)"
    parser.add_number("--workers", help, 1)
    parser.add_number("--jobs", "embeddings trained at the same time (default: 1)", 1)
    units = ("document", "line", "sentence")
    parser.add_choice("--unit", units, "context windows do not cross its boundaries", "line")
    parser.add_random_state()
    parser.add_flag("--resume", "continue an interrupted training")

    parser = group.add_command("load", "embed.load", "load pretrained embeddings")
    help = "a file of word2vec or fastText, text or binary, or of GloVe, text; may be gzipped"
    parser.add_path("source", "FILE", help)
    parser.add_embeddings("-o --output", required=True)
    help = "name of the embedding (default: the name of the file without its suffix)"
    parser.add_text("--name", None, help)
    help = "normalisation of words before they are looked up"
    parser.add_choice("--normalise", _NORMALISATIONS, help)
    help = "encoding of the words (default: utf-8)"
    parser.add_text("--encoding", None, help, default="utf-8")

    parser = group.add_command("show", "embed.show", "show the nearest neighbours of a word")
    parser.add_embeddings("folder")
    parser.add_text("word", "WORD", "a word")
    parser.add_number("-n --number", "number of neighbours (default: 10)", 10)

    summary = "cluster words by k-means on their vectors"
    parser = commands.add_command("cluster", "cluster.main", summary)
    parser.add_embeddings("folder")
    help = "numbers of clusters (default: 128,1024,8192)"
    parser.add_list("--k", "K", help, convert=positive)
    help = "maximum number of k-means passes over the vectors (default: 20)"
    parser.add_number("--passes", help, 20)
    parser.add_random_state()
    parser.add_jobs()


def _add_gazetteer(commands: CommandParser) -> None:
    group = commands.add_command("gazetteer", None, "import, merge and inspect gazetteers")
    _add_gazetteer_import(group)
    names = ", ".join(BUILTIN_LISTS)
    summary = "merge gazetteers and add up their counts"
    parser = group.add_command("merge", "gazetteer.merge", summary)
    parser.add_path("sources", "FILE", f"gazetteers, or builtin lists: {names}", nargs="+")
    parser.add_output("a new Parquet file", required=True)

    summary = "show the classes of a gazetteer, or a term"
    parser = group.add_command("show", "gazetteer.show", summary)
    parser.add_text("gazetteer", "FILE", f"a gazetteer, or a builtin list: {names}")
    parser.add_text("term", "TERM", "a term; case and accents are ignored", nargs="?")
    parser.add_number(
        "-n --number",
        f"number of terms listed (default: {OF_CLASS} of a class, {OF_WORD} that contain a word)",
    )


def _add_gazetteer_import(group: CommandParser) -> None:
    summary = "import a gazetteer from CSV or TSV files"
    parser = group.add_command("import", "gazetteer.import_", summary)
    parser.add_path("sources", "FILE", "CSV or TSV files", nargs="+")
    parser.add_output("a new Parquet file", required=True)
    classes = parser.add_mutually_exclusive_group()
    help = "class of all terms (default: the name of the column of terms)"
    parser.add_text("--class", "CLASS", help, group=classes, dest="class_name")
    help = "column of the class of a term"
    parser.add_text("--class-column", "COLUMN", help, group=classes)
    parser.add_list(
        "--term",
        "COLUMN",
        "columns of terms, joined with a space (default: one with a well-known name, or the "
        "only column of text)",
    )
    counts = parser.add_mutually_exclusive_group()
    parser.add_list(
        "--count",
        "COLUMN",
        "columns of counts, added up (default: one with a well-known name, or the only column "
        "of integers)",
        group=counts,
    )
    parser.add_flag("--count-rows", "count each row once", group=counts)
    help = "delimiter of columns: a character, or tab (default: detected in the header)"
    parser.add_text("--delimiter", "D", help)
    help = "encoding of the files (default: by a byte-order mark, or utf-8, or else cp1252)"
    parser.add_text("--encoding", None, help)
    help = "pad numeric terms with zeros to N digits (default: 5 in columns of postal codes)"
    parser.add_number("--width", help)
    parser.add_invalid("rows that cannot be used")


def _add_rules(commands: CommandParser) -> None:
    group = commands.add_command("rules", None, "learn tables of patterns from annotated notes")
    summary = "learn rules for structured contexts, such as headers"
    parser = group.add_command("learn", "rules.learn", summary)
    parser.add_notes()
    parser.add_output("a new table of patterns, in TOML", required=True)
    help = (
        "rules contain only words that occur in the notes of N patients or more; a document of an "
        f"unknown patient counts as one of its own (default: {_MIN_PATIENTS})"
    )
    parser.add_number("--min-patients", help, _MIN_PATIENTS)


def _add_results(commands: CommandParser) -> None:
    summary = "show the iterations of a run, or the tables of an experiment"
    parser = commands.add_command("show", "show.main", summary)
    parser.add_path(
        "run",
        "RUN",
        "a run folder, or the folder of an experiment; with --verify also a model, embeddings, a "
        "gazetteer or word counts",
    )
    parser.add_flag("--json", "print a JSON list with an object per iteration, or per variant")
    help = "compare all files with the digests that were computed when they were written"
    parser.add_flag("--verify", help)

    summary = "decide whether a run is good enough: how many notes still show a mention"
    parser = commands.add_command("assess", "assess.main", summary)
    parser.add_path("run", "RUN", "a run folder")
    help = "the classes whose mentions must not be left, with commas (default: all)"
    parser.add_list("--classes", "A,B", help)
    help = "the share of the notes that may show a mention (default: 0.05)"
    parser.add_text("--leaking-notes", "SHARE", help, type=share)
    help = "decide for deidentify with this --recall (default: without, and 0.99 is shown as well)"
    parser.add_text("--recall", "SHARE", help, type=share)
    help = "train on three parts of the seed, and extrapolate what more annotations would bring"
    parser.add_flag("--curve", help)
    parser.add_trust()
    parser.add_jobs()

    summary = "show one or several runs on one page"
    parser = commands.add_command("report", "report.main", summary)
    _add_compared(parser)
    help = f"the page; an existing one is replaced (default: {_REPORT})"
    parser.add_output(help, default=_REPORT)
    parser.add_flag(
        "--show-text",
        "also show errors in the text of the validation notes, with the ids of documents: the "
        "page is then as private as the notes (one run only)",
    )
    for name, what in {
        "csv": "write every table as NAME.csv to this folder",
        "tensorboard": "write the figures of iterations as events of TensorBoard to this folder; "
        "TensorFlow must be installed",
        "mlflow": "add the runs to mlflow.db, a store of MLflow, in this folder; MLflow must be "
        "installed",
    }.items():
        parser.add_path(f"--{name}", "DIR", f"also {what}")

    summary = "draw a figure of one or several runs"
    parser = commands.add_command("plot", "report.plot", summary)
    _add_compared(parser)
    parser.add_text(
        "--what",
        "NAME",
        "a figure of the page, such as errors (default: scores); for an unknown name, the names "
        "of all figures are listed",
        default="scores",
    )
    parser.add_choice(
        "--axis",
        tuple(AXES),
        "the horizontal axis of scores: iterations, or the documents or tokens that people "
        "annotated",
        "iteration",
    )
    help = "one plot of a figure with several, such as F1 of the scores of several runs"
    parser.add_text("--panel", "NAME", help)
    parser.add_text("--title", "TEXT", "another title; with an empty one, there is none")
    help = "the size in inches, such as 5.4 or 5.4x3 (default: 5.4, and what the content needs)"
    parser.add_text("--size", "WIDTHxHEIGHT", help, type=size)
    parser.add_text("--font-size", "POINTS", "the size of the font (default: 9)", type=points)
    parser.add_output("a PNG, SVG or PDF file; an existing one is replaced", required=True)


def _add_compared(parser: CommandParser) -> None:
    parser.add_text(
        "runs",
        "RUN",
        "run folders; NAME=FOLDER names a run, and runs of one name are shown as their mean and "
        "range. Or the folder of an experiment",
        nargs="+",
    )
    parser.add_flag("--test", "also show the scores on test documents, which the runs must have")


def _add_help(commands: CommandParser) -> None:
    parser = commands.add_command("help", "help.main", "print a page of the documentation")
    parser.add_text("topic", "TOPIC", "name of the page (default: list all topics)", nargs="?")
    summary = "print a completion script for a shell"
    parser = commands.add_command("completion", "help.completion", summary)
    shells = ("bash", "zsh", "tcsh")  # the shells that `shtab` supports
    parser.add_text("shell", "SHELL", ", ".join(shells), choices=shells)
