"""A statement as Markdown, and as a page to print."""

import base64
import hashlib
import re
from collections.abc import Callable, Mapping, Sequence
from html import escape
from importlib import resources
from string import Template
from typing import NamedTuple

from hushgrid.export.drawing import drawing
from hushgrid.export.language import Language
from hushgrid.synopsis.synopsis import Synopsis

CODE = re.compile("`([^`]*)`")
MARKUP = re.compile(r"([\\*_\[\]<>|#~])")
LINE = "_" * 30  # to be written on
SIGNED = ("signed_name", "signed_date", "signed_signature")


class Section(NamedTuple):
    """A heading and what stands under it; `code` is marked by backquotes."""

    title: str
    paragraphs: Sequence[str] = ()
    table: Sequence[Sequence[str]] = ()  # the first row is the heading
    bullets: Sequence[str] = ()


def markdown_text(
    language: Language, file: str, heading: Mapping[str, str], sections: Sequence[Section], program: str
) -> str:
    """The statement as Markdown."""
    say = language.say
    parts = [f"# {_markdown(say('title', file=f'`{file}`'))}", _markdown(say("lead"))]
    parts.append(_markdown_table([["", ""], *([label, text] for label, text in heading.items())]))
    for section in sections:
        parts.append(f"## {_markdown(section.title)}")
        if section.table:
            parts.append(_markdown_table(section.table))
        parts += map(_markdown, section.paragraphs)
        if section.bullets:
            parts.append("\n".join(f"- {_markdown(text)}" for text in section.bullets))
    parts += [f"## {_markdown(say('signed'))}", *(f"{_markdown(say(name))}: {LINE}" for name in SIGNED)]
    return "\n\n".join([*parts, _markdown(say("footer", program=program))]) + "\n"


def html_page(
    language: Language,
    file: str,
    heading: Mapping[str, str],
    sections: Sequence[Section],
    program: str,
    synopsis: Synopsis,
    *,
    picture: str,
) -> str:
    """The statement as one page of A4, with a drawing and what it shows.

    It holds all it needs; a content security policy forbids every request.
    """
    say, style = language.say, _asset("page.css")
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    return Template(_asset("page.html")).substitute(
        lang=escape(say("lang")),
        policy=f"default-src 'none'; style-src 'sha256-{digest}'; img-src data:; base-uri 'none'; form-action 'none'",
        style=style,
        name=escape(say("title", file=file)),
        title=_html(say("title", file=f"`{file}`")),
        lead=_html(say("lead")),
        heading="".join(f"<div><dt>{_html(k)}</dt><dd>{_html(v)}</dd></div>" for k, v in heading.items()),
        drawing=drawing(synopsis, label=picture.replace("`", "")),
        picture=_html(picture),
        sections="".join(map(_html_section, sections)),
        signed=_html(say("signed")),
        lines="".join(f"<div><span></span>{_html(say(name))}</div>" for name in SIGNED),
        footer=_html(say("footer", program=program)),
    )


def _html_section(section: Section) -> str:
    parts = [f"<h2>{_html(section.title)}</h2>"]
    if section.table:
        first, *others = section.table
        body = "".join(_html_row(row, "td") for row in others)
        parts.append(f"<table><thead>{_html_row(first, 'th')}</thead><tbody>{body}</tbody></table>")
    parts += [f"<p>{_html(text)}</p>" for text in section.paragraphs]
    if section.bullets:
        parts.append(f"<ul>{''.join(f'<li>{_html(text)}</li>' for text in section.bullets)}</ul>")
    return f"<section>{''.join(parts)}</section>"


def _html_row(row: Sequence[str], cell: str) -> str:
    label, *others = map(_html, row)
    return f'<tr><th scope="row">{label}</th>{"".join(f"<{cell}>{text}</{cell}>" for text in others)}</tr>'


def _html(text: str) -> str:
    return _marked(text, escape, lambda name: f"<code>{escape(name)}</code>")


def _markdown(text: str) -> str:
    return _marked(text, lambda prose: MARKUP.sub(r"\\\1", prose), lambda name: f"`{name}`")


def _markdown_table(rows: Sequence[Sequence[str]]) -> str:
    # A bar would end a cell, even within code.
    first, *others = (f"| {' | '.join(_markdown(cell.replace('|', '/')) for cell in row)} |" for row in rows)
    return "\n".join([first, f"|{'---|' * len(rows[0])}", *others])


def _marked(text: str, prose: Callable[[str], str], code: Callable[[str], str]) -> str:
    """Text whose parts between backquotes are code."""
    return "".join(code(part) if number % 2 else prose(part) for number, part in enumerate(CODE.split(text)))


def _asset(name: str) -> str:
    return (resources.files("hushgrid") / "data" / "statements" / name).read_text(encoding="utf-8")
