# SPDX-License-Identifier: Apache-2.0
"""Reads as much Swift as the layer check needs: where code, strings and comments are, what a file imports,
and which targets Package.swift declares. No compiler, no package resolution: a second is the whole budget."""

import bisect
import re
from dataclasses import dataclass, field


# Text -> code, strings, comments


class Source:
    """One file, split into three texts of the same length and the same lines: what is not of the kind is blank."""

    def __init__(self, path, text):
        self.path = path
        self.text = text
        strings, comments = _spans(text)
        self.code = _blank(text, strings + comments)
        self.without_comments = _blank(text, comments)
        self.strings = _only(text, strings)
        self.comments = _only(text, comments)
        self._breaks = [match.start() for match in re.finditer("\n", text)]

    def line(self, offset):
        """The number, from 1, of the line that holds the offset."""
        return bisect.bisect_left(self._breaks, offset) + 1

    def line_count(self):
        return len(self._breaks) + (0 if self.text.endswith("\n") or not self.text else 1)


_OPENING = re.compile(r'//[^\n]*|/\*|(#*)("""|")')
_OPENING_OR_PARENTHESIS = re.compile(r'//[^\n]*|/\*|(#*)("""|")|[()]')
_COMMENT_EDGE = re.compile(r"/\*|\*/")


def _spans(text):
    """The spans of string literals and of comments. Code inside `\\(…)` belongs to neither."""
    strings, comments = [], []

    def code(at, inside_interpolation):
        pattern = _OPENING_OR_PARENTHESIS if inside_interpolation else _OPENING
        depth = 1
        while match := pattern.search(text, at):
            token = match.group()
            if token == "(":
                depth, at = depth + 1, match.end()
            elif token == ")":
                depth, at = depth - 1, match.end()
                if depth == 0:
                    return at
            elif token.startswith("//"):
                comments.append(match.span())
                at = match.end()
            elif token == "/*":
                at = block_comment(match.start())
            else:
                at = string(match.start(), match.end(), match.group(1), match.group(2))
        return len(text)

    def block_comment(start):
        depth, at = 0, start
        while match := _COMMENT_EDGE.search(text, at):
            depth, at = depth + (1 if match.group() == "/*" else -1), match.end()
            if depth == 0:
                comments.append((start, at))
                return at
        comments.append((start, len(text)))
        return len(text)

    def string(start, at, hashes, quotes):
        edge = re.compile(rf"{re.escape(quotes + hashes)}|\\{hashes}(.)|\n" if quotes == '"' else
                          rf"{re.escape(quotes + hashes)}|\\{hashes}(.)", re.DOTALL)
        while match := edge.search(text, at):
            at = match.end()
            if match.group(1) == "(":
                strings.append((start, at))
                start = at = code(at, inside_interpolation=True)
            elif match.group(1) is None:
                if match.group() == "\n":
                    at -= 1  # a single-line literal ends with its line, also where it was not a literal at all
                break
        else:
            at = len(text)
        strings.append((start, at))
        return at

    code(0, inside_interpolation=False)
    return strings, comments


def _blank(text, spans):
    pieces, at = [], 0
    for start, end in sorted(spans):
        pieces += [text[at:start], re.sub(r"[^\n]", " ", text[start:end])]
        at = end
    return "".join(pieces) + text[at:]


def _only(text, spans):
    pieces, at = [], 0
    for start, end in sorted(spans):
        pieces += [re.sub(r"[^\n]", " ", text[at:start]), text[start:end]]
        at = end
    return "".join(pieces) + re.sub(r"[^\n]", " ", text[at:])


# Imports


@dataclass(frozen=True)
class Import:
    module: str
    line: int
    conditions: tuple  # the `#if` branches around it, outermost first, an `#else` as "not (…)"


_IMPORT = re.compile(
    r"(?:^|;)[ \t]*(?:(?:@\w+(?:\([^)\n]*\))?|public|package|internal|fileprivate|private|open)\s+)*"
    r"import[ \t]+(?:(?:typealias|struct|class|enum|protocol|actor|let|var|func|macro)[ \t]+)?`?([A-Za-z_]\w*)",
    re.MULTILINE)
_CONDITION = re.compile(r"^[ \t]*#(if|elseif|else|endif)\b[ \t]*(.*)$", re.MULTILINE)


def imports(source):
    """Every import of the file, whatever its modifiers."""
    found = []
    for match in _IMPORT.finditer(source.code):
        at = match.start(1)
        found.append(Import(match.group(1), source.line(at), _conditions(source.code, at)))
    return found


def _conditions(code, offset):
    branches = []
    for match in _CONDITION.finditer(code, 0, offset):
        word, condition = match.group(1), match.group(2).strip()
        if word == "if":
            branches.append([condition])
        elif word == "endif":
            branches and branches.pop()
        elif branches:
            branches[-1].append(condition if word == "elseif" else "")
    return tuple(" and ".join([f"not ({earlier})" for earlier in branch[:-1]] + [branch[-1]]).removesuffix(" and ")
                 for branch in branches)


# Package.swift


@dataclass
class Target:
    name: str
    kind: str  # target, executableTarget, testTarget, systemLibrary, …
    path: str
    line: int
    dependencies: list = field(default_factory=list)


class ManifestError(Exception):
    """A shape that this reader does not know. It never guesses."""

    def __init__(self, line, message):
        super().__init__(message)
        self.line = line


