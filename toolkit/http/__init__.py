"""What models and tools need of HTTP: a client as a Protocol, secrets, the clock, the wait that servers ask for."""

from toolkit.http.clock import Clock, SystemClock
from toolkit.http.failures import Failure, failure_of, transport_errors, unreadable_headers
from toolkit.http.packing import times_packed
from toolkit.http.protocol import HttpClient, HttpResponse, HttpStream, StreamingHttpClient
from toolkit.http.retry_after import read_retry_after
from toolkit.http.secrets import Secret, without

__all__ = [
    "Clock",
    "Failure",
    "HttpClient",
    "HttpResponse",
    "HttpStream",
    "Secret",
    "StreamingHttpClient",
    "SystemClock",
    "failure_of",
    "read_retry_after",
    "times_packed",
    "transport_errors",
    "unreadable_headers",
    "without",
]
