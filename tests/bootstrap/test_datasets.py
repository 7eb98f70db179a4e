"""Datasets that `bootstrap tag` and `bootstrap deidentify` make, file by file."""

from __future__ import annotations

import json
import os
import secrets
import shutil
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.dataset as pads
import pyarrow.fs as pafs
import pyarrow.parquet as pq
import pytest

from bootstrap.datasets import MANIFEST, DatasetJob
from corpus.document import Document
from corpus.formats import write
from corpus.storage.atomic import folder_lock

NAMES = ("a.parquet", "b/a.parquet", "b/c.parquet")


@pytest.fixture(scope="module")
def dataset(tmp_path_factory, notes) -> Path:
    """Three files of notes, of which one has another column; and files that are no data."""
    folder = tmp_path_factory.mktemp("dataset")
    for number, name in enumerate(NAMES):
        write(notes(30, 20 + number, prefix=f"n{number}-"), folder / name)
    table = pq.read_table(folder / NAMES[0])
    pq.write_table(table.append_column("ward", pa.array(["w"] * 30)), folder / NAMES[0])
    (folder / "_SUCCESS").touch()
    (folder / ".hidden.parquet").write_text("no data")
    (folder / "b/readme.md").write_text("no data")
    return folder


@pytest.fixture
def copy(dataset, tmp_path) -> Path:
    return Path(shutil.copytree(dataset, tmp_path / "copy"))


def files_of(folder: Path) -> dict[str, bytes]:
    """Return the content of the Parquet files of a folder."""
    paths = sorted(folder.rglob("*.parquet"))
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in paths}


def manifest_of(folder: Path) -> dict[str, object]:
    manifest = json.loads((folder / MANIFEST).read_text())
    return {name: manifest[name] for name in ("made_by", "records")}


def damage(path: Path) -> None:
    """Overwrite the texts of a Parquet file, and leave its footer as it is."""
    content = bytearray(path.read_bytes())
    start = pq.read_metadata(path).row_group(0).column(1).data_page_offset
    content[start : start + 40] = b"\xff" * 40
    path.write_bytes(content)


def test_each_file_is_as_if_it_were_tagged_alone(command, dataset, finished, tmp_path) -> None:
    done = command("tag", finished, dataset, tmp_path / "out", "--jobs", 2)
    assert done.code == 0, done
    assert "wrote 90 documents" in done.out
    assert sorted(files_of(tmp_path / "out")) == sorted(NAMES)
    for name in NAMES:
        alone = tmp_path / "alone" / name
        assert command("tag", finished, dataset / name, alone, "--jobs", 1).code == 0
        assert pq.read_table(tmp_path / "out" / name).equals(pq.read_table(alone))
    whole = pads.dataset(tmp_path / "out", format="parquet")
    assert whole.count_rows() == 90
    assert "ward" in whole.schema.names
    seen = {path.name for path in (tmp_path / "out").iterdir()} - {".lock"}
    assert seen == {"a.parquet", "b", MANIFEST}


def test_rows_without_an_id_are_named_by_their_file(command, copy, finished, tmp_path) -> None:
    for name in NAMES:
        pq.write_table(pq.read_table(copy / name).drop_columns(["id"]), copy / name)
    assert command("tag", finished, copy, tmp_path / "out", "--jobs", 1).code == 0
    ids = pads.dataset(tmp_path / "out", format="parquet").to_table()["id"].to_pylist()
    assert len({*ids}) == 90
    assert {"a.parquet:0", "b/a.parquet:0"} <= {*ids}


def test_an_empty_file_has_all_columns(command, copy, finished, tmp_path) -> None:
    pq.write_table(pq.read_table(copy / NAMES[0]).slice(0, 0), copy / NAMES[0])
    options = ("--span-confidence", "--jobs", 1)
    assert command("tag", finished, copy, tmp_path / "out", *options).code == 0
    schemas = [pq.read_schema(tmp_path / "out" / name) for name in NAMES]
    assert schemas[0].names == [
        *("id", "text", "label", "group", "ward", "confidence", "span_confidences")
    ]
    assert {*schemas[1].names} < {*schemas[0].names}
    assert all(
        schemas[0].field(name).type == schemas[1].field(name).type for name in schemas[1].names
    )


