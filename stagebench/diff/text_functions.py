"""Where are the functions of a text, and which names are local to each?

Read from tokens, not from a tree: a diff must also work on text that no parser accepts.  A name
counts as local only where it is declared in a way that can't be anything else; a declaration that
is not recognised (a lambda's parameter, a structured binding) only means that its renaming is
shown.  Never local: members (after ``.``, ``->``, ``::``), fields of a struct, labels, macros, and
every name that a preprocessor directive mentions, or that is passed to a macro with ``#`` or
``##``.

Lines are indices into the sequence of lines that was given, words are the significant ones: blanks
and comments are left out before.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from stagebench.diff.text_tokens import Language

Words = tuple[str, ...]
Place = tuple[int, int]
"""A word: index of its line, index in the line."""


@dataclass(frozen=True)
class Parameter:
    """One parameter of a function: its name and the half-open range of its words."""

    name: str
    start: Place
    end: Place


@dataclass
class Function:
    """A function definition or a prototype: the half-open range of its lines, and its names."""

    name: str
    first: int
    last: int
    kernel: bool
    parameters: tuple[Parameter, ...] = ()
    local: set[str] = field(default_factory=set)


def find_functions(
    lines: Sequence[Words], directives: Sequence[bool], language: Language
) -> list[Function]:
    """The functions in order; where two share a line, it is the first one's."""
    if language == "tvmscript":
        return list(_script_functions(lines))
    reader = _CudaReader(lines, directives)
    found = reader.functions()
    spelled = reader.arguments_of(_spelling_macros(lines, directives))
    mentioned = spelled | {
        word
        for words, directive in zip(lines, directives, strict=True)
        if directive
        for word in words
    }
    for function in found:
        function.local -= mentioned
    return found


def _spelling_macros(lines: Sequence[Words], directives: Sequence[bool]) -> set[str]:
    """Macros that use ``#`` or ``##``, or name one that does: an argument's spelling counts."""
    bodies: dict[str, set[str]] = {}
    name = ""
    before = False
    for words, directive in zip(lines, directives, strict=True):
        if directive:
            said = [word for word in words if not word.isspace()]
            if said[:1] == ["#"]:
                name = said[2] if said[1:2] == ["define"] and len(said) > 2 else ""
                bodies.setdefault(name, set()).update(said[3:])
            elif before:
                bodies.setdefault(name, set()).update(said)
        before = directive
    bodies.pop("", None)
    found = {macro for macro, body in bodies.items() if not body.isdisjoint(("#", "##"))}
    size = -1
    while size < len(found):
        size = len(found)
        found |= {macro for macro, body in bodies.items() if not body.isdisjoint(found)}
    return found


_OPEN, _CLOSE = frozenset("([{"), frozenset(")]}")
_QUALIFIERS = frozenset((
    "const", "volatile", "static", "constexpr", "register", "__restrict__", "__restrict",
    "restrict", "inline", "extern", "__shared__", "__constant__", "__device__", "__global__",
    "__host__", "__forceinline__", "__noinline__", "__grid_constant__", "typename", "mutable",
    "thread_local"
))  # fmt: skip
_TYPE_WORDS = frozenset((
    "unsigned", "signed", "long", "short", "int", "char", "float", "double", "bool", "void",
    "auto", "wchar_t", "half"
))  # fmt: skip
_ATTRIBUTES = frozenset((
    "__align__", "alignas", "__attribute__", "__launch_bounds__", "__cluster_dims__",
    "__block_size__", "__maxnreg__", "__declspec"
))  # fmt: skip
_AGGREGATES = frozenset(("struct", "class", "union", "enum"))
_NOT_A_TYPE = frozenset((
    "return", "goto", "else", "case", "default", "do", "while", "for", "if", "switch", "break",
    "continue", "new", "delete", "throw", "using", "typedef", "sizeof", "asm", "__asm__",
    "namespace", "template", "operator", "friend", "public", "private", "protected",
    "static_assert", "co_return", "co_await", "co_yield", "this", "true", "false", "nullptr"
))  # fmt: skip
_AFTER_NAME = frozenset((";", "=", "[", ",", "(", "{", ":"))


