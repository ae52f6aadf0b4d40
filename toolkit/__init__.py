"""Toolwire: agents whose tools are built by the application's own dependency-injection container.

The public names. `toolkit.injection` has what knows a container, `toolkit.hooks` the decisions of guards,
`toolkit.models`, `toolkit.messages`, `toolkit.events` and `toolkit.testing` what their names say. A name is
loaded when it is first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from toolkit.exports import attributes_of

if TYPE_CHECKING:
    from toolkit.context import Invocation, RunContext
    from toolkit.errors import (
        CleanupError,
        ConfigurationError,
        DeadlineExceeded,
        HookError,
        LimitExceeded,
        ModelError,
        OutputError,
        RunAborted,
        RunError,
        ToolError,
        ToolkitError,
    )
    from toolkit.messages import ToolCall, ToolDefinition, Usage
    from toolkit.records import CallRecord, Run, ToolResult
    from toolkit.runs.agent import Agent
    from toolkit.runs.limits import Limits
    from toolkit.tools.classes import Tool
    from toolkit.tools.execution import execute
    from toolkit.tools.functions import FunctionTool, tool
    from toolkit.tools.inject import Inject
    from toolkit.tools.kept_specifications import definition
    from toolkit.tools.protocol import ITool
else:
    __getattr__, __dir__ = attributes_of(
        __name__,
        {
            "toolkit.context": "Invocation RunContext",
            "toolkit.errors": (
                "CleanupError ConfigurationError DeadlineExceeded HookError LimitExceeded ModelError "
                "OutputError RunAborted RunError ToolError ToolkitError"
            ),
            "toolkit.messages": "ToolCall ToolDefinition Usage",
            "toolkit.records": "CallRecord Run ToolResult",
            "toolkit.runs.agent": "Agent",
            "toolkit.runs.limits": "Limits",
            "toolkit.tools.classes": "Tool",
            "toolkit.tools.execution": "execute",
            "toolkit.tools.functions": "FunctionTool tool",
            "toolkit.tools.inject": "Inject",
            "toolkit.tools.kept_specifications": "definition",
            "toolkit.tools.protocol": "ITool",
        },
    )

__all__ = [
    "Agent",
    "CallRecord",
    "CleanupError",
    "ConfigurationError",
    "DeadlineExceeded",
    "FunctionTool",
    "HookError",
    "ITool",
    "Inject",
    "Invocation",
    "LimitExceeded",
    "Limits",
    "ModelError",
    "OutputError",
    "Run",
    "RunAborted",
    "RunContext",
    "RunError",
    "Tool",
    "ToolCall",
    "ToolDefinition",
    "ToolError",
    "ToolResult",
    "ToolkitError",
    "Usage",
    "definition",
    "execute",
    "tool",
]