@pytest.mark.parametrize("words", [("tag",), ("deidentify", "--policy", "placeholders")])
def test_after_a_file_that_cannot_be_read_it_goes_on(
    words, command, dataset, copy, finished, tmp_path
) -> None:
    """The figures of the files that were complete before count."""
    name, *options = words
    report = {}
    if name == "deidentify":
        report = {where: ["--json", tmp_path / f"{where}.json"] for where in ("whole", "out")}
    more = (*options, "--jobs", 1)
    target = tmp_path / "whole"
    assert command(name, finished, dataset, target, *more, *report.get("whole", ())).code == 0
    damage(copy / NAMES[1])
    again = (name, finished, copy, tmp_path / "out", *more, *report.get("out", ()), "--resume")
    failed = command(*again)
    assert failed.code == 2
    assert failed.err.endswith("; complete: 1 of 3 files. Continue with --resume\n")
    assert sorted(files_of(tmp_path / "out")) == [NAMES[0]]
    assert not (tmp_path / "out" / MANIFEST).exists()
    first = (tmp_path / "out" / NAMES[0]).stat().st_mtime_ns
    shutil.copy2(dataset / NAMES[1], copy / NAMES[1])
    done = command(*again)
    assert done.code == 0, done
    assert "1 of 3 files were complete before" in done.err
    assert (tmp_path / "out" / NAMES[0]).stat().st_mtime_ns == first
    assert files_of(tmp_path / "out") == files_of(target)
    assert manifest_of(tmp_path / "out") == manifest_of(target)
    if name == "deidentify":
        whole, resumed = (json.loads((tmp_path / f"{w}.json").read_text()) for w in report)
        assert whole == resumed
        assert whole["notes"] == 90 and whole["mentions"]
    assert command(*again).code == 0  # a complete one stays as it is
    assert (tmp_path / "out" / NAMES[1]).read_bytes() == (target / NAMES[1]).read_bytes()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("model", "the model changed after it was begun"),
        ("options", "the options changed after it was begun"),
        ("columns", "the columns changed after it was begun"),
        ("command", "the command changed after it was begun"),
        ("added", "z.parquet was added, removed or changed"),
        ("changed", "c.parquet was added, removed or changed"),
        ("removed", "c.parquet was added, removed or changed"),
    ],
)
@pytest.mark.parametrize("complete", [False, True])
def test_it_does_not_go_on_with_something_else(
    change, message, complete, command, copy, copied, tmp_path
) -> None:
    out, broken = tmp_path / "out", copy / "b" / "broken.parquet"
    if not complete:
        shutil.copy2(copy / NAMES[0], broken)
        damage(broken)
    words = ["tag", copied, copy, out, "--jobs", 1]
    assert command(*words).code == (0 if complete else 2)
    before = {path: path.read_bytes() for path in out.rglob("*") if path.is_file()}
    match change:
        case "model":
            words[1] = "kind:patterns"
        case "options":
            words += ["--min-probability", "PERSON=0.3"]
        case "columns":
            words += ["--group-column", "ward"]
        case "command":
            words[0] = "deidentify"
        case "added":
            shutil.copy(copy / NAMES[0], copy / "z.parquet")
        case "changed":
            os.utime(copy / NAMES[2], ns=(1, 1))
        case "removed":
            (copy / NAMES[2]).unlink()
    refused = command(*words, "--resume")
    assert (refused.code, message in refused.err) == (2, True), refused
    assert {path: path.read_bytes() for path in out.rglob("*") if path.is_file()} == before


def test_a_policy_that_changed_is_noticed(command, dataset, finished, tmp_path) -> None:
    policy = tmp_path / "policy.toml"
    policy.write_text('extends = "placeholders"\n')
    words = ("deidentify", finished, dataset, tmp_path / "out", "--policy", policy, "--jobs", 1)
    assert command(*words).code == 0
    policy.write_text('extends = "strict"\n')
    refused = command(*words, "--resume")
    assert (refused.code, "the policy changed" in refused.err) == (2, True), refused


