"""What holds for every test: no setting of the machine leaks in, and no property test is judged by a slow machine."""

import os

from hypothesis import settings

pytest_plugins = ["servers"]

for name in list(os.environ):
    # A developer's own TEPAT_URL would send the tests' reports to a real collector.
    if name.startswith(("TEPAT_", "OTEL_")):
        del os.environ[name]

settings.register_profile("tepat", deadline=None)
settings.load_profile("tepat")
