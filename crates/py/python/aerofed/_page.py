"""Pages in notebooks."""

from __future__ import annotations

import html


def framed(page: str) -> str:
    """A whole page as a frame in another: its styles and scripts stay its own."""
    source = html.escape(page, quote=True)
    return f'<iframe srcdoc="{source}" style="width: 100%; height: 640px; border: 0" loading="lazy"></iframe>'