class _CudaReader:
    """Reads one text; positions are into the flat sequence of its words."""

    def __init__(self, lines: Sequence[Words], directives: Sequence[bool]) -> None:
        self._words: list[str] = []
        self._places: list[Place] = []
        for number, (words, directive) in enumerate(zip(lines, directives, strict=True)):
            if not directive:
                self._words += words
                self._places += [(number, index) for index in range(len(words))]

    def functions(self) -> list[Function]:
        found: list[Function] = []
        words = self._words
        start = position = 0
        depth = 0
        count = len(words)
        while position < count:
            word = words[position]
            if word in "([":
                depth += 1
            elif word in ")]":
                depth = max(0, depth - 1)
            elif depth == 0 and word == ";":
                function = self._signature(start, position)
                if function is not None:
                    found.append(function)
                start = position + 1
            elif word == "{" and depth == 0:
                function = self._signature(start, position)
                if function is not None:
                    end = self._body(position, function)
                    found.append(function)
                    position = end
                elif not self._transparent(start, position):
                    position = self._matching(position)
                    continue
                start = position + 1
            elif word == "}":
                start = position + 1
            position += 1
        return found

    def arguments_of(self, macros: set[str]) -> set[str]:
        """Every name between the brackets of a use of one of these macros."""
        found: set[str] = set()
        if macros:
            for position, word in enumerate(self._words[:-1]):
                if word in macros and self._words[position + 1] == "(":
                    found.update(self._words[position + 1 : self._matching(position + 1)])
        return found

    def _transparent(self, start: int, brace: int) -> bool:
        """Are the braces those of a namespace or of ``extern "C"``?"""
        head = self._words[start:brace]
        return head[:1] == ["namespace"] or (
            head[:1] == ["extern"] and len(head) == 2 and head[1].startswith('"')
        )

    def _matching(self, position: int) -> int:
        """The position after the bracket that closes the one at ``position``."""
        depth = 0
        for index in range(position, len(self._words)):
            word = self._words[index]
            if word in _OPEN:
                depth += 1
            elif word in _CLOSE:
                depth -= 1
                if depth == 0:
                    return index + 1
        return len(self._words)

    def _signature(self, start: int, end: int) -> Function | None:
        words = self._words
        position = start
        while position < end:
            word = words[position]
            if word in _ATTRIBUTES and position + 1 < end and words[position + 1] == "(":
                position = self._matching(position + 1)
                continue
            if word == "=" or word in _AGGREGATES or word in _NOT_A_TYPE - {"template"}:
                return None
            if word == "(":
                if position == start or not _is_name(words[position - 1]) or position - start < 2:
                    return None
                close = self._matching(position)
                if close > end:
                    return None
                parameters = tuple(self._parameters(position + 1, close - 1))
                function = Function(
                    name=words[position - 1],
                    first=self._places[start][0],
                    last=self._places[min(end, len(words) - 1)][0] + 1,
                    kernel="__global__" in words[start:position],
                    parameters=parameters,
                )
                function.local = {parameter.name for parameter in parameters}
                return function
            position += 1
        return None

    def _parameters(self, start: int, end: int) -> Iterator[Parameter]:
        depth = 0
        first = start
        for position in range(start, end + 1):
            word = self._words[position]
            if position == end or (word == "," and depth == 0):
                name = self._parameter_name(first, position)
                if name is not None:
                    last = self._places[position - 1]
                    yield Parameter(name, self._places[first], (last[0], last[1] + 1))
                first = position + 1
            elif word in _OPEN or word == "<":
                depth += 1
            elif word in _CLOSE or word == ">":
                depth -= 1
            elif word == ">>":
                depth -= 2

    def _parameter_name(self, start: int, end: int) -> str | None:
        name = None
        for position in range(start, end):
            word = self._words[position]
            if word in ("=", "["):
                break
            if word == "(":  # a function pointer or an attribute: not worth guessing
                return None
            if _is_name(word) and position > start:
                name = word if self._words[position - 1] != "::" else None
        return name if name not in _TYPE_WORDS and name not in _QUALIFIERS else None

    def _body(self, brace: int, function: Function) -> int:
        """Read declarations up to the brace that closes the body; returns its position."""
        words = self._words
        count = len(words)
        depth = 0
        position = brace
        starts = True
        while position < count:
            word = words[position]
            if word == "{":
                depth += 1
                starts = True
            elif word == "}":
                depth -= 1
                if depth == 0:
                    break
                starts = True
            elif word == ";" or (
                word == "(" and words[position - 1] in ("for", "if", "switch", "while")
            ):
                starts = True
            elif starts:
                starts = False
                if word in _AGGREGATES:
                    position = self._skip_aggregate(position)
                    continue
                function.local.update(self._declared(position))
            position += 1
        function.last = self._places[min(position, count - 1)][0] + 1
        return position

    def _skip_aggregate(self, position: int) -> int:
        """Step over a type that is defined here: its fields are no locals."""
        for index in range(position, min(position + 8, len(self._words))):
            word = self._words[index]
            if word == "{":
                return self._matching(index)
            if word in (";", "=", "("):
                break
        return position + 1

    def _declared(self, position: int) -> Iterator[str]:
        words = self._words
        typed = False
        while position + 1 < len(words):
            word = words[position]
            if word in _QUALIFIERS:
                position += 1
            elif word in _TYPE_WORDS:
                typed = True
                position += 1
            elif word in _ATTRIBUTES and words[position + 1] == "(":
                position = self._matching(position + 1)
            elif word in _NOT_A_TYPE:
                return
            elif _is_name(word):
                if typed:
                    if words[position + 1] in _AFTER_NAME:
                        yield word
                        yield from self._more_declared(position + 1)
                    return
                typed = True
                position = self._after_type(position)
            elif word in ("*", "&", "&&") and typed:
                position += 1
            else:
                return

    def _after_type(self, position: int) -> int:
        """The position after ``a::b<c, d>::e``."""
        words = self._words
        count = len(words)
        position += 1
        while position + 1 < count:
            if words[position] == "::" and _is_name(words[position + 1]):
                position += 2
            elif words[position] == "<":
                depth = 0
                for index in range(position, count):
                    word = words[index]
                    depth += (word == "<") - (word == ">") - 2 * (word == ">>")
                    if depth <= 0:
                        position = index + 1
                        break
                    if word in ";{}":
                        return position
                else:
                    return count
            else:
                break
        return position

    def _more_declared(self, position: int) -> Iterator[str]:
        """The names after the first in ``int a = f(x, y), *b, c[4];``."""
        words = self._words
        depth = 0
        for index in range(position, len(words) - 1):
            word = words[index]
            if word in _OPEN:
                depth += 1
            elif word in _CLOSE:
                depth -= 1
                if depth < 0:
                    return
            elif depth == 0 and word in (";", ":"):
                return
            elif depth == 0 and word == ",":
                after = index + 1
                while words[after] in ("*", "&") or words[after] in _QUALIFIERS:
                    after += 1
                if not _is_name(words[after]) or words[after + 1] not in _AFTER_NAME:
                    return
                yield words[after]


