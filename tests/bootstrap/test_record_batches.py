"""Functions of a record batch, as other engines call them."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pyarrow.dataset as pads
import pyarrow.parquet as pq
import pytest

import bootstrap
from bootstrap.execution import parallel_tagger
from corpus.errors import InputError
from corpus.formats import write

RECIPE = """
import bootstrap, pyarrow as pa, ray, sys

model, notes, out = sys.argv[1:]
tag = bootstrap.load(model).batch_tagger()

def tagged(table):
    return pa.Table.from_batches([tag(batch) for batch in table.to_batches()])

try:
    ray.init(num_cpus=1, include_dashboard=False)
except Exception:
    sys.exit(77)
rows = ray.data.read_parquet(notes)
rows.map_batches(tagged, batch_format="pyarrow", batch_size=16_384).write_parquet(out)
"""


@pytest.fixture(scope="module")
def rows(tmp_path_factory, notes) -> Path:
    """A file of notes with a column of their own."""
    path = tmp_path_factory.mktemp("rows") / "notes.parquet"
    write(notes(200, 5), path)
    table = pq.read_table(path)
    pq.write_table(table.append_column("ward", pa.array([*range(len(table))])), path)
    return path


def batch_of(path: Path) -> pa.RecordBatch:
    (batch,) = pq.read_table(path).combine_chunks().to_batches()
    return batch


@pytest.mark.parametrize("words", [("tag",), ("deidentify", "--policy", "placeholders")])
def test_the_rows_are_those_that_the_command_writes(
    words, command, rows, finished, tmp_path
) -> None:
    name, *options = words
    assert command(name, finished, rows, tmp_path / "out.parquet", *options).code == 0
    expected = batch_of(tmp_path / "out.parquet")
    model = bootstrap.load(finished)
    work = model.batch_tagger() if name == "tag" else model.batch_deidentifier()
    work = pickle.loads(pickle.dumps(work))
    parallel_tagger._loaded.cache_clear()
    whole = work(batch_of(rows))
    assert whole.schema.field("text") == batch_of(rows).schema.field("text")
    columns = [*batch_of(rows).schema.names, *(["confidence"] if name == "tag" else [])]
    assert {*whole.schema.names} == {*columns} - ({"label"} if name == "deidentify" else set())
    for column in whole.schema.names:
        assert whole.column(column).to_pylist() == expected.column(column).to_pylist()
    assert work(batch_of(rows).slice(0, 0)).schema == whole.schema
    assert parallel_tagger._loaded.cache_info().misses == 1


def test_other_names_of_columns_and_no_ids(finished) -> None:
    rows = pa.record_batch({"note": ["Se cita a Anna Puig en Vic"], "ward": [3]})
    names = {"text": "note", "label": "found"}
    tagged = bootstrap.load(finished).batch_tagger(columns=names)(rows)
    assert tagged.schema.names == ["note", "ward", "found", "confidence"]
    replaced = bootstrap.load(finished).batch_deidentifier(columns=names)(rows)
    assert replaced.schema.names == ["note", "ward"]
    assert "Vic" not in replaced.column("note")[0].as_py()


def test_what_cannot_be_read_is_one_line_without_text(finished, tmp_path) -> None:
    model = bootstrap.load(finished)
    tag = model.batch_tagger()
    for rows, message in (
        ({"x": ["secret"]}, "no column 'text'"),
        ({"text": ["secret", None]}, "row 1"),
        ({"text": [1]}, "expected a string"),
    ):
        with pytest.raises(InputError, match=message) as caught:
            tag(pa.record_batch(rows))
        assert "secret" not in str(caught.value)
    with pytest.raises(InputError, match="expected id, text, label, group"):
        model.batch_tagger(columns={"words": "note"})
    policy = tmp_path / "known.toml"
    policy.write_text('[known]\ntable = "patients.csv"\n')
    (tmp_path / "patients.csv").write_text("group,name\nn1,Anna Puig\n")
    with pytest.raises(InputError, match="known"):
        model.batch_deidentifier(policy=policy)


def test_another_model_in_the_same_place_is_refused(finished) -> None:
    saved = bootstrap.load(finished).batch_tagger().model
    with pytest.raises(InputError, match="was replaced"):
        replace(saved, digest="0" * len(saved.digest)).load()


@pytest.mark.slow
def test_ray_data_tags_as_the_command_does(rows, finished, launch, tmp_path) -> None:
    pytest.importorskip("ray")
    launched = subprocess.run(
        [sys.executable, "-c", RECIPE, finished, rows, tmp_path / "ray"],
        env={**os.environ, "RAY_USAGE_STATS_ENABLED": "0", "RAY_raylet_start_wait_time_s": "200"},
        check=False,
        capture_output=True,
        timeout=600,
    )
    if launched.returncode == 77:
        pytest.skip("Ray does not start: the machine is too busy, or is not allowed to")
    assert launched.returncode == 0, launched.stderr[-2000:]
    assert launch("tag", finished, rows, tmp_path / "out.parquet").code == 0
    tables = [
        pads.dataset(path).to_table().sort_by("id")
        for path in (tmp_path / "ray", tmp_path / "out.parquet")
    ]
    assert tables[0].column("label").to_pylist() == tables[1].column("label").to_pylist()
