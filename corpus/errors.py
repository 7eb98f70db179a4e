"""Errors that the user can correct, and the format of names in messages."""


class InputError(Exception):
    """An error in the input of the program: a file, an option or an argument.

    The message is one line that states what was found, where (file, line, document id or
    offset, never the text of a note), what was expected and how to correct it. The command line
    prints it without a traceback and exits with status 2.
    """


#: The number of characters kept at the beginning and at the end of a longer name.
HEAD, TAIL = 200, 60


def shown(name: object) -> str:
    """Format a name (file, id, label) for a one-line message.

    Non-printable characters are escaped, and the middle of a very long name is omitted.
    """
    text = str(name)
    if len(text) > HEAD + TAIL:
        text = f"{text[:HEAD]}...{text[-TAIL:]}"
    if text.isprintable():
        return text
    return "".join(
        character if character.isprintable() else character.encode("unicode_escape").decode("ascii")
        for character in text
    )
