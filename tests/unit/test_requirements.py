"""What Espalier asks of other libraries: a least version each, which no published advisory names."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version

import pytest
from packaging.version import Version

from minimum_versions import minimum_versions

# The version that mends the latest advisory known of each library that ever had one.
MENDED = {
    "jinja2": ("3.1.6", "CVE-2025-27516: templates leave the sandbox"),
    "lxml": ("6.1.0", "CVE-2026-41066: iterparse reads local files"),
    "nltk": ("3.10.3", "CVE-2026-62383, CVE-2026-62384: files outside the folder of data are read"),
    "numpy": ("1.22.2", "CVE-2021-41495: a null pointer in sort"),
    "pytest": ("9.0.3", "CVE-2025-71176: the name of the temporary folder can be guessed"),
    "scikit-learn": ("1.5.0", "CVE-2024-5206: TfidfVectorizer keeps words of the training data"),
    "scipy": ("1.10.0", "CVE-2023-25399: a leak in Py_FindObjects"),
    "stanza": ("1.12.2", "GHSA-v5jw-96jm-7h2c: models are unpickled"),
}


def test_every_library_has_a_least_version():
    assert [name for name, least in minimum_versions().items() if least is None] == []


@pytest.mark.parametrize("name", MENDED)
def test_no_least_version_has_an_advisory(name):
    mended, why = MENDED[name]
    assert Version(minimum_versions()[name]) >= Version(mended), why


@pytest.mark.parametrize("name", minimum_versions())
def test_what_is_installed_is_new_enough(name):
    try:
        installed = version(name)
    except PackageNotFoundError:
        pytest.skip(f"{name} is not installed")
    assert Version(installed) >= Version(minimum_versions()[name])