def _is_name(word: str) -> bool:
    return word[0].isalpha() or word[0] == "_"


def _script_functions(lines: Sequence[Words]) -> Iterator[Function]:
    """Functions of TVMScript: the first word of a line is its indentation (maybe empty)."""
    current: Function | None = None
    indent = 0
    depth = 0
    for number, words in enumerate(lines):
        if len(words) < 2:
            continue
        if depth == 0:
            if current is not None and len(words[0]) <= indent:
                current.last = number
                yield current
                current = None
            if words[1] == "def" and current is None and len(words) > 3:
                indent = len(words[0])
                current = Function(words[2], number, len(lines), kernel=False)
                current.local.update(_script_parameters(words))
            elif current is not None:
                current.local.update(_script_names(words[1:]))
        depth = max(0, depth + sum((word in _OPEN) - (word in _CLOSE) for word in words))
    if current is not None:
        yield current


def _script_parameters(words: Words) -> Iterator[str]:
    depth = 0
    for index in range(3, len(words)):
        word = words[index]
        if word in _OPEN:
            depth += 1
        elif word in _CLOSE:
            depth -= 1
        elif depth == 1 and words[index - 1] in ("(", ",") and _is_name(word):
            yield word


_SCRIPT_KEYWORDS = frozenset((
    "if", "elif", "else", "for", "while", "with", "return", "assert", "def", "class", "pass",
    "break", "continue", "import", "from", "in", "not", "and", "or", "is", "None", "True",
    "False", "lambda", "as", "T", "R", "I"
))  # fmt: skip


def _script_names(words: Words) -> Iterator[str]:
    first = words[0]
    if first == "for" and "in" in words:
        names = words[1 : words.index("in")]
    elif first == "with" and "as" in words:
        names = words[words.index("as") + 1 :]
    elif _is_name(first) and len(words) > 1 and words[1] in ("=", ":"):
        names = (first,)
    else:
        return
    for name in names:
        if _is_name(name) and name not in _SCRIPT_KEYWORDS:
            yield name
