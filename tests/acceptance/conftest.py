"""A product of one's own for each test."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from acceptance.product import Product


@pytest.fixture
def make_product(tmp_path: Path) -> Iterator[Callable[[str], Product]]:
    """Writes a `tepat.yaml` and gives the product over it; whatever it started is stopped after the test."""
    made: list[Product] = []

    def make(files: str) -> Product:
        folder = tmp_path / "files"
        folder.mkdir()
        (folder / "tepat.yaml").write_text(files)
        product = Product(folder, tmp_path / "var")
        made.append(product)
        return product

    yield make
    for product in made:
        product.stop()
