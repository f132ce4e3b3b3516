"""Which version of Tepat is this? Light to import."""

from importlib.metadata import PackageNotFoundError, version


def tepat_version() -> str:
    """The installed package's version, or `0+unknown` when it runs from a folder that was not installed."""
    try:
        return version("tepat")
    except PackageNotFoundError:
        return "0+unknown"