def test_what_cannot_be_made_is_refused_before_anything_is_written(
    command, copy, finished, tmp_path
) -> None:
    def refused(*words: object) -> str:
        done = command("tag", finished, *words, "--jobs", 1)
        assert (done.code, done.err.count("\n")) == (2, 1), done
        return done.err

    out = tmp_path / "out"
    assert "overlap" in refused(copy, copy / "out")
    assert "--resume goes on with a folder of Parquet" in refused(
        copy / NAMES[0], tmp_path / "x", "--resume"
    )
    write([Document("a", "text")], copy / "b" / "other.parquet")
    table = pq.read_table(copy / "b" / "other.parquet")
    pq.write_table(table.rename_columns(["id", "note", "label", "group"]), copy / "b/other.parquet")
    assert f"{copy}/b/other.parquet has no column 'text'" in refused(copy, out)
    (copy / "b" / "other.parquet").write_bytes(b"")
    assert "is not a complete Parquet file" in refused(copy, out)
    (copy / "b" / "other.parquet").unlink()
    out.mkdir()
    assert "exists: --resume goes on with it" in refused(copy, out)
    (out / "mine.txt").touch()
    assert "holds other files" in refused(copy, out, "--resume")
    (out / "mine.txt").unlink()
    with folder_lock(out):
        assert "another process works on this dataset" in refused(copy, out, "--resume")
    assert [path.name for path in out.iterdir()] == [".lock"]


def test_each_file_has_a_map_of_its_own(command, dataset, finished, tmp_path) -> None:
    key, maps, out = tmp_path / "key", tmp_path / "maps", tmp_path / "out"
    assert command("key", key).code == 0
    words = ("--key-file", key, "--jobs", 1)
    inside = command("deidentify", finished, dataset, out, "--reversible", out / "maps", *words)
    assert "maps are for nobody who gets OUT" in inside.err
    done = command("deidentify", finished, dataset, out, "--reversible", maps, *words)
    assert done.code == 0, done
    for name in NAMES:
        back = tmp_path / "back" / name
        replaced = (maps / f"{name}.map", out / name, back, "--key-file", key)
        assert command("reidentify", *replaced).code == 0
        texts = [pq.read_table(path / name)["text"] for path in (dataset, out, tmp_path / "back")]
        assert texts[0] == texts[2] != texts[1]


def test_maps_of_another_dataset_stay(command, dataset, finished, tmp_path, monkeypatch) -> None:
    key, maps = tmp_path / "key", tmp_path / "maps"
    command("key", key)
    words = ("--key-file", key, "--reversible", maps, "--jobs", 1)
    first = ("deidentify", finished, dataset, tmp_path / "first", *words)
    assert command(*first).code == 0
    before = {path: path.read_bytes() for path in maps.rglob("*.map")}
    for more in ((), ("--resume",)):
        done = command("deidentify", finished, dataset, tmp_path / "second", *words, *more)
        assert (done.code, "exists" in done.err) == (2, True), done
    assert not (tmp_path / "second").exists()
    (tmp_path / "elsewhere" / "maps").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "elsewhere")
    moved = command(*(word if word != maps else "maps" for word in first), "--resume")
    assert (moved.code, "the map changed" in moved.err) == (2, True), moved
    assert command(*first, "--resume").code == 0
    assert {path: path.read_bytes() for path in maps.rglob("*.map")} == before


@pytest.mark.parametrize("change", ["missing", "cut"])
def test_files_that_a_complete_dataset_lacks_are_made_again(
    change, command, dataset, finished, tmp_path
) -> None:
    words = ("tag", finished, dataset, tmp_path / "out", "--jobs", 1)
    assert command(*words).code == 0
    before = files_of(tmp_path / "out")
    manifest = (tmp_path / "out" / MANIFEST).read_bytes()
    path = tmp_path / "out" / NAMES[1]
    path.unlink() if change == "missing" else os.truncate(path, 100)
    done = command(*words, "--resume")
    assert (done.code, "2 of 3 files were complete before" in done.err) == (0, True), done
    assert files_of(tmp_path / "out") == before
    assert (tmp_path / "out" / MANIFEST).read_bytes() == manifest
    assert not (tmp_path / "out" / ".job.json").exists()


def test_a_file_that_could_not_be_read_is_not_left_out(command, copy, finished, tmp_path) -> None:
    damage(copy / NAMES[2])
    words = ("tag", finished, copy, tmp_path / "out", "--jobs", 1)
    assert command(*words).code == 2
    (copy / NAMES[2]).unlink()
    refused = command(*words, "--resume")
    assert (refused.code, "added, removed or changed" in refused.err) == (2, True), refused


def test_what_is_in_doubt_is_not_in_the_manifest(command, dataset, finished, tmp_path) -> None:
    words = ("deidentify", finished, dataset, tmp_path / "out", "--json", tmp_path / "report.json")
    assert command(*words, "--jobs", 1).code == 0
    assert json.loads((tmp_path / "report.json").read_text())["words in doubt"]
    manifest = (tmp_path / "out" / MANIFEST).read_text()
    assert "probability" not in manifest
    assert str(tmp_path) not in manifest


