"""Stores that fail on purpose, to see what becomes of a question then."""

from __future__ import annotations

from inspect import iscoroutinefunction
from typing import Any, Self

from chapterverse.errors import StoreUnreachableError
from chapterverse.protocols import Store


class Touched(Exception):
    """A store was asked for something that it must not be asked for."""


class Untouchable:
    """A store that may not be called at all."""

    def __getattr__(self, name: str) -> Any:
        raise Touched(f"the store was asked for {name}")

    async def close(self) -> None:
        """Libraries close their store; that is no question to it."""


class Failing:
    """A store that becomes unreachable after so many calls, whichever they are."""

    def __init__(self, inner: Store, calls: int) -> None:
        self._inner, self._left = inner, calls

    def __getattr__(self, name: str) -> Any:
        return self.guarded(getattr(self._inner, name))

    async def reader(self, index: str) -> _FailingReader:
        self.spend()
        return _FailingReader(await self._inner.reader(index), self)

    async def close(self) -> None:
        await self._inner.close()

    def spend(self) -> None:
        if self._left <= 0:
            raise StoreUnreachableError("The store cannot be reached any more.")
        self._left -= 1

    def guarded(self, member: Any) -> Any:
        if not callable(member):
            return member

        def call(*arguments: Any, **options: Any) -> Any:
            self.spend()
            return member(*arguments, **options)

        async def awaited(*arguments: Any, **options: Any) -> Any:
            return await call(*arguments, **options)

        return awaited if iscoroutinefunction(member) else call


class _FailingReader:
    """An index reader that fails together with its store."""

    def __init__(self, inner: Any, store: Failing) -> None:
        self._inner, self._store = inner, store

    def __getattr__(self, name: str) -> Any:
        return self._store.guarded(getattr(self._inner, name))

    async def __aenter__(self) -> Self:
        await self._inner.__aenter__()
        return self

    async def __aexit__(self, *error: Any) -> None:
        await self._inner.__aexit__(*error)
