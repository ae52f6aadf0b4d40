from __future__ import annotations

import gc
import weakref

import pytest

from builtin_tools.http import AnswerCache
from tests.http.clients import ManualClock


class Client:
    """Stands for a client."""


class SlottedClient:
    __slots__ = ()


class UnhashableClient:
    __hash__ = None  # type: ignore[assignment]


def test_a_value_is_kept_for_300_seconds(clock: ManualClock) -> None:
    cache, client = AnswerCache(clock=clock), Client()
    cache.put(client, "key", "value")

    clock.elapsed = 299.9
    assert cache.get(client, "key") == "value"
    clock.elapsed = 300.0
    assert cache.get(client, "key") is None


def test_at_most_256_values_are_kept_and_the_oldest_goes(clock: ManualClock) -> None:
    cache, client = AnswerCache(clock=clock), Client()

    for number in range(257):
        cache.put(client, number, f"value {number}")

    assert len(cache) == 256
    assert cache.get(client, 0) is None
    assert cache.get(client, 1) == "value 1"
    assert cache.get(client, 256) == "value 256"


def test_a_value_that_is_put_again_takes_no_second_place(clock: ManualClock) -> None:
    cache, client = AnswerCache(clock=clock, size=2), Client()

    for key in ("a", "b", "b", "b"):
        cache.put(client, key, key)

    assert cache.get(client, "a") == "a"


def test_what_one_client_fetched_is_not_found_through_another() -> None:
    cache = AnswerCache()
    for clients in ((Client(), Client()), (SlottedClient(), SlottedClient()), (UnhashableClient(), UnhashableClient())):
        cache.put(clients[0], "key", "value")

        assert cache.get(clients[0], "key") == "value"
        assert cache.get(clients[1], "key") is None


def test_a_new_client_in_the_place_of_a_gone_one_finds_nothing() -> None:
    cache = AnswerCache()
    for _ in range(100):
        client = Client()
        place = id(client)
        cache.put(client, "key", "value")
        del client
        if id(new := Client()) == place:
            assert cache.get(new, "key") is None
            return
    pytest.skip("this interpreter gives no address twice")


def test_the_cache_does_not_keep_a_client_alive() -> None:
    cache, client = AnswerCache(), Client()
    cache.put(client, "key", "value")
    watched = weakref.ref(client)

    del client
    gc.collect()

    assert watched() is None


def test_what_a_client_fetched_can_be_forgotten_and_others_keep_theirs() -> None:
    cache, client, other = AnswerCache(), Client(), Client()
    cache.put(client, "key", "value")
    cache.put(other, "key", "value")

    cache.clear(client)

    assert cache.get(client, "key") is None
    assert cache.get(other, "key") == "value"