def test_annotations_of_some_files_are_enough(command, copy, tmp_path) -> None:
    plain = pq.read_table(copy / NAMES[0])
    nothing = pa.array([[]] * 30, plain.schema.field("label").type)
    without = plain.set_column(plain.schema.get_field_index("label"), "label", nothing)
    pq.write_table(without, copy / NAMES[0])
    done = command("deidentify", "-", copy, tmp_path / "out", "--jobs", 1)
    assert done.code == 0, done
    for name in NAMES:
        pq.write_table(without, copy / name)
    done = command("deidentify", "-", copy, tmp_path / "nothing", "--jobs", 1)
    assert (done.code, "the notes have no annotations" in done.err) == (2, True), done
    assert not (tmp_path / "nothing" / MANIFEST).exists()
    pq.write_table(plain.drop_columns(["label"]), copy / NAMES[1])
    done = command("deidentify", "-", copy, tmp_path / "other", "--jobs", 1)
    assert f"{NAMES[1]} has no column of annotations" in done.err
    assert not (tmp_path / "other" / NAMES[1]).exists()


def test_a_file_that_changes_while_it_is_read_is_not_complete(
    command, copy, finished, tmp_path, monkeypatch
) -> None:
    upload = DatasetJob._target_of

    def touched(job: DatasetJob, name: str) -> Any:
        os.utime(copy / name, ns=(1, 1))
        return upload(job, name)

    monkeypatch.setattr(DatasetJob, "_target_of", touched)
    done = command("tag", finished, copy, tmp_path / "out", "--jobs", 1)
    assert (done.code, f"{NAMES[0]} has changed while it was read" in done.err) == (2, True)
    assert not (tmp_path / "out" / MANIFEST).exists()


@pytest.mark.parametrize(
    ("source", "target", "message"),
    [
        ("{}", "file:///tmp/out", "file:///tmp/out is no place of a store"),
        ("{}", "s3://[x", "s3://[x cannot be opened"),
        ("{}", "s3://name:word@bucket/out", "a URL with a password is visible"),
        ("s3://bucket/a#1", "{}-out", "expected %23"),
    ],
)
def test_places_that_are_no_store(source, target, message, command, copy, finished) -> None:
    words = [word.replace("{}", str(copy)) for word in (source, target)]
    done = command("tag", finished, *words, "--jobs", 1)
    assert (done.code, message in done.err, "word" in done.err.replace("password", "")) == (
        2,
        True,
        False,
    ), done


def test_links_and_names(command, copy, finished, tmp_path) -> None:
    """A link to a parent folder has nothing new, and OUT may have a dot."""
    (copy / "b" / "all").symlink_to(copy)
    (copy / "linked.parquet").symlink_to(copy / NAMES[0])
    (copy / "c d% é#.parquet").write_bytes((copy / NAMES[0]).read_bytes())
    assert command("tag", finished, copy, tmp_path / "out.v2", "--jobs", 1).code == 0
    assert sorted(files_of(tmp_path / "out.v2")) == sorted(
        [*NAMES, "linked.parquet", "c d% é#.parquet"]
    )
    (copy / "nowhere.parquet").symlink_to(copy / "none")
    done = command("tag", finished, copy, tmp_path / "out", "--jobs", 1)
    assert (done.code, "nowhere.parquet is a link that leads nowhere" in done.err) == (2, True)
    (copy / "nowhere.parquet").unlink()
    Path(os.fsdecode(bytes(copy) + b"/caf\xe9.parquet")).write_bytes(b"")
    done = command("tag", finished, copy, tmp_path / "out", "--jobs", 1)
    assert (done.code, "is not UTF-8; rename it" in done.err) == (2, True), done
    json_file = command("deidentify", finished, copy, tmp_path / "out", "--json", "s3://b/x.json")
    assert "expected a path of this machine" in json_file.err


