"""Which IP addresses are public: the ones that a page may be read from."""

from __future__ import annotations

from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_network
from typing import TypeAlias

__all__ = ["IPAddress", "refusal_of"]

IPAddress: TypeAlias = "IPv4Address | IPv6Address"
_Table: TypeAlias = "tuple[tuple[IPv4Network | IPv6Network, str], ...]"


def _table(*rows: tuple[str, str]) -> _Table:
    return tuple((ip_network(network), reason) for network, reason in rows)


# From the IANA special-purpose address registries (2026), and what clouds say of their metadata services. Not
# `is_global` alone: it knows nothing of metadata, takes multicast and 6to4 for global, and the tables behind it were
# wrong until Python 3.11.10 and 3.12.4.

_METADATA = "an address where clouds keep their metadata"
_TRANSITION = "an IPv4 address inside an IPv6 address"

_NEVER = _table(
    ("169.254.0.0/16", "a link-local address, where clouds keep their metadata"),
    ("168.63.129.16/32", _METADATA),  # Azure
    ("100.100.100.200/32", _METADATA),  # Alibaba
    ("192.0.0.192/32", _METADATA),  # Oracle
    ("fd00:ec2::/32", _METADATA),  # AWS
    ("fd20:ce::/32", _METADATA),  # Google
    ("fd00:42::42/128", _METADATA),  # Scaleway
    ("0.0.0.0/8", "an address that stands for no host"),
    ("::/128", "an address that stands for no host"),
    ("224.0.0.0/4", "a multicast address"),
    ("ff00::/8", "a multicast address"),
    ("240.0.0.0/4", "a reserved or broadcast address"),
    ("fe80::/10", "a link-local address"),
    ("fec0::/10", "a site-local address"),
)

_TRANSITIONS = _table(
    ("::ffff:0:0/96", _TRANSITION),  # mapped
    ("::ffff:0:0:0/96", _TRANSITION),  # translated (SIIT)
    ("::/96", _TRANSITION),  # compatible
    ("2002::/16", _TRANSITION),  # 6to4
    ("2001::/32", _TRANSITION),  # Teredo
    ("64:ff9b::/96", _TRANSITION),  # NAT64
    ("64:ff9b:1::/48", _TRANSITION),  # NAT64, local
)

_PRIVATE = _table(
    ("127.0.0.0/8", "a loopback address"),
    ("::1/128", "a loopback address"),
    ("10.0.0.0/8", "a private address"),
    ("172.16.0.0/12", "a private address"),
    ("192.168.0.0/16", "a private address"),
    ("fc00::/7", "a private address"),
    ("100.64.0.0/10", "an address of a carrier's or a cloud's inner network"),
    ("192.0.0.0/24", "an address of a protocol"),
    ("192.88.99.0/24", "an address of a protocol"),
    ("2001::/23", "an address of a protocol"),
    ("198.18.0.0/15", "an address for measurements"),
    ("192.0.2.0/24", "an address for documentation"),
    ("198.51.100.0/24", "an address for documentation"),
    ("203.0.113.0/24", "an address for documentation"),
    ("2001:db8::/32", "an address for documentation"),
    ("3fff::/20", "an address for documentation"),
)

_UNICAST = IPv6Network("2000::/3")
_NAT64 = IPv6Network("64:ff9b::/96")
_ISATAP = (0x0000_5EFE, 0x0200_5EFE)


def refusal_of(address: IPAddress, *, allow_private: bool = False, is_answer: bool = False) -> str | None:
    """Why no page may be read from the address, as a noun such as `"a private address"`; None when one may.

    Args:
        allow_private: Lets loopback, private and other local addresses in; never link-local ones, metadata, multicast.
        is_answer: The address is a resolver's answer. In networks with IPv6 only, resolvers put the IPv4 address of a
            public host behind `64:ff9b::/96` (DNS64, RFC 6147); then that IPv4 address is what is judged.
    """
    if isinstance(address, IPv6Address):
        if is_answer and address in _NAT64:
            return refusal_of(IPv4Address(int(address) & 0xFFFF_FFFF), allow_private=allow_private)
        if address.scope_id is not None:
            return "an address with a zone"
        if address != IPv6Address(1) and address != IPv6Address(0):
            found = _found(address, _TRANSITIONS)
            if found or (int(address) >> 32) & 0xFFFF_FFFF in _ISATAP:
                return found or _TRANSITION
    never = _found(address, _NEVER)
    if never or allow_private:
        return never
    if isinstance(address, IPv6Address) and address not in _UNICAST:
        return _found(address, _PRIVATE) or "an address outside of the public range"
    return _found(address, _PRIVATE) or (None if address.is_global else "a special address")


def _found(address: IPAddress, table: _Table) -> str | None:
    return next((reason for network, reason in table if address in network), None)
