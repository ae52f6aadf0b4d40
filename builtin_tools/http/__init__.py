"""The small base that the tools for HTTP services share."""

from builtin_tools.http.answers import Answer
from builtin_tools.http.cache import AnswerCache
from builtin_tools.http.errors import ErrorKind, ServiceError
from builtin_tools.http.pacing import Pace
from builtin_tools.http.service import Request, Service
from builtin_tools.http.settings import Identity, Section
from toolkit.http.clock import Clock, SystemClock
from toolkit.http.protocol import HttpClient, HttpResponse
from toolkit.http.secrets import Secret

__all__ = [
    "Answer",
    "AnswerCache",
    "Clock",
    "ErrorKind",
    "HttpClient",
    "HttpResponse",
    "Identity",
    "Pace",
    "Request",
    "Secret",
    "Section",
    "Service",
    "ServiceError",
    "SystemClock",
]
