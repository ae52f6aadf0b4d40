"""What the providers' models share. An adapter is a subclass: one file for one wire format."""

from __future__ import annotations

import contextlib
import os
from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, Iterable, Mapping
from typing import Any, ClassVar, Protocol
from urllib.parse import urlsplit

from msgspec.structs import replace

from toolkit.errors import ConfigurationError
from toolkit.http import Secret, StreamingHttpClient
from toolkit.models.addresses import checked_address
from toolkit.models.assembly import with_own_ids
from toolkit.models.endpoint import Endpoint, Opened
from toolkit.models.final_tool import final_tool_for
from toolkit.models.names import with_original_names
from toolkit.models.protocol import (
    ModelDelta,
    ModelDone,
    ModelRequest,
    ModelResponse,
    ModelSettings,
    ReasoningDelta,
    TextDelta,
)
from toolkit.models.sse import EventReader

__all__ = ["ProviderModel", "Reply"]


class Reply(Protocol):
    """An answer that grows by the events of a stream."""

    def add(self, data: bytes) -> Iterable[ModelDelta]:
        """Takes in the data of one event. Raises `ProviderError` for an event that is an error."""
        ...

    def response(self) -> ModelResponse:
        """The whole answer. Raises `BrokenStreamError` when the stream ended before it."""
        ...


class ProviderModel(ABC):
    """A provider's model over the injected HTTP client, which it never closes.

    Args:
        name: The model's name at its provider.
        http: An `httpx.AsyncClient` or `httpx2.AsyncClient`, or anything with their `stream`.
        api_key: A text or a `Secret`. Left out, it is taken from the environment, but only for the provider's own
            address: no key goes to a host that it was not meant for.
        base_url: Where the provider's own paths begin: `http://` or `https://`, a host, and mostly `/v1` at the end.
        settings: Those of a request come before these.
        timeout: Seconds without a byte after which a request fails. The run's own `timeout` bounds the whole.
    """

    provider: ClassVar[str]
    default_base_url: ClassVar[str]
    key_variables: ClassVar[tuple[str, ...]] = ()

    def __init__(
        self,
        name: str,
        *,
        http: StreamingHttpClient,
        api_key: str | Secret | None = None,
        base_url: str | None = None,
        settings: ModelSettings | None = None,
        timeout: float = 600.0,
    ) -> None:
        if not name or not name.strip():
            raise ConfigurationError(f"{type(self).__name__} needs the name of a model, such as {self._example()!r}")
        self.name = name
        self.settings = settings
        self.base_url = checked_address(base_url or self._default_base_url())
        key = _secret(api_key)
        if key is None and self.base_url.rstrip("/") == self._default_base_url().rstrip("/"):
            key = _secret(next(filter(None, map(os.environ.get, self._key_variables())), None))
        self._endpoint = Endpoint(
            self._provider(),
            http,
            base_url=self.base_url,
            headers=self._headers(key),
            timeout=timeout,
            advice=_advice(key, self._key_variables()),
            usual_end=urlsplit(self._default_base_url()).path or "/v1",
            holds_answer=self._holds_answer,
        )

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r}, base_url={self.base_url!r})"

    async def respond(self, request: ModelRequest) -> ModelResponse:
        """The model's answer.

        Raises:
            ProviderError: the provider did not give one.
        """
        request = self._with_settings(request)
        if request.output_schema is None or self._has_native_output(request):
            return await self._ask(request)
        final = final_tool_for(request)
        return final.taken_from(await self._ask(final.added_to(request)))

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelDelta, None]:
        """The model's answer in pieces. Closing the generator closes the connection at once.

        Raises:
            ProviderError: as `respond`, also in the middle of the answer.
        """
        request = self._with_settings(request)
        final = None
        if request.output_schema is not None and not self._has_native_output(request):
            final = final_tool_for(request)
            request = final.added_to(request)
        deltas = self._pieces(request)
        shown = deltas if final is None else final.taken_from_stream(deltas)
        async with contextlib.aclosing(deltas), contextlib.aclosing(shown):
            async for delta in shown:
                yield delta

    # What an adapter gives

    @abstractmethod
    def _headers(self, key: Secret | None) -> Mapping[str, str | Secret]:
        """The headers of each request, the key among them."""

    @abstractmethod
    def _path(self, *, is_streamed: bool) -> str:
        """The path behind `base_url`."""

    @abstractmethod
    def _body(self, request: ModelRequest, *, is_streamed: bool) -> dict[str, Any]:
        """The request in the provider's format; the settings' `extra` goes over it (`ProviderModel` does that)."""

    @abstractmethod
    def _whole(self, content: bytes) -> ModelResponse:
        """The answer that a body holds. Raises `ProviderError` when it holds none."""

    @abstractmethod
    def _reply(self) -> Reply:
        """An empty answer, to be filled by a stream."""

    def _holds_answer(self, content: bytes) -> bool:
        """Whether the body of an error holds what the model wrote, so that `_whole` can read it."""
        return False

    def _has_native_output(self, request: ModelRequest) -> bool:
        """Whether the provider itself holds the answer to `output_schema`, with the tools that the request has."""
        return True

    def _provider(self) -> str:
        return self.provider

    def _default_base_url(self) -> str:
        return self.default_base_url

    def _key_variables(self) -> tuple[str, ...]:
        return self.key_variables

    def _example(self) -> str:
        return "a-model"

    # What all do with it

    def _with_settings(self, request: ModelRequest) -> ModelRequest:
        settings = self.settings if request.settings is None else request.settings.over(self.settings)
        if settings is None:
            return request
        choice = settings.tool_choice if request.tool_choice is None else request.tool_choice
        return replace(request, settings=settings, tool_choice=choice)

    async def _ask(self, request: ModelRequest) -> ModelResponse:
        async with self._opened(request, is_streamed=False) as opened:
            content = await opened.whole()
            if not opened.is_surely_event_stream or content.lstrip()[:1] == b"{":  # some name each answer a stream
                return _own(self._whole(content), request)
            reply, reader = self._reply(), EventReader()  # some proxies and servers stream whatever they are asked for
            for data in (*reader.feed(content), *reader.finish()):
                for _ in reply.add(data):
                    pass
            return _own(reply.response(), request)

    async def _pieces(self, request: ModelRequest) -> AsyncGenerator[ModelDelta, None]:
        async with self._opened(request, is_streamed=True) as opened:
            if not opened.is_event_stream:
                for delta in _as_pieces(_own(self._whole(await opened.whole()), request)):
                    yield delta
                return
            reply = self._reply()
            async with contextlib.aclosing(opened.events()) as events:
                async for data in events:
                    for delta in reply.add(data):
                        yield delta
            yield ModelDone(_own(reply.response(), request))

    def _opened(self, request: ModelRequest, *, is_streamed: bool) -> contextlib.AbstractAsyncContextManager[Opened]:
        body = self._body(request, is_streamed=is_streamed)
        if request.settings is not None and request.settings.extra:
            _merge(body, request.settings.extra)
        return self._endpoint.open(self._path(is_streamed=is_streamed), body)


