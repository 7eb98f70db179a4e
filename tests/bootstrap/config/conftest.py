"""Configurations that are loaded from a file, or refused with a message."""

from __future__ import annotations

from pathlib import Path

import pytest

from bootstrap.config.configuration import Configuration, ConfigurationError, load_configuration


@pytest.fixture
def file(tmp_path: Path) -> Path:
    (tmp_path / "folder").mkdir()
    return tmp_path / "folder" / "run.toml"


def load(file: Path, text: str, *overrides: str) -> Configuration:
    file.write_text(text, encoding="utf-8")
    return load_configuration(file, overrides)


def refusal(file: Path, text: str, *overrides: str) -> str:
    """Return the message of an error, which is one line."""
    with pytest.raises(ConfigurationError) as caught:
        load(file, text, *overrides)
    message = str(caught.value)
    assert "\n" not in message
    return message
