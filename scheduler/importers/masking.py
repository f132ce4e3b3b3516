"""What in a command or a variable looks like a secret? Kept out of job files and of messages. Pure.

Rules of thumb: names such as PASSWORD, API_TOKEN, --secret; `user:word@` in addresses; bearer headers. A value that is
a file's path, a variable or another command's output is none.
"""

import re
from dataclasses import dataclass

MASK = "***"

_WORDS = frozenset({"key", "pass", "pwd", "credential", "credentials", "pw"})
_ANYWHERE = ("password", "passwd", "passphrase", "token", "secret", "apikey", "accesskey", "privatekey")
_HARMLESS = ("_file", "_path", "_dir", "_id", "_name", "_url", "_user")
_VALUE = r"'[^']*'|\"[^\"]*\"|[^\s'\"&;|<>()]+"
# How far an option may stand from its program, so that a long line takes no longer than its length.
_RULES = (
    # --password=x, --api-key x, PASSWORD=x, ?token=x, "token": "x"
    re.compile(
        rf"(?<![A-Za-z0-9_-])-{{0,2}}(?P<name>[A-Za-z][A-Za-z0-9_-]{{0,80}})(?P<quote>[\"']?)(?:\s*=\s*|:\s+)(?P<value>{_VALUE})"
    ),
    re.compile(rf"(?<!\S)--?(?P<name>[A-Za-z][A-Za-z0-9_-]{{0,80}})\s+(?P<value>{_VALUE})"),
    # https://user:word@host
    re.compile(r"://[^\s:/@'\"]{1,200}:(?P<value>[^\s@/'\"]{1,500})@"),
    re.compile(r"\b(?:Bearer|Basic|Token)\s+(?P<value>[A-Za-z0-9._~+/=-]{6,})"),
    # mysql's own way, curl's, sshpass's
    re.compile(r"\b(?:mysql\w*|mariadb[\w.-]*)\b[^;|&]{0,300}?\s-p(?P<value>[^\s;|&]+)"),
    re.compile(r"\bcurl\b[^;|&]{0,300}?\s(?:-u|--user)\s*['\"]?[^\s:'\"]+:(?P<value>[^\s'\"]+)"),
    re.compile(rf"\bsshpass\b[^;|&]{{0,300}}?\s-p\s*(?P<value>{_VALUE})"),
)


@dataclass(frozen=True, slots=True)
class Secret:
    """Where a secret stands in a text, and what it is called there, as a variable's name; empty for none."""

    start: int
    end: int
    name: str


def looks_secret(name: str, value: str) -> bool:
    """Whether a variable of this name and value holds a secret itself, rather than the way to one."""
    if re.search(r"://[^\s:/@]+:[^\s@/$]+@", value):
        return True
    return _secret_name(name) and _plain_value(value)


def secrets_in(text: str) -> list[Secret]:
    """Every secret in a text, in order, without overlap."""
    found: list[Secret] = []
    for rule in _RULES:
        for match in rule.finditer(text):
            name = match.groupdict().get("name")
            start, end = match.span("value")
            if text[start] in "'\"" and text[end - 1] == text[start]:
                start, end = start + 1, end - 1
            if (name is None or _secret_name(name)) and _plain_value(text[start:end]):
                found.append(Secret(start, end, _variable(name)))
    return _apart(sorted(found, key=lambda secret: (secret.start, -secret.end)))


def masked(text: str) -> str:
    """The text with every secret in it replaced by `***`."""
    for secret in reversed(secrets_in(text)):
        text = text[: secret.start] + MASK + text[secret.end :]
    return text


def without_secrets(command: str, nameless: str = "SECRET") -> tuple[str, list[str]]:
    """A shell command that takes each secret from a variable, and the variables' names.

    It begins by asking for them, so that a shell ends at once where one is not set, also when it is used inside a pipe.
    In single quotes nothing would be expanded, so the quotes are closed round the variable. `nameless` is the name for
    a secret that the command does not name.
    """
    names: list[str] = []
    for secret in reversed(secrets_in(command)):
        name = secret.name or nameless
        quote = _quote_at(command, secret.start)
        put = {"'": f"'\"${{{name}}}\"'", '"': f"${{{name}}}"}.get(quote, f'"${{{name}}}"')
        command = command[: secret.start] + put + command[secret.end :]
        names.insert(0, name)
    names = list(dict.fromkeys(names))
    asked = " ".join(f'"${{{name}:?}}"' for name in names)
    return (f": {asked}; {command}" if names else command), names


def _secret_name(name: str) -> bool:
    flat = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).replace("-", "_").lower()
    if flat.endswith(_HARMLESS):
        return False
    return any(word in flat for word in _ANYWHERE) or bool(_WORDS & set(flat.split("_")))


def _plain_value(value: str) -> bool:
    bare = value.strip("'\"")
    small = bare.isdigit() and len(bare) < 4  # `sort --key=2` is no secret
    return bool(bare) and not small and not bare.startswith(("$", "`", "/", "~", "./", "-")) and bare != MASK


def _variable(name: str | None) -> str:
    return re.sub(r"[^A-Z0-9]+", "_", (name or "").upper()).strip("_")


def _apart(secrets: list[Secret]) -> list[Secret]:
    kept: list[Secret] = []
    for secret in secrets:
        if not kept or secret.start >= kept[-1].end:
            kept.append(secret)
    return kept


def _quote_at(text: str, at: int) -> str:
    quote, index = "", 0
    while index < at:
        char = text[index]
        if char == "\\" and quote != "'":
            index += 1
        elif quote and char == quote:
            quote = ""
        elif not quote and char in "'\"":
            quote = char
        index += 1
    return quote
