"""The command line as a test uses it: in this process, or as the installed command."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from toolkit.cli import main
from toolkit.models.catalogue import PROVIDERS

APPLICATION = '''
from dataclasses import dataclass

from dependency_injector import containers, providers

from toolkit import Agent, Limits, Tool, ToolError, tool
from toolkit.hooks import Deny
from toolkit.injection import AppScoped, dep, provide
from toolkit.models import KeywordModel


@tool
def echo(text: str) -> str:
    """Echo a text."""
    return text


@tool
def crash(text: str) -> str:
    """Crash on a text."""
    raise LookupError(f"secret of the developer: {text}")


class NoCrash:
    def on_before_call(self, ctx, call):
        if call.name == "echo" and call.arguments["text"] == "forbidden":
            return Deny("that word is forbidden")


class BrokenModel:
    async def respond(self, request):
        raise OSError("the cable is cut")


@dataclass
class Weather:
    summary: str


def locked():
    raise RuntimeError("this model has no key")


class Shop(containers.DeclarativeContainer):
    model = providers.Factory(KeywordModel)
    agent = provide(Agent, model=dep(model), tools=[echo, crash], hooks=[NoCrash()])
    other = provide(Agent, model=dep(model), tools=[echo], name="other")
    limited = provide(Agent, model=dep(model), tools=[echo], limits=Limits(max_turns=1))
    partial = provide(Agent, model=dep(model), tools=[echo], limits=Limits(max_turns=1, on_limit="answer"))
    typed = provide(Agent, model=dep(model), tools=[echo], output_type=Weather)
    broken = provide(Agent, model=BrokenModel(), tools=[echo])
    shouting = providers.Callable(print)


class Locked(containers.DeclarativeContainer):
    model = AppScoped(locked)
    agent = provide(Agent, model=dep(model), tools=[echo])


class Miswired(containers.DeclarativeContainer):
    missing = providers.Dependency()
    model = provide(KeywordModel, 1)
    agent = provide(Agent, model=dep(model), tools=[echo, 7])


class Copying(containers.DeclarativeContainer):
    agent = providers.Factory(Agent, model=KeywordModel(), tools=[echo])


def make():
    return Shop()


def fail():
    raise LookupError("no settings file")


made = Shop()
'''


@dataclass(frozen=True, slots=True)
class Answer:
    """What a command said."""

    status: int
    out: str
    err: str


Command = Callable[..., Answer]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An empty working directory with a module `shop`, and nothing of it is left in this process afterwards."""
    (tmp_path / "shop.py").write_text(APPLICATION)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    keys = (variable for provider in PROVIDERS for variable in provider.key_variables)
    for variable in ("TOOLKIT_MODEL", "TOOLKIT_BASE_URL", "TOOLWIRE_CONTACT", "NO_COLOR", "FORCE_COLOR", *keys):
        monkeypatch.delenv(variable, raising=False)
    before = set(sys.modules)
    yield tmp_path
    for name in set(sys.modules) - before:
        if getattr(sys.modules[name], "__file__", None) and str(tmp_path) in str(sys.modules[name].__file__):
            del sys.modules[name]


@pytest.fixture
def toolwire(folder: Path, capsys: pytest.CaptureFixture[str]) -> Command:
    """Runs a command in this process, in `folder`."""

    def run(*arguments: str) -> Answer:
        status = main(arguments)
        said = capsys.readouterr()
        return Answer(status, said.out, said.err)

    return run


@pytest.fixture
def installed(folder: Path) -> Command:
    """Runs the installed command in `folder`, its output piped."""

    def run(*arguments: str, **environment: str) -> Answer:
        command = [str(Path(sys.executable).with_name("toolwire")), *arguments]
        done = subprocess.run(
            command, cwd=folder, env={**os.environ, **environment}, capture_output=True, text=True, check=False
        )
        return Answer(done.returncode, done.stdout, done.stderr)

    return run
