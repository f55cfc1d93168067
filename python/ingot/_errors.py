"""What goes wrong, as exceptions."""

# INGOT_ERROR_... of ingot.h, by their numbers.
KINDS = ("ok null alignment workspace count index abi threads type memory file content size shape absent hash target device piece image string tiles").split()
VALUES = {"count", "shape"}


class Error(Exception):
    """Everything that ingot raises by itself; wrong types of arguments are TypeError, wrong shapes ValueError as well."""


class CompileError(Error):
    """A model that cannot be compiled, or wrong flags.

    `messages` has what the compiler said, each with the file and the node that it is about; `exit_code` is 1, or 2 for a bug in the compiler."""

    def __init__(self, messages: str, exit_code: int = 1):
        super().__init__(messages)
        self.messages, self.exit_code = messages.splitlines(), exit_code


class RunError(Error):
    """A run that failed. `kind` is a word of ingot.h ("index", "memory"), `number` that of the tensor or node that the message names, or -1."""

    def __init__(self, message: str, kind: str = "", number: int = -1):
        super().__init__(message)
        self.kind, self.number = kind, number


class ShapeError(RunError, ValueError):
    """Arrays whose shapes are not the model's, or contradict each other."""


def make_run_error(message, kind, number):
    """The exception for a status of a run."""
    word = KINDS[kind] if kind < len(KINDS) else str(kind)
    return MemoryError(message) if word == "memory" else (ShapeError if word in VALUES else RunError)(message, word, number)
