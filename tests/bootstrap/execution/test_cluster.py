"""A Dask cluster of processes of this machine: the same results, and how it ends."""

from __future__ import annotations

import datetime
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from bootstrap.execution import cluster as cluster_module
from bootstrap.execution.cluster import connected, is_loopback
from bootstrap.execution.environment import versions
from bootstrap.execution.processes import KilledError, executor_for
from corpus.errors import InputError
from corpus.formats import write
from tests.bootstrap.experiments.conftest import QUICK

slow = pytest.mark.slow

EXPERIMENT = QUICK + '\n[execution]\ncluster = "{cluster}"\n'


@contextmanager
def process(command: str, *words: object, **environment: str) -> Iterator[subprocess.Popen[bytes]]:
    """Start a process of Dask, which ends with the context."""
    started = subprocess.Popen(
        [sys.executable, "-m", "dask", command, *map(str, words), "--no-dashboard"],
        env={**os.environ, "DASK_DISTRIBUTED__WORKER__DAEMON": "false", **environment},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        yield started
    finally:
        os.killpg(started.pid, signal.SIGCONT)
        os.killpg(started.pid, signal.SIGKILL)
        started.wait()


@contextmanager
def scheduler(folder: Path, *words: object) -> Iterator[tuple[Path, subprocess.Popen[bytes]]]:
    file = folder / "scheduler.json"
    options = ("--host", "127.0.0.1", "--port", 0, "--scheduler-file", file)
    with process("scheduler", *options, *words) as started:
        while not (file.is_file() and file.read_text().endswith("}")):
            assert started.poll() is None
            time.sleep(0.05)
        yield file, started


def workers(file: Path, number: int, *words: object) -> Any:
    options = ("--nworkers", number, "--nthreads", 1, "--local-directory", file.parent)
    return process("worker", "--scheduler-file", file, *options, *words)


@pytest.fixture(scope="module")
def running(tmp_path_factory) -> Iterator[Path]:
    """The file of a scheduler with two workers."""
    with scheduler(tmp_path_factory.mktemp("cluster")) as (file, _), workers(file, 2):
        yield file


@pytest.fixture(scope="module")
def dataset(tmp_path_factory, notes) -> Path:
    folder = tmp_path_factory.mktemp("dataset")
    for number in range(6):
        write(notes(2000, number, prefix=f"{number}-"), folder / f"{number}.parquet")
    return folder


def files_of(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.glob("*.parquet"))}


def number_of(item: int) -> int:
    if item == 7:
        raise InputError("seven")
    if item == 8:
        raise LookupError("the text of a note")
    if item == 9:
        os.kill(os.getpid(), signal.SIGKILL)
    return item * item


@pytest.mark.parametrize(
    ("address", "message"),
    [
        ("tcp://10.0.0.5:8786", "leave this machine only by TLS"),
        ("http://localhost:8786", "expected tls://HOST:PORT"),
        ("nowhere.json", "expected the address of a scheduler"),
        ("tls://127.0.0.1:1", "TLS needs certificates"),
    ],
)
def test_no_notes_are_sent_to_other_addresses(address, message) -> None:
    with pytest.raises(InputError, match=message), connected(address):
        pass


def test_an_address_of_this_machine_alone_is_loopback() -> None:
    for host in ("127.0.0.1", "127.8.9.1", "localhost", "[::1]"):
        assert is_loopback(f"tcp://{host}:8786")
    for host in ("10.0.0.5", "0.0.0.0", "localhost.example.org", "[::]", "127.0.0.1.nip.io"):
        assert not is_loopback(f"tcp://{host}:8786")


@pytest.mark.parametrize("value", ["absent.json", "tcp://10.0.0.5:8786"])
def test_the_configuration_names_an_address_or_a_file_beside_it(
    value, command, make_project, tmp_path
) -> None:
    config = make_project(tmp_path / "project", unlabeled=10) / "config.toml"
    config.write_text(f'{config.read_text()}\n[execution]\ncluster = "{value}"\n')
    done = command("run", config, "--out", tmp_path / "run")
    assert (done.code, done.err.count("\n")) == (2, 1)
    assert (value if "://" in value else str(config.parent / value)) in done.err
    assert not (tmp_path / "run").exists()


