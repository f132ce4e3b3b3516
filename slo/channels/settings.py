"""What a channel is configured with, and how its secrets are read.

Secrets stand in files and are read at use, so that a rotated one takes effect without a restart. No secret is kept
here, and none may be logged: `slo.channels.addresses.redact` says what of a URL may be shown.
"""

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class SecretRef:
    """A secret by reference: the path of a file that holds it in one line."""

    file: str

    def read(self) -> str:
        """The secret as it is now, less one trailing newline. Raises OSError when the file can't be read."""
        return Path(self.file).read_text(encoding="utf-8").removesuffix("\n").removesuffix("\r")


@dataclass(frozen=True)
class SlackChannel:
    """A Slack incoming webhook; its URL is itself the secret."""

    name: str
    url: str | SecretRef


@dataclass(frozen=True)
class WebhookChannel:
    """A generic JSON receiver; with a secret, each request is signed the Standard Webhooks way."""

    name: str
    url: str | SecretRef
    secret: SecretRef | None = None


@dataclass(frozen=True)
class FileChannel:
    """A file that gets one JSON line for each notice."""

    name: str
    path: str


Channel = SlackChannel | WebhookChannel | FileChannel


def reveal(value: str | SecretRef) -> str:
    """The plain text of a setting that may be a reference. Raises OSError when its file can't be read."""
    return value.read() if isinstance(value, SecretRef) else value
