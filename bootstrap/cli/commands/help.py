"""``bootstrap help``: the documentation in the terminal."""

from __future__ import annotations

import argparse

from bootstrap.cli.arguments import Commands, add_command


def register(commands: Commands) -> None:
    """Add the command."""
    parser = add_command(commands, "help", main, "print a page of the documentation")
    parser.add_argument(
        "topic", nargs="?", metavar="TOPIC", help="name of the page (default: list all topics)"
    )


def main(options: argparse.Namespace) -> None:
    """Print the topics, or the page of one: formatted on a terminal, as Markdown elsewhere."""
    from bootstrap.cli.console import output
    from bootstrap.cli.topics import find_topics, read_topic, title_of

    if options.topic is None:
        for topic, page in find_topics().items():
            output.print(f"{topic:28}{title_of(page)}")
        return
    page_text = read_topic(options.topic)
    if output.is_terminal:
        from rich.markdown import Markdown

        output.print(Markdown(page_text))
    else:
        output.print(page_text)
