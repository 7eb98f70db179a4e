"""The audit covers every version of the lock, one version of a package at a time."""

import audit
from locked import Pin, read_locks, versions_of


def test_every_version_is_audited_once():
    versions = versions_of(read_locks())
    lists = audit.lists_of(versions)
    audited = [(pin.name, pin.version) for pins in lists for pin in pins]
    assert sorted(audited) == sorted((pin.name, pin.version) for pins in versions for pin in pins)
    for pins in lists:
        assert len({pin.name for pin in pins}) == len(pins)
        assert not any(pin.marker for pin in pins)


def test_the_audit_fails_where_pip_audit_does(monkeypatch):
    monkeypatch.setattr(audit, "_COMMAND", ("this",))
    assert audit.audit([Pin("a", "1", "", ("sha256:0",))]) == 0  # python -m this -r FILE
    monkeypatch.setattr(audit, "_COMMAND", ("no_such_module",))
    assert audit.audit([Pin("a", "1", "", ("sha256:0",))]) != 0
