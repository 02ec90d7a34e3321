"""The workloads that the command line offers: each adds its options to the parser and makes a stream of them."""

import argparse
from collections.abc import Callable
from dataclasses import dataclass

from radixflow.collector.workloads import shared_documents
from radixflow.collector.workloads.offered_request import Stream

_DEFAULT = shared_documents.SharedDocuments()


@dataclass(frozen=True, slots=True)
class Workload:
    """One kind of traffic."""

    name: str
    """Name on the command line."""
    description: str
    """What it offers, in one sentence."""
    make_stream: Callable[[argparse.Namespace], Stream]
    """Makes the stream that the parsed options ask for."""


def add_workload_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options that describe a stream."""
    group = parser.add_argument_group("workload", "The same stream is offered to every policy.")
    add = group.add_argument
    add("--workload", choices=sorted(WORKLOADS), default=shared_documents.NAME, help="kind of traffic (%(default)s)")
    add("--num-groups", type=int, default=_DEFAULT.num_groups, metavar="N", help="questions (%(default)s)")
    add("--branches", type=int, default=_DEFAULT.num_branches, metavar="N",
        help="candidate answers a question, each one request (%(default)s)")  # fmt: skip
    add("--rate", type=float, default=_DEFAULT.rate, metavar="PER_SECOND",
        help="mean Poisson arrivals of questions a second; 0 or inf offers all at once (%(default)s)")  # fmt: skip
    add("--regime", choices=shared_documents.REGIMES, default=_DEFAULT.regime,
        help="questions on one document: 1 (cold), 1 to 4 (mixed) or 4 (reuse) (%(default)s)")  # fmt: skip
    add("--input-order", choices=shared_documents.INPUT_ORDERS, default=_DEFAULT.input_order,
        help="questions on one document spread over the stream or in a row (%(default)s)")  # fmt: skip
    add("--seed", type=int, default=_DEFAULT.seed, help="seed of the stream (%(default)s)")
    add("--max-output-tokens", type=int, default=_DEFAULT.max_output_tokens, metavar="N",
        help="output tokens a request, always all of them (%(default)s)")  # fmt: skip
    add("--long-fraction", type=float, default=_DEFAULT.long_fraction, metavar="SHARE",
        help="share of long documents (%(default)s)")  # fmt: skip
    add("--short-document-tokens", type=int, default=_DEFAULT.short_document_tokens, metavar="N",
        help="median length of a short document (%(default)s)")  # fmt: skip
    add("--long-document-tokens", type=int, default=_DEFAULT.long_document_tokens, metavar="N",
        help="median length of a long document (%(default)s)")  # fmt: skip
    add("--longest-document-tokens", type=int, default=_DEFAULT.longest_document_tokens, metavar="N",
        help="no document is longer (%(default)s)")  # fmt: skip
    add("--vocabulary-size", type=int, default=_DEFAULT.vocabulary_size, metavar="N",
        help="token ids are drawn below this number (%(default)s)")  # fmt: skip


def make_stream(arguments: argparse.Namespace) -> Stream:
    """Make the stream that the parsed options ask for.

    Raises:
        RadixflowError: an option that no stream can have.
    """
    return WORKLOADS[arguments.workload].make_stream(arguments)


def _shared_documents(arguments: argparse.Namespace) -> Stream:
    return shared_documents.generate(
        shared_documents.SharedDocuments(
            num_groups=arguments.num_groups, num_branches=arguments.branches, regime=arguments.regime,
            input_order=arguments.input_order, rate=arguments.rate, seed=arguments.seed,
            max_output_tokens=arguments.max_output_tokens, long_fraction=arguments.long_fraction,
            short_document_tokens=arguments.short_document_tokens,
            long_document_tokens=arguments.long_document_tokens,
            longest_document_tokens=arguments.longest_document_tokens, vocabulary_size=arguments.vocabulary_size,
        )
    )  # fmt: skip


WORKLOADS = {
    workload.name: workload
    for workload in [
        Workload(
            shared_documents.NAME,
            "Questions on shared documents, several candidate answers each, long and short documents mixed.",
            _shared_documents,
        ),
    ]
}
"""Workloads by name."""