@pytest.fixture
def store(monkeypatch, launch) -> Iterator[Any]:
    """An object store with a bucket for processes that are launched, and its server."""
    moto = pytest.importorskip("moto.server")
    server = moto.ThreadedMotoServer(ip_address="127.0.0.1", port=0)
    server.start()
    address = "{}:{}".format(*server.get_host_and_port())
    named = {"ACCESS_KEY_ID": "a", "SECRET_ACCESS_KEY": "b", "DEFAULT_REGION": "us-east-1"}
    for name, value in {**named, "ENDPOINT_URL": f"http://{address}"}.items():
        monkeypatch.setitem(launch._environment, f"AWS_{name}", value)
    # Within a process, Arrow keeps the first address that it finds in the environment.
    filesystem = pafs.S3FileSystem(
        access_key="a",
        secret_key="b",
        region="us-east-1",
        endpoint_override=address,
        scheme="http",
        allow_bucket_creation=True,
    )
    bucket = f"notes-{secrets.token_hex(4)}"  # all servers of a process have the same ones
    filesystem.create_dir(bucket)
    yield filesystem, bucket, server
    server.stop()


def files_in(filesystem: Any, path: str) -> dict[str, bytes]:
    """Return the Parquet files below a path of a store."""
    infos = filesystem.get_file_info(pafs.FileSelector(path, recursive=True, allow_not_found=True))
    names = [info.path for info in infos if info.path.endswith(".parquet")]
    return {name[len(path) + 1 :]: filesystem.open_input_file(name).read() for name in names}


@pytest.mark.slow
def test_from_a_store_and_to_a_store_the_files_are_the_same(
    store, launch, dataset, finished, tmp_path
) -> None:
    filesystem, bucket, _ = store
    for name in NAMES:
        pafs.copy_files(
            str(dataset / name), f"{bucket}/in/{name}", destination_filesystem=filesystem
        )
    source, target = f"s3://{bucket}/in", f"s3://{bucket}/out"
    for name in ("tag", "deidentify"):
        local, stored = tmp_path / name, f"{target}/{name}"
        assert launch(name, finished, dataset, local, "--jobs", 1).code == 0
        done = launch(name, finished, source, stored, "--jobs", 1)
        assert done.code == 0, done
        assert files_in(filesystem, f"{bucket}/out/{name}") == files_of(local)
    assert launch("tag", finished, source, tmp_path / "fetched", "--jobs", 1).code == 0
    assert files_of(tmp_path / "fetched") == files_of(tmp_path / "tag")
    assert launch("tag", "kind:lists", dataset, f"{target}/lists", "--jobs", 1).code == 0
    assert sorted(files_in(filesystem, f"{bucket}/out/lists")) == sorted(NAMES)
    missing = launch("tag", finished, source, "s3://other/out", "--jobs", 1)
    assert (missing.code, missing.err.count("\n")) == (2, 1)
    overlapping = launch("tag", finished, source, f"{source}/out", "--jobs", 1)
    assert "overlap" in overlapping.err
    again = launch("tag", finished, source, f"{target}/tag", "--jobs", 1)
    assert f"{target}/tag exists" in again.err


@pytest.mark.slow
@pytest.mark.parametrize("how", ["killed", "without a connection"])
def test_what_a_store_lacks_is_written_afterwards(
    how, store, launch, notes, finished, tmp_path
) -> None:
    filesystem, bucket, server = store
    for number in range(12):
        write(notes(300, number, prefix=f"{number}-"), tmp_path / "in" / f"{number}.parquet")
    assert launch("tag", finished, tmp_path / "in", tmp_path / "out", "--jobs", 1).code == 0
    words = ("tag", finished, tmp_path / "in", f"s3://{bucket}/out", "--jobs", 1)
    process = launch.start(*words)
    while len(files_in(filesystem, f"{bucket}/out")) < 2:  # the first has a record
        assert process.poll() is None
        time.sleep(0.01)
    if how == "killed":
        process.kill()
        process.wait()
    else:
        port = server.get_host_and_port()[1]
        server.stop()
        ended = launch.finish(process)
        assert ended.code == 2
        assert "Continue with --resume" in ended.err
        lines = ended.err.splitlines()  # to which Arrow may add some of its own
        assert len([line for line in lines if not line.startswith("/arrow/")]) == 1
        again = type(server)(ip_address="127.0.0.1", port=port)
        again.start()
    try:
        before = files_in(filesystem, f"{bucket}/out")
        assert 0 < len(before) < 12
        done = launch(*words, "--resume")
        assert done.code == 0, done
        assert " of 12 files were complete before" in done.err
        assert files_in(filesystem, f"{bucket}/out") == files_of(tmp_path / "out")
    finally:
        if how != "killed":
            again.stop()
