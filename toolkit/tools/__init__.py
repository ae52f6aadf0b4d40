"""Tools: the protocol, the base class, functions as tools, their schemas, validation and results."""