@slow
def test_results_come_in_order_and_errors_without_text(running) -> None:
    with connected(str(running)):
        executor = executor_for(1)
        assert list(executor.map(number_of, [3, 1, 2])) == [9, 1, 4]
        assert list(executor.map(number_of, [])) == []
        with pytest.raises(InputError, match=r"^seven$"):
            list(executor.map(number_of, [1, 7]))
        with pytest.raises(KilledError, match=r"LookupError in test_cluster.py, line \d+; please"):
            list(executor.map(number_of, [8, 1]))
        with pytest.raises(KilledError, match="ended several workers"):
            list(executor.map(number_of, [9, 1]))
        assert list(executor.map(number_of, [5])) == [25]
    assert executor_for(1).shares_memory


@slow
def test_worker_killed_in_the_middle_changes_no_byte(
    running, launch, dataset, finished, tmp_path
) -> None:
    distributed = pytest.importorskip("distributed")
    for name in ("tag", "deidentify"):
        alone, together = tmp_path / f"{name}-alone", tmp_path / f"{name}-together"
        options = ("--policy", "placeholders") if name == "deidentify" else ()
        assert launch(name, finished, dataset, alone, "--jobs", 1, *options).code == 0
        words = (name, finished, dataset, together, "--cluster", running, *options)
        begun = launch.start(*words)
        with distributed.Client(scheduler_file=str(running), set_as_default=False) as client:
            before = client.run(os.getpid)
            while not list(together.glob("*.parquet")):
                assert begun.poll() is None
                time.sleep(0.01)
            os.kill(next(iter(before.values())), signal.SIGKILL)
            done = launch.finish(begun)
            assert done.code == 0, done
            client.wait_for_workers(2, timeout=60)
            assert set(client.run(os.getpid).values()) != set(before.values())
        assert files_of(together) == files_of(alone)


@slow
def test_counts_are_the_same(running, launch, dataset, tmp_path) -> None:
    for name, options in (("alone", ()), ("together", ("--cluster", running))):
        assert launch("count", dataset, "-o", tmp_path / name, *options).code == 0
    assert (tmp_path / "together").read_bytes() == (tmp_path / "alone").read_bytes()


@slow
def test_a_run_has_the_same_models(running, launch, make_project, contents, tmp_path) -> None:
    config = make_project(tmp_path / "project", unlabeled=6000) / "config.toml"
    settings = ("--set", "loop.batch=6000", "--set", "loop.iterations=1")
    for name, cluster in (("alone", ""), ("together", running)):
        options = ("--out", tmp_path / name, *settings, "--set", f"execution.cluster={cluster}")
        done = launch("run", config, *options)
        assert done.code == 0, done
    alone, together = contents(tmp_path / "alone"), contents(tmp_path / "together")
    models = [name for name in alone if "/model/" in name or name.endswith("selected.parquet")]
    assert len(models) > 4
    assert all(alone[name] == together[name] for name in models)
    assert launch("run", config, "--out", tmp_path / "together", *settings, "--resume").code == 0


@slow
def test_an_experiment_has_its_runs_on_workers(running, launch, make_project, tmp_path) -> None:
    file = make_project(tmp_path / "project", unlabeled=100) / "experiment.toml"
    for cluster, folder in ((running, "runs"), ("", "alone")):
        file.write_text(EXPERIMENT.format(cluster=cluster))
        done = launch("experiment", file, "--out", tmp_path / folder)
        assert done.code == 0, done
        assert not list((tmp_path / folder).glob(".messages*"))
    models = [sorted((tmp_path / name).rglob("model/*")) for name in ("runs", "alone")]
    assert len(models[0]) == len(models[1]) > 4
    pairs = zip(*models, strict=True)
    assert all(first.read_bytes() == second.read_bytes() for first, second in pairs)
    with scheduler(tmp_path) as (other, _), workers_as_daemons(other):
        file.write_text(EXPERIMENT.format(cluster=other))
        refused = launch("experiment", file, "--out", tmp_path / "others")
    assert "DASK_DISTRIBUTED__WORKER__DAEMON=false" in refused.err
    assert refused.code == 2


