"""Running agents: the agent, its loop, the path of one call, hooks, limits, and the owner that opens and closes."""
