"""Writes docs/settings.md from the code: run `python docs/make_settings.py` after changing a setting."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import typer
from pydantic import SecretStr
from pydantic.fields import FieldInfo
from pydantic_settings import BaseSettings

from chapterverse.providers.generation.catalog import HOSTED
from chapterverse.providers.registry import Registry
from chapterverse.settings import ServiceSettings, Settings
from chapterverse.surfaces.cli import app

PAGE = Path(__file__).with_name("settings.md")
OPTIONS = {"roots": "--root", "hosts": "--allow-host", "origins": "--allow-origin", "api_key": ""}
"""Options of `serve` that are called otherwise than their setting; a key is never given on a command line."""

HEAD = """# Settings

Made from the code by `python docs/make_settings.py`; do not edit it by hand.

Everything has a default: without any setting, all runs on this machine. Settings are read from environment variables;
lists are written with commas.
"""


def page() -> str:
    """The whole page."""
    sections = {
        "The library": _library(),
        "The service": _service(),
        "Keys and addresses of providers": _providers(),
        "Other variables": _others(),
    }
    return HEAD + "".join(f"\n## {title}\n\n" + "\n".join(lines) + "\n" for title, lines in sections.items())


def _library() -> Iterator[str]:
    yield "| variable | default | what it is |"
    yield "|---|---|---|"
    for name, field in Settings.model_fields.items():
        yield f"| `{_variable(Settings, name)}` | {_default(field)} | {field.description} |"


def _service() -> Iterator[str]:
    yield "An option of `chapterverse serve` wins over its variable; one that makes a list is given for each entry."
    yield ""
    yield "| variable | option | default | what it is |"
    yield "|---|---|---|---|"
    for name, field in ServiceSettings.model_fields.items():
        option = option_of(name)
        shown = f"`{option}`" if option else ""
        yield f"| `{_variable(ServiceSettings, name)}` | {shown} | {_default(field)} | {field.description} |"


def _providers() -> Iterator[str]:
    yield "Only for a provider that is chosen; `local` needs none."
    yield ""
    yield "| provider | key | address |"
    yield "|---|---|---|"
    registry = Registry()
    for name in sorted({*registry.names(), *HOSTED} - {"local"}):
        keys, addresses = set(), set()
        if name in registry.names():
            offered = registry.capabilities(name)
            keys.update(offered.key_variables)
            addresses.add(offered.base_url_variable)
        if name in HOSTED:
            keys.update(HOSTED[name].provider.key_variables)
            addresses.add(HOSTED[name].base_url_variable)
        yield f"| `{name}` | {_codes(keys)} | {_codes(addresses - {''})} |"
    yield ""
    yield "`vertex_gemini` also takes Google's own sign-in (`gcloud auth application-default login`, or"
    yield "`GOOGLE_APPLICATION_CREDENTIALS`), and with it `GOOGLE_CLOUD_PROJECT` and perhaps `GOOGLE_CLOUD_LOCATION`."
    yield ""
    yield "Providers and Qdrant are reached through the proxy that `HTTPS_PROXY` or `HTTP_PROXY` names, but for"
    yield "hosts in `NO_PROXY`: put servers of your own network there. Web sites are read without a proxy."


def _others() -> Iterator[str]:
    yield "| variable | what it is |"
    yield "|---|---|"
    said = {
        variable: parameter.help
        for command in typer.main.get_command(app).commands.values()  # type: ignore[attr-defined]
        for parameter in command.params
        if isinstance(variable := getattr(parameter, "envvar", None), str)
    }
    for name in ServiceSettings.model_fields:  # these have been told of
        said.pop(_variable(ServiceSettings, name), None)
    for variable, text in sorted(said.items()):
        yield f"| `{variable}` | {text} |"


def option_of(name: str) -> str:
    """What a setting of the service is called on the command line."""
    return OPTIONS.get(name, f"--{name.replace('_', '-')}")


def _variable(settings: type[BaseSettings], name: str) -> str:
    alias = settings.model_fields[name].validation_alias
    return alias if isinstance(alias, str) else f"{settings.model_config['env_prefix']}{name.upper()}"


def _default(field: FieldInfo) -> str:
    value = field.default
    if value is None or value == () or isinstance(value, SecretStr):
        return "none"
    return f"`{str(value).lower() if isinstance(value, bool) else value}`"


def _codes(names: set[str]) -> str:
    return " or ".join(f"`{name}`" for name in sorted(names))


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
