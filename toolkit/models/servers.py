"""The servers that speak OpenAI's chat format, and how each deviates from it: data, looked up by host or by name."""

from __future__ import annotations

from typing import Literal
from urllib.parse import urlsplit

from msgspec import Struct

from toolkit.errors import ConfigurationError

__all__ = ["SERVERS", "Server", "server_at", "server_named"]


class Server(Struct, frozen=True):
    """How a server takes requests.

    Attributes:
        name: The word before the colon in `provider:model`, and the provider in errors.
        base_url: Where its paths begin; None where everybody runs their own.
        hosts: Host names, or ends of them that begin with a dot, by which a `base_url` is recognised.
        port: The port by which it is recognised on this machine.
        key_variables: Environment variables for its key.
        key_header: The header for the key, if it is not `Authorization: Bearer`.
        max_tokens: Its name for the longest answer, in tokens.
        seed: Its name for the seed.
        reasoning: The name under which an assistant's reasoning is sent back; None where it is not to be.
        output: How an `output_schema` is asked for: `"schema"` by `response_format`; `"schema_without_tools"` so, but
            by a final tool when there are tools; `"tool"` always by a final tool.
        has_strict: Whether tools may be marked `strict`.
        has_parallel: Whether `parallel_tool_calls` may be sent.
        has_usage_option: Whether a stream gives its usage only when asked by `stream_options`.
        required: Its word for `tool_choice` `"required"`.
        has_named_choice: Whether `tool_choice` may name a tool; `required` is sent with only that tool otherwise.
        id_length: The length that ids of calls must have, in letters and digits; None where any will do.
    """

    name: str
    base_url: str | None = None
    hosts: tuple[str, ...] = ()
    port: int | None = None
    key_variables: tuple[str, ...] = ()
    key_header: str | None = None
    max_tokens: Literal["max_completion_tokens", "max_tokens"] = "max_tokens"
    seed: str = "seed"
    reasoning: Literal["reasoning_content", "reasoning"] | None = None
    output: Literal["schema", "schema_without_tools", "tool"] = "schema"
    has_strict: bool = False
    has_parallel: bool = True
    has_usage_option: bool = True
    required: str = "required"
    has_named_choice: bool = True
    id_length: int | None = None


SERVERS: tuple[Server, ...] = (
    Server(
        "openai",
        "https://api.openai.com/v1",
        ("api.openai.com",),
        key_variables=("OPENAI_API_KEY",),
        max_tokens="max_completion_tokens",
        has_strict=True,
    ),
    Server(
        "azure",
        None,
        (".openai.azure.com", ".services.ai.azure.com", ".cognitiveservices.azure.com"),
        key_variables=("AZURE_OPENAI_API_KEY",),
        key_header="api-key",
        max_tokens="max_completion_tokens",
        has_strict=True,
    ),
    Server(
        "openrouter",
        "https://openrouter.ai/api/v1",
        ("openrouter.ai",),
        key_variables=("OPENROUTER_API_KEY",),
        reasoning="reasoning",
    ),
    Server(
        "groq",
        "https://api.groq.com/openai/v1",
        ("api.groq.com",),
        key_variables=("GROQ_API_KEY",),
        max_tokens="max_completion_tokens",
        output="tool",  # response_format with a schema is for a few models, and neither with tools nor streamed
    ),
    Server(
        "mistral",
        "https://api.mistral.ai/v1",
        ("api.mistral.ai",),
        key_variables=("MISTRAL_API_KEY",),
        seed="random_seed",
        output="schema_without_tools",
        has_usage_option=False,  # it refuses fields that it doesn't know, and sends the usage unasked
        required="any",
        id_length=9,
    ),
    Server(
        "deepseek",
        "https://api.deepseek.com",
        ("api.deepseek.com",),
        key_variables=("DEEPSEEK_API_KEY",),
        reasoning="reasoning_content",  # with thinking, a history of calls without it is refused
        output="tool",  # response_format knows json_object only
        has_parallel=False,
    ),
    Server(
        "together",
        "https://api.together.xyz/v1",
        ("api.together.xyz", "api.together.ai"),
        key_variables=("TOGETHER_API_KEY",),
        output="schema_without_tools",
    ),
    Server(
        "zai",
        "https://api.z.ai/api/paas/v4",
        ("api.z.ai", "open.bigmodel.cn"),
        key_variables=("ZAI_API_KEY",),
        reasoning="reasoning_content",
        output="tool",
        has_parallel=False,
        required="auto",  # it knows no other
        has_named_choice=False,
    ),
    Server(
        "ollama",
        "http://localhost:11434/v1",
        ("ollama.com",),
        11434,
        ("OLLAMA_API_KEY",),
        reasoning="reasoning",
        output="schema_without_tools",
    ),
    Server("lmstudio", "http://localhost:1234/v1", port=1234, output="schema_without_tools"),
    Server("vllm", "http://localhost:8000/v1", reasoning="reasoning", output="schema_without_tools"),
    Server(
        "llamacpp", "http://localhost:8080/v1", (), 8080, reasoning="reasoning_content", output="schema_without_tools"
    ),
    Server("openai-compatible", None),
)

_BY_NAME = {server.name: server for server in SERVERS}


def server_named(name: str) -> Server:
    """The server of this name.

    Raises:
        ConfigurationError: there is none; the text lists those that there are.
    """
    try:
        return _BY_NAME[name]
    except KeyError:
        known = ", ".join(f"'{server.name}'" for server in SERVERS)
        raise ConfigurationError(
            f"no server is named {name!r}; those known are {known}. Another one that speaks OpenAI's chat format is "
            f"'openai-compatible', or a Server(...) of your own"
        ) from None


def server_at(base_url: str) -> Server:
    """The server that an address belongs to; `openai-compatible` where nothing is known of it."""
    parts = urlsplit(base_url)
    host = (parts.hostname or "").lower()
    for server in SERVERS:
        for known in server.hosts:
            if host == known or (known.startswith(".") and host.endswith(known)):
                return server
        if server.port is not None and host in ("localhost", "127.0.0.1", "::1"):
            try:
                if parts.port == server.port:
                    return server
            except ValueError:
                continue
    return _BY_NAME["openai-compatible"]
