"""The errors that a user can mend."""


class InputError(Exception):
    """Something given to the program is not as it must be.

    The message is one line that says what was found, where (file, line, document id or
    offset, never the text of a note), what was expected and what to do. The command line prints
    it without a traceback and exits with 2.
    """
