"""Ready tools for public services. Each family is a package of its own; `builtin_tools.http` is what they share."""
