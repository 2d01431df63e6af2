"""What all providers behind a network share: settings, clients, and the one place where their errors become ours."""

from __future__ import annotations

import asyncio
import importlib.util
import weakref
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Generic, TypeVar

from chapterverse.errors import AstRagEmbeddingCapabilityError, AstRagError, AstRagValidationError
from chapterverse.protocols import Capabilities, Embedded, InputType, ModelCard
from chapterverse.providers.catalog import card_for
from chapterverse.providers.failures import UNREADABLE, Failure, Provider, error_for, missing_key
from chapterverse.providers.settings import api_key

DEFAULT_TIMEOUT = 60.0

Client = TypeVar("Client")
Answer = TypeVar("Answer")


@dataclass(frozen=True, slots=True)
class Access:
    """Where a provider is and how to be let in. Equal ones share a client."""

    key: str | None = field(repr=False)
    base_url: str | None
    timeout: float
    token: str | None = field(default=None, repr=False)
    project: str | None = None
    location: str | None = None


@dataclass(frozen=True, slots=True)
class Job:
    """One request: texts, what they are, and what is asked of the model."""

    texts: Sequence[str]
    input_type: InputType
    card: ModelCard
    dimensions: int | None
    """None if the model's own are wanted."""

    @property
    def prefixed(self) -> list[str]:
        prefix = self.card.prefixes.of(self.input_type)
        return [prefix + text for text in self.texts]


class Remote(ABC, Generic[Client, Answer]):
    """A provider that is reached through its own SDK, which is imported when it is first used."""

    provider: ClassVar[Provider]
    models: ClassVar[tuple[ModelCard, ...]]
    package: ClassVar[str]
    """The SDK's import name."""
    extra: ClassVar[str]
    base_url_variable: ClassVar[str] = ""
    more_options: ClassVar[tuple[str, ...]] = ()
    concurrency: ClassVar[int] = 4
    serves_anywhere: ClassVar[bool] = False

    def __init__(self) -> None:
        # A client's connections belong to the event loop that they were opened in.
        self._clients: weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, dict[Access, Client]]
        self._clients = weakref.WeakKeyDictionary()

    def capabilities(self) -> Capabilities:
        return Capabilities(
            models=self.models,
            options=("base_url", "timeout", *self.more_options),
            key_variables=self.provider.key_variables,
            base_url_variable=self.base_url_variable,
            takes_other_models=True,
            serves_anywhere=self.serves_anywhere,
            keeps=True,
            concurrency=self.concurrency,
        )

    def validate_config(self, model: str, auth: Mapping[str, str], options: Mapping[str, Any]) -> None:
        card_for(self.provider.name, self.capabilities(), model, options)
        access = self._access(auth, options)
        if not self._may_enter(access):
            raise missing_key(self.provider)
        if not _is_installed(self.package):
            raise AstRagEmbeddingCapabilityError(
                f"{self.provider.title} needs a package that is missing: pip install 'chapterverse[{self.extra}]'.",
                details={"provider": self.provider.name, "extra": self.extra},
            )

    async def embed(
        self,
        texts: Sequence[str],
        input_type: InputType,
        model: str,
        auth: Mapping[str, str],
        options: Mapping[str, Any],
    ) -> Embedded:
        self.validate_config(model, auth, options)
        wanted = options.get("dimensions")
        card = card_for(self.provider.name, self.capabilities(), model, options)
        job = Job(texts, input_type, card, None if wanted == card.dimensions else wanted)
        access = self._access(auth, options)
        try:
            answer = await self._request(self._client(access), job)
        except Exception as error:
            failure = self._failure(error)
            if failure is None:
                raise
            raised = self._error(failure, access, error)
            raise raised from raised.cause
        try:
            return self._read(answer)
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raised = self._error(UNREADABLE, access, error)
            raise raised from raised.cause

    async def close(self) -> None:
        for client in self._clients.pop(asyncio.get_running_loop(), {}).values():
            await self._close(client)

    def _client(self, access: Access) -> Client:
        clients = self._clients.setdefault(asyncio.get_running_loop(), {})
        if access not in clients:
            clients[access] = self._connect(access)
        return clients[access]

    def _access(self, auth: Mapping[str, str], options: Mapping[str, Any]) -> Access:
        base_url = options.get("base_url")
        if base_url is not None and not str(base_url).startswith(("http://", "https://")):
            raise AstRagValidationError(f"base_url must be an http or https address, not {base_url!r}.")
        timeout = options.get("timeout", DEFAULT_TIMEOUT)
        if isinstance(timeout, bool) or not isinstance(timeout, int | float) or timeout <= 0:
            raise AstRagValidationError(f"timeout must be a number of seconds above 0, not {timeout!r}.")
        return Access(
            key=api_key(auth, self.provider.key_variables),
            base_url=base_url,
            timeout=float(timeout),
            token=auth.get("access_token"),
            project=options.get("project"),
            location=options.get("location"),
        )

    def _error(self, failure: Failure, access: Access, cause: Exception) -> AstRagError:
        return error_for(self.provider, failure, access.key or access.token, cause)

    def _may_enter(self, access: Access) -> bool:
        return access.key is not None

    @abstractmethod
    def _connect(self, access: Access) -> Client:
        """A client of the SDK that does not retry by itself."""

    @abstractmethod
    async def _request(self, client: Client, job: Job) -> Answer:
        """Send one request."""

    @abstractmethod
    def _read(self, answer: Answer) -> Embedded:
        """What the answer holds; a cost of None means that the price list knows it."""

    @abstractmethod
    def _failure(self, error: Exception) -> Failure | None:
        """What the SDK's error means; None if it is not one of its errors."""

    @abstractmethod
    async def _close(self, client: Client) -> None: ...


def _is_installed(package: str) -> bool:
    try:
        return importlib.util.find_spec(package) is not None
    except ModuleNotFoundError:  # of the package above it
        return False