def _merge(body: dict[str, Any], extra: Mapping[str, Any]) -> None:
    """Puts `extra` over the body. Objects of one name are joined, since the body may need its own part; so are tools,
    since a tool of the provider's (a web search) does not take away those of the run."""
    for name, value in extra.items():
        own = body.get(name)
        if isinstance(own, dict) and isinstance(value, dict):
            body[name] = {**own, **value}
        elif name == "tools" and isinstance(own, list) and isinstance(value, list):
            body[name] = [*own, *value]
        else:
            body[name] = value


def _own(response: ModelResponse, request: ModelRequest) -> ModelResponse:
    """The response whose calls have ids of their own and the names that the request's tools have."""
    if not response.tool_calls:
        return response
    calls = with_own_ids(with_original_names(response.tool_calls, request.tools))
    return replace(response, tool_calls=calls)


def _as_pieces(response: ModelResponse) -> Iterable[ModelDelta]:
    if response.reasoning:
        yield ReasoningDelta(response.reasoning)
    if response.text:
        yield TextDelta(response.text)
    yield ModelDone(response)


def _secret(value: str | Secret | None) -> Secret | None:
    if value is None or isinstance(value, Secret):
        return value
    value = value.strip()
    if not value:
        return None
    if not (value.isascii() and value.isprintable()):
        raise ConfigurationError("an api_key goes into an HTTP header; give printable ASCII on one line")
    return Secret(value)


def _advice(key: Secret | None, variables: tuple[str, ...]) -> str:
    if key is not None:
        return "check the api_key"
    return f"no api_key was given; give one{f', or set {variables[0]}' if variables else ''}"
