"""SLO files to checked objectives and channels. Answers: what is promised, about which jobs, and who is told?

It reads files and nothing else. Whether an objective is met is none of its business.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from scheduler.definitions import Definitions, define
from scheduler.editor_schema import schema_of
from scheduler.events import JOB_ID
from scheduler.files import DefinitionError, Document, KeyPath, Problem, read_folder
from scheduler.findings import Finding
from scheduler.problems import check
from slo.channels.settings import Channel, FileChannel, SecretRef, SlackChannel, WebhookChannel
from slo.promises import Indicator, Objective, Policy, SloFiles, selects
from slo.schema_models import AlertModel, ChannelModel, Secret, SettingsModel, SloModel, WholeFile, read_objective
from slo.warnings import lint_warnings

__all__ = [
    "Finding",
    "Indicator",
    "Objective",
    "Policy",
    "SloFiles",
    "json_schema",
    "judge_documents",
    "lint_warnings",
    "load_configuration",
    "load_slo_files",
    "selects",
]


def load_slo_files(folder: Path) -> SloFiles:
    """The objectives and channels of a folder. Raises DefinitionError with every problem in its SLO part."""
    documents, problems = read_folder(folder)
    files, wrong = judge_documents(documents)
    if problems or wrong:
        raise DefinitionError([*problems, *wrong])
    return files


def load_configuration(folder: Path) -> tuple[Definitions, SloFiles]:
    """Jobs, objectives and channels of a folder, read once. Raises DefinitionError with the problems of both parts."""
    documents, problems = read_folder(folder)
    definitions, wrong_jobs = define(documents)
    files, wrong_slos = judge_documents(documents)
    if problems or wrong_jobs or wrong_slos:
        raise DefinitionError([*problems, *wrong_jobs, *wrong_slos])
    return definitions, files


def json_schema() -> dict[str, Any]:
    """JSON Schema (2020-12) of a whole configuration file, for editors: jobs, objectives, channels, settings."""
    return schema_of(WholeFile)


def judge_documents(documents: Sequence[Document]) -> tuple[SloFiles, list[Problem]]:
    """The SLO part of documents already read, and what is wrong with it."""
    usable = [document for document in documents if isinstance(document.value, dict)]
    channels, known, problems = _channels(usable)
    networks, wrong = _networks(usable)
    problems += wrong
    objectives: dict[str, Objective] = {}
    for document, path, model in _slos(usable, problems):
        problems += _unknown_channels(document, path, model, known)
        if model.id not in objectives:
            objectives[model.id] = _objective(model, f"{document.name}#{model.id}")
    return SloFiles(tuple(objectives.values()), channels, networks), problems


def _slos(documents: list[Document], problems: list[Problem]) -> Iterator[tuple[Document, KeyPath, SloModel]]:
    """Each objective that is well formed; what is wrong with the others is added to `problems`."""
    seen: dict[str, str] = {}
    for document in documents:
        listed = document.value.get("slos") or []
        if not isinstance(listed, list):
            problems.append(document.problem(("slos",), "is not a list", "begin each one with `- id:`", value=""))
            continue
        for index in range(len(listed)):
            path: KeyPath = ("slos", index)
            model, wrong = check(SloModel, document, path)
            problems += wrong + _twice(document, (*path, "id"), seen)
            if model is not None:
                yield document, path, model


def _twice(document: Document, path: KeyPath, seen: dict[str, str]) -> list[Problem]:
    name = document.texts.get(path)
    if name is None:
        return []
    here = f"{document.file}:{document.line(path)}"
    first = seen.setdefault(name, here)
    return [] if first == here else [document.problem(path, f"stands twice: also at {first}", "give it another id")]


def _unknown_channels(document: Document, path: KeyPath, model: SloModel, known: set[str]) -> Iterator[Problem]:
    for index, name in enumerate(model.notify):
        if name not in known:
            remedy = f"use one of {', '.join(sorted(known))}" if known else "define it under `channels:`"
            at = (*path, "notify", index)
            yield document.problem(at, "is not a channel of this folder", remedy, value=name)


def _objective(model: SloModel, source: str) -> Objective:
    ratio, bare = read_objective(model.objective)
    return Objective(
        id=model.id,
        indicator=model.indicator,
        objective=ratio,
        select={key: tuple(values) for key, values in model.select.items()},
        window=model.window,
        policy=_policy(model.alert),
        notify=tuple(dict.fromkeys(model.notify)),
        description=model.description,
        runbook=model.runbook,
        source=source,
        bare_percent=bare,
    )


def _policy(model: AlertModel) -> Policy | None:
    if model.policy == "none":
        return None
    return Policy(
        min_bad_page=model.min_bad.page,
        min_bad_ticket=model.min_bad.ticket,
        keep_firing=model.keep_firing,
        repeat=model.repeat,
    )


def _channels(documents: list[Document]) -> tuple[dict[str, Channel], set[str], list[Problem]]:
    """The usable channels, the names of all that are written, and what is wrong with them."""
    channels: dict[str, Channel] = {}
    seen: dict[str, str] = {}
    problems: list[Problem] = []
    for document in documents:
        listed = document.value.get("channels") or {}
        if not isinstance(listed, dict):
            problems.append(
                document.problem(("channels",), "is not a mapping", "write `name: {file: {path: ...}}`", "")
            )
            continue
        for name in listed:
            path: KeyPath = ("channels", name)
            problems += _channel_name(document, path, seen)
            model, wrong = check(ChannelModel, document, path)
            problems += wrong
            if model is not None:
                channels.setdefault(name, _channel(name, model, document.folder))
    return channels, set(seen), problems


def _channel_name(document: Document, path: KeyPath, seen: dict[str, str]) -> Iterator[Problem]:
    name = str(path[-1])
    here = f"{document.file}:{document.line(path)}"
    if not JOB_ID.fullmatch(name):
        yield document.problem(path, "is not a channel's name", "use up to 100 of A-Z a-z 0-9 . _ -", value=name)
    first = seen.setdefault(name, here)
    if first != here:
        yield document.problem(path, f"stands twice: also at {first}", "give one another name", value=name)


def _channel(name: str, model: ChannelModel, folder: Path) -> Channel:
    if model.slack is not None:
        return SlackChannel(name, _url(model.slack.url, folder))
    if model.webhook is not None:
        secret = None if model.webhook.secret is None else SecretRef(str(folder / model.webhook.secret))
        return WebhookChannel(name, _url(model.webhook.url, folder), secret)
    assert model.file is not None
    # Unlike a secret, a notice file is data that the process makes: it lies where the process runs, as `var/` does.
    return FileChannel(name, model.file.path)


def _url(value: str | Secret, folder: Path) -> str | SecretRef:
    return SecretRef(str(folder / value.file)) if isinstance(value, Secret) else value


def _networks(documents: list[Document]) -> tuple[tuple[str, ...], list[Problem]]:
    model, problems = _once(SettingsModel, "settings", documents)
    return (tuple(model.allow_networks) if isinstance(model, SettingsModel) else ()), problems


def _once(kind: type[BaseModel], key: str, documents: list[Document]) -> tuple[BaseModel | None, list[Problem]]:
    found = [document for document in documents if document.value.get(key) is not None]
    if not found:
        return None, []
    model, problems = check(kind, found[0], (key,))
    first = f"{found[0].file}:{found[0].line((key,))}"
    for document in found[1:]:
        problems.append(document.problem((key,), f"stands twice: also at {first}", "keep one of them", value=""))
    return model, problems
