"""From `--app module:Container` to a container."""

from __future__ import annotations

import sys
import traceback
from difflib import get_close_matches
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from types import ModuleType
from typing import Any

import toolkit
from toolkit.cli.failures import Failed, text_of
from toolkit.injection.named_providers import is_container, is_container_class

__all__ = ["DEFAULT_APP", "load_container"]

DEFAULT_APP = "containers.support_desk:SupportDesk"
"""The demo application. A string, since the toolkit never imports what stands above it."""


def load_container(app: str) -> Any:
    """The container that `module:Container` names. Modules of the working directory come first.

    What is called `Container` there may be a container's class, a function that makes a container, or one that is
    made.

    Raises:
        Failed: there is no such thing, or making it failed.
    """
    module_name, colon, name = app.partition(":")
    if module_name.endswith(".py") or "/" in module_name:
        raise Failed(f"--app is {app!r}, and names a file; write {_imported_as(module_name)}:{name or 'Container'}")
    if not (module_name and colon and name):
        module, _, last = app.rpartition(".")
        example = f"{module}:{last}" if module and not colon and last[:1].isupper() else DEFAULT_APP
        raise Failed(f"--app is {app!r}; give a module and a name in it, such as {example}")
    found = _attribute(_module(module_name), name)
    if callable(found):
        try:
            found = found()
        except (Exception, SystemExit) as error:
            raise Failed(f"making the container {app} failed: {text_of(error)}", causes=(error,)) from error
    if not is_container(found):
        raise Failed(f"{app} gives {type(found).__name__!r}, and no container; name a class such as {DEFAULT_APP}")
    return found


def _imported_as(path: str) -> str:
    """The module of a file, as it is imported from the working directory."""
    file = Path(path)
    if file.is_absolute() and file.is_relative_to(Path.cwd()):
        file = file.relative_to(Path.cwd())
    parts = [part for part in file.with_suffix("").parts if part not in (file.anchor, ".", "..", "__init__")]
    return ".".join(parts) or "module"


def _module(name: str) -> ModuleType:
    directory = str(Path.cwd())
    if directory not in sys.path:
        sys.path.insert(0, directory)
    try:
        return import_module(name)
    except (Exception, SystemExit) as error:
        _tell_what_hides(name, error)
        if (
            isinstance(error, ModuleNotFoundError)
            and error.name is not None
            and f"{name}.".startswith(f"{error.name}.")
        ):
            text = f"there is no module '{error.name}', neither in {directory} nor among what is installed"
            near = get_close_matches(error.name, _modules_beside(error.name, directory), n=1)
            text += f"; did you mean '{near[0]}'?" if near else ""
        else:
            text = f"importing '{name}' failed{_place_of(error, directory)}: {text_of(error)}"
        raise Failed(text, causes=(error,)) from error


def _place_of(error: BaseException, directory: str) -> str:
    """The last line of the user's own files that led to the error, as ` in shop.py, line 7`."""
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if _is_own(frame.filename, directory)]
    return f" in {Path(frames[-1].filename).relative_to(directory)}, line {frames[-1].lineno}" if frames else ""


def _is_own(filename: str, directory: str) -> bool:
    """Whether a file is of the working directory, and not of an environment that lies there."""
    path = Path(filename)
    return path.is_relative_to(directory) and "site-packages" not in path.parts


def _attribute(module: ModuleType, path: str) -> Any:
    found: Any = module
    try:
        for name in path.split("."):
            found = getattr(found, name)
    except AttributeError as error:
        _tell_what_hides(module.__name__, error)
        raise Failed(f"module '{module.__name__}' has no '{path}'; {_hint(module, path)}") from error
    return found


def _hint(module: ModuleType, name: str) -> str:
    """Which container may have been meant, and which there are."""
    known = [known for known, value in vars(module).items() if not known.startswith("_") and _may_be_container(value)]
    if not known:
        return "name a container's class, a function that makes a container, or a container"
    near = get_close_matches(name, known, n=1)
    return (f"did you mean '{near[0]}'? Its" if near else "its") + f" containers are {', '.join(map(repr, known))}"


def _may_be_container(value: Any) -> bool:
    return is_container(value) or is_container_class(value)


def _modules_beside(name: str, directory: str) -> list[str]:
    """The modules of the same package; those of the working directory for a name without a package."""
    package = name.rpartition(".")[0]
    path = sys.modules[package].__path__ if package in sys.modules else [directory]
    return [found.name for found in iter_modules(path, f"{package}." if package else "")]


def _tell_what_hides(module_name: str, error: BaseException) -> None:
    """Raises `Failed` when the demo application is not found because a module of the user has its package's name."""
    if module_name != DEFAULT_APP.partition(":")[0]:
        return
    package_name = module_name.partition(".")[0]
    package = sys.modules.get(package_name)
    location = getattr(package, "__file__", None)
    ours = Path(toolkit.__file__).resolve().parent.parent / package_name
    if location is None or Path(location).resolve().parent == ours:
        return
    raise Failed(
        f"the module '{package_name}' in {location} hides Toolwire's package of that name, where {DEFAULT_APP} is; "
        f"rename it, work in another directory, or name your own container: --app {package_name}:YourContainer",
        causes=(error,),
    ) from error
