from collections.abc import Iterator

import pytest
from ledger.serving import Service, serving


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """One real ledger process for a file's tests, which must not rely on an empty store."""
    with serving(tmp_path_factory.mktemp("ledger")) as running:
        yield running
