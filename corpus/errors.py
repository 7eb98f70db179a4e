"""The errors that a user can mend, and how they name things."""


class InputError(Exception):
    """Something given to the program is not as it must be.

    The message is one line that says what was found, where (file, line, document id or
    offset, never the text of a note), what was expected and what to do. The command line prints
    it without a traceback and exits with 2.
    """


#: Characters of a name that are shown at its beginning and at its end, where it has more.
HEAD, TAIL = 200, 60


def shown(name: object) -> str:
    """Return a name (file, id, label) for a message of one line.

    What does not print is escaped, and the middle of a very long name is left out.
    """
    text = str(name)
    if len(text) > HEAD + TAIL:
        text = f"{text[:HEAD]}...{text[-TAIL:]}"
    if text.isprintable():
        return text
    return "".join(
        each if each.isprintable() else each.encode("unicode_escape").decode("ascii")
        for each in text
    )
