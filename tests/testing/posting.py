"""A provider's model in small: it asks for permission, then sends its request."""

from __future__ import annotations

from typing import Any

from toolkit.models import ModelRequest, ModelResponse
from toolkit.models.permission import check_request

__all__ = ["PostingModel"]


class PostingModel:
    """Sends the last message to `url`, and gives the text that it gets."""

    def __init__(self, http: Any, url: str = "https://provider.example/v1/chat") -> None:
        self.http = http
        self.url = url

    async def respond(self, request: ModelRequest) -> ModelResponse:
        check_request(self.url, self.http)
        answer = await self.http.request("POST", self.url, json={})
        return ModelResponse(answer.text)
