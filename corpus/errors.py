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
    return escaped(text)


def escaped(text: str, *, kept: str = "") -> str:
    """Escape the non-printable characters of a text, which a terminal could obey.

    These are control characters, line breaks, characters that change the direction of writing,
    invisible ones, and all spaces but the usual one.

    Parameters
    ----------
    text : str
        Any text.
    kept : str
        Characters that are not escaped.
    """
    if text.isprintable():
        return text
    return "".join(
        character
        if character.isprintable() or character in kept
        else character.encode("unicode_escape").decode("ascii")
        for character in text
    )
