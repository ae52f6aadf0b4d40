"""Linear: the service client, the writer over it, and the eight tools."""

from builtin_tools.linear.api import pace_of_requests, pace_of_searches
from builtin_tools.linear.changes import IssueUpdate, NewIssue
from builtin_tools.linear.client import IssueFilter, LinearClient, cache_of_names
from builtin_tools.linear.results import (
    Attachment,
    Comment,
    CommentAdded,
    Entry,
    Issue,
    IssueChange,
    IssueDeleted,
    IssueDetail,
    IssueList,
    LinkedIssue,
    Listing,
)
from builtin_tools.linear.settings import LinearSettings
from builtin_tools.linear.tools import LinearGetIssue, LinearList, LinearListIssues, LinearSearchIssues
from builtin_tools.linear.write_tools import LinearAddComment, LinearCreateIssue, LinearDeleteIssue, LinearUpdateIssue
from builtin_tools.linear.writer import LinearWriter, memory_of_writes

__all__ = [
    "Attachment",
    "Comment",
    "CommentAdded",
    "Entry",
    "Issue",
    "IssueChange",
    "IssueDeleted",
    "IssueDetail",
    "IssueFilter",
    "IssueList",
    "IssueUpdate",
    "LinearAddComment",
    "LinearClient",
    "LinearCreateIssue",
    "LinearDeleteIssue",
    "LinearGetIssue",
    "LinearList",
    "LinearListIssues",
    "LinearSearchIssues",
    "LinearSettings",
    "LinearUpdateIssue",
    "LinearWriter",
    "LinkedIssue",
    "Listing",
    "NewIssue",
    "cache_of_names",
    "memory_of_writes",
    "pace_of_requests",
    "pace_of_searches",
]
