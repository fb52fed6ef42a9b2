# SPDX-License-Identifier: Apache-2.0
"""Generates a Markdown page for each public C header, for the documentation site."""

import dataclasses
import pathlib
import re
import subprocess
import textwrap

from clang import cindex

from maeslant import paths

INCLUDE = paths.ROOT / "driver" / "include"
HEADERS = (
    "maeslant.h",
    "maeslant_pool.h",
    "maeslant_records.h",
    "maeslant_peripheral.h",
    "maeslant_ring.h",
    "maeslant_protected.h",
)
SECTION = re.compile(r"/\* ---- (.*?) -+ \*/")
KINDS = {
    cindex.CursorKind.FUNCTION_DECL,
    cindex.CursorKind.STRUCT_DECL,
    cindex.CursorKind.UNION_DECL,
    cindex.CursorKind.ENUM_DECL,
    cindex.CursorKind.TYPEDEF_DECL,
}


@dataclasses.dataclass
class Entry:
    """Holds C declarations that share one comment in a header."""

    names: list[str]
    comment: str
    first: int  # lines of the source
    last: int


def prose(comment: str) -> str:
    """Returns the text of a C comment as Markdown."""
    lines = comment.strip().removeprefix("/*").removesuffix("*/").splitlines()
    lines = [re.sub(r"^\s*\*? ?", "", line, count=1).rstrip() for line in lines]
    text = "\n".join(lines).strip("\n")
    parts = [part for part in re.split(r"\n\s*\n", text) if "SPDX-License" not in part]
    shown = []
    for part in parts:
        indented = any(line.startswith(("  ", "- ")) for line in part.splitlines())
        if indented:
            shown.append(f"```text\n{textwrap.dedent(part)}\n```")
        else:
            shown.append(re.sub(r"([<*_])", r"\\\1", part))
    return "\n\n".join(shown)


def system_include() -> str:
    """Returns the folder of the C compiler's own headers, which libclang lacks."""
    return subprocess.run(
        ["gcc", "-print-file-name=include"], capture_output=True, text=True, check=True
    ).stdout.strip()


def entries(header: pathlib.Path) -> list[Entry]:
    """Returns the declarations of a C header with their comments, parsed by libclang."""
    options = cindex.TranslationUnit.PARSE_SKIP_FUNCTION_BODIES
    arguments = ["-x", "c", "-std=c11", "-fparse-all-comments", f"-I{INCLUDE}"]
    arguments += ["-isystem", system_include()]
    unit = cindex.Index.create().parse(str(header), arguments, options=options)
    errors = [d.spelling for d in unit.diagnostics if d.severity >= cindex.Diagnostic.Error]
    if errors:
        raise SystemExit(f"{header.name}: {'; '.join(errors)}")
    source = header.read_text().splitlines()
    found: list[Entry] = []
    for cursor in unit.cursor.get_children():
        here = cursor.location.file and pathlib.Path(cursor.location.file.name) == header
        if not here or cursor.kind not in KINDS or not cursor.spelling:
            continue
        first, last = cursor.extent.start.line, cursor.extent.end.line
        near = found and not any(not line.strip() for line in source[found[-1].last : first - 1])
        inside = found and first <= found[-1].last
        comment = cursor.raw_comment or ""
        if SECTION.match(comment):
            comment = ""
        if inside or (near and not comment):
            found[-1].last = max(last, found[-1].last)
            if cursor.spelling not in found[-1].names:
                found[-1].names.append(cursor.spelling)
        else:
            found.append(Entry([cursor.spelling], comment, first, last))
    return found


def page(header: pathlib.Path) -> str:
    """Returns the Markdown page of a C header: introduction, then its declarations."""
    text = header.read_text()
    source = text.splitlines()
    comments = re.findall(r"/\*.*?\*/", text, re.DOTALL)
    introduction = next((c for c in comments if "SPDX-License" not in c), "")
    marks = [(i + 1, match[1]) for i, line in enumerate(source) if (match := SECTION.match(line))]
    lines = [f"# {header.name}", "", f"[`{header.relative_to(paths.ROOT)}`]"]
    lines[-1] += f"(../../{header.relative_to(paths.ROOT)})"
    lines += ["", prose(introduction), ""]
    for entry in entries(header):
        while marks and marks[0][0] < entry.first:
            title = marks.pop(0)[1]
            lines += [f"## {title[0].upper()}{title[1:]}", ""]
        named = [f"`{name}`" for name in entry.names if "unnamed" not in name]
        names = ", ".join(dict.fromkeys(named)) or "Constants"
        code = "\n".join(source[entry.first - 1 : entry.last])
        if entry.comment and entry.comment != introduction:
            explained = prose(entry.comment) + "\n"
        else:
            explained = ""
        lines += [f"### {names}", "", explained, "```c", code, "```", ""]
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines))


def write(out: pathlib.Path) -> list[str]:
    """Writes the Markdown pages of all public C headers to a folder; returns their names."""
    out.mkdir(parents=True, exist_ok=True)
    for name in HEADERS:
        (out / f"{pathlib.Path(name).stem}.md").write_text(page(INCLUDE / name))
    return [pathlib.Path(name).stem for name in HEADERS]
