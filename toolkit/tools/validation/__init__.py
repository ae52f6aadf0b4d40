"""JSON Schemas, compiled once when a tool is listed, and what a value that breaks one is told.

`jsonschema-rs` decides whether a value is valid: it is fast, and right about patterns and decimals where `jsonschema`
errs. `jsonschema` words the violations, since its texts are the better ones. Neither is imported before it is needed.
"""

from __future__ import annotations

from toolkit.tools.validation.compiling import Engine, Validator, compile_schema

__all__ = ["Engine", "Validator", "compile_schema"]