_TARGET = re.compile(r"\.(target|executableTarget|testTarget|systemLibrary|macro|plugin|binaryTarget)\s*\(")
_CONSTANT = re.compile(r"\blet\s+(\w+)\s*:\s*\[\s*(?:PackageDescription\s*\.\s*)?Target\s*\.\s*Dependency\s*\]\s*=\s*")


def targets(manifest):
    """The targets that a manifest declares as literal calls, in its order.

    Understood: `.target(name: "…", dependencies: […], path: "…", …)` and its siblings, with string literals;
    dependencies as an array literal, a `let name: [Target.Dependency] = […]` of the manifest, or a sum of these;
    an element as "Name", `.target(name:)`, `.product(name:package:)` or `.byName(name:)`, with or without condition.
    """
    code = manifest.code
    constants, taken = {}, []
    for match in _CONSTANT.finditer(code):
        end = _expression_end(code, match.end())
        constants[match.group(1)] = (match.end(), end)
        taken.append((match.end(), end))
    found = []
    for match in _TARGET.finditer(code):
        if any(start <= match.start() < end for start, end in taken):
            continue
        end = _matching(manifest, match.end() - 1)
        taken.append((match.start(), end))
        arguments = _arguments(code, match.end(), end - 1)
        line = manifest.line(match.start())
        name = _literal(manifest, arguments.get("name"), line, "name")
        if name is None:
            raise ManifestError(line, "a target without a name")
        default = ("Tests/" if match.group(1) == "testTarget" else "Sources/") + name
        path = _literal(manifest, arguments.get("path"), line, "path") or default
        dependencies = _names(manifest, arguments.get("dependencies"), constants)
        found.append(Target(name, match.group(1), path.strip("/"), line, dependencies))
    return found


def _matching(manifest, opening):
    """The offset after the bracket that closes the one at `opening`."""
    depth = 0
    for match in re.compile(r"[()\[\]{}]").finditer(manifest.code, opening):
        depth += 1 if match.group() in "([{" else -1
        if depth == 0:
            return match.end()
    raise ManifestError(manifest.line(opening), "a bracket that is never closed")


def _split(code, start, end, separator):
    """The parts of a span between separators that stand outside all brackets."""
    parts, depth, begin = [], 0, start
    for match in re.compile(r"[()\[\]{}]|" + re.escape(separator)).finditer(code, start, end):
        token = match.group()
        if token == separator and depth == 0:
            parts.append((begin, match.start()))
            begin = match.end()
        elif token != separator:
            depth += 1 if token in "([{" else -1
    return parts + [(begin, end)]


def _arguments(code, start, end):
    """Label -> span of the value; unlabelled arguments are left out."""
    found = {}
    for begin, stop in _split(code, start, end, ","):
        if label := re.match(r"\s*(\w+)\s*:", code[begin:stop]):
            found[label.group(1)] = (begin + label.end(), stop)
    return found


def _literal(manifest, span, line, label):
    if span is None:
        return None
    text = manifest.without_comments[span[0]:span[1]].strip()
    if match := re.fullmatch(r'"([^"\\]*)"', text):
        return match.group(1)
    raise ManifestError(line, f"`{label}: {text}` is not a plain string literal")


def _expression_end(code, start):
    """The end of a sum of array literals and names that begins at `start`."""
    at, depth = start, 0
    for match in re.compile(r"[()\[\]{}]|\n").finditer(code, start):
        at = match.start()
        if match.group() == "\n":
            joined = code[start:at].rstrip().endswith(("+", "=")) or code[at:].lstrip().startswith("+")
            if depth == 0 and code[start:at].strip() and not joined:
                return at
        else:
            depth += 1 if match.group() in "([{" else -1
    return len(code)


def _names(manifest, span, constants, seen=()):
    if span is None:
        return []
    names = []
    for start, end in _split(manifest.code, *span, "+"):
        term = manifest.code[start:end].strip()
        line = _first_line(manifest, start, end)
        if term in constants and term not in seen:
            names += _names(manifest, constants[term], constants, (*seen, term))
        elif term.startswith("[") and term.endswith("]"):
            inner = (manifest.code.index("[", start) + 1, manifest.code.rindex("]", start, end))
            names += [_element(manifest, *part) for part in _split(manifest.code, *inner, ",")
                      if manifest.without_comments[part[0]:part[1]].strip()]
        else:
            raise ManifestError(line, f"`dependencies: {term}` is neither an array literal nor a "
                                      "`let …: [Target.Dependency]` of this manifest")
    return names


def _first_line(manifest, start, end):
    text = manifest.without_comments[start:end]
    return manifest.line(start + len(text) - len(text.lstrip()))


def _element(manifest, start, end):
    text = manifest.without_comments[start:end].strip()
    line = _first_line(manifest, start, end)
    if match := re.fullmatch(r'"([^"\\]*)"', text):
        return match.group(1)
    if match := re.match(r"(?:Target\.Dependency)?\.(target|product|byName)\s*\(", text):
        opening = manifest.code.index("(", start)
        name = _literal(manifest, _arguments(manifest.code, opening + 1, _matching(manifest, opening) - 1).get("name"),
                        line, "name")
        if name is not None:
            return name
    raise ManifestError(line, f"the dependency `{text}` is not a literal")