def workers_as_daemons(file: Path) -> Any:
    options = ("--nthreads", 1, "--local-directory", file.parent)
    return process(
        "worker", "--scheduler-file", file, *options, DASK_DISTRIBUTED__WORKER__DAEMON="true"
    )


@slow
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGSTOP])
def test_a_scheduler_that_is_gone_is_an_error(how, launch, dataset, finished, tmp_path) -> None:
    with scheduler(tmp_path) as (file, started), workers(file, 1):
        begun = launch.start("tag", finished, dataset, tmp_path / "out", "--cluster", file)
        while not list((tmp_path / "out").glob("*.parquet")):
            assert begun.poll() is None
            time.sleep(0.01)
        os.kill(started.pid, how)
        done = launch.finish(begun)
        assert (done.code, done.err.count("\n")) == (1, 1)
        assert "the scheduler is gone" in done.err
        assert "--resume" in done.err
    resumed = launch("tag", finished, dataset, tmp_path / "out", "--resume", "--jobs", 1)
    assert resumed.code == 0
    assert launch("tag", finished, dataset, tmp_path / "alone", "--jobs", 1).code == 0
    assert files_of(tmp_path / "out") == files_of(tmp_path / "alone")


@slow
def test_a_scheduler_without_workers_and_workers_with_other_versions_are_refused(
    running, tmp_path, monkeypatch
) -> None:
    monkeypatch.setattr(cluster_module, "versions", lambda: {**versions(), "numpy": "1.0"})
    difference = r"worker tcp://\S+ has numpy \S+, and this machine 1.0"
    with pytest.raises(InputError, match=difference), connected(str(running)):
        pass
    monkeypatch.setattr(cluster_module, "_NO_WORKERS", 2)
    with (
        scheduler(tmp_path) as (file, _),
        pytest.raises(InputError, match="has no workers"),
        connected(str(file)),
    ):
        pass


@slow
def test_a_scheduler_that_others_can_reach_needs_tls(tmp_path) -> None:
    with scheduler(tmp_path, "--host", "0.0.0.0") as (file, _):
        port = json.loads(file.read_text())["address"].rpartition(":")[2]
        with pytest.raises(InputError, match="without TLS"), connected(f"tcp://127.0.0.1:{port}"):
            pass


@slow
def test_with_certificates_notes_are_tagged_by_tls(
    launch, notes, finished, tmp_path, monkeypatch
) -> None:
    authority, certificate, key = certificates(tmp_path)
    variable = "DASK_DISTRIBUTED__COMM__TLS__"
    options = ("--tls-ca-file", authority, "--tls-cert", certificate, "--tls-key", key)
    with (
        scheduler(tmp_path, "--protocol", "tls", *options) as (file, _),
        workers(file, 1, *options),
    ):
        write(notes(50, 1), tmp_path / "notes.jsonl")
        words = ("tag", finished, tmp_path / "notes.jsonl")
        refused = launch(*words, tmp_path / "a.jsonl", "--cluster", file)
        assert "TLS needs certificates" in refused.err
        named = {"CA_FILE": authority, "CLIENT__CERT": certificate, "CLIENT__KEY": key}
        for name, value in named.items():
            monkeypatch.setitem(launch._environment, f"{variable}{name}", str(value))
        done = launch(*words, tmp_path / "b.jsonl", "--cluster", file)
        assert done.code == 0, done


def certificates(folder: Path) -> tuple[Path, Path, Path]:
    """Make a certificate that signs itself, and its key."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "cluster")])
    now = datetime.datetime.now(datetime.UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .sign(key, hashes.SHA256())
    )
    (folder / "cert.pem").write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
    (folder / "key.pem").write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
    )
    return folder / "cert.pem", folder / "cert.pem", folder / "key.pem"
