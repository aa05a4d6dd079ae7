"""Makes the README's pictures of cards: golden cards, drawn by headless Chromium in the manner of a chat on a phone.

Run from the repository's root, with Debian's packages chromium, fonts-noto-color-emoji and pngquant:

    python tests/tools/card_pictures.py
"""

from __future__ import annotations

import html
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/unit/telegram_cards"))

from golden_cards import CARDS  # noqa: E402 (found through the path above)

from gateway.telegram.card_model import Card  # noqa: E402

PICTURES = {"card-approve.png": "approve-push-with-risks", "card-done.png": "succeeded-push"}
WIDTH = 420  # CSS pixels, of a large phone
TALL = 4000  # CSS pixels; higher than any card
SCALE = 1.5
BYTES_MAX = 150_000
CHROMIUM = ["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
            "--disable-background-networking", "--disable-component-update", "--disable-sync",
            "--hide-scrollbars", "--disable-lcd-text"]  # fmt: skip

STYLE = """
body { margin: 0; padding: 14px; width: 392px; background: #9fb8a6;
       font: 16px/1.32 "Liberation Sans", "Noto Color Emoji", sans-serif }
.bubble { background: #fff; border-radius: 14px; padding: 9px 13px 7px; color: #111 }
.from { color: #3a7fc1; font-weight: bold; margin-bottom: 2px }
.text { white-space: pre-wrap; overflow-wrap: anywhere }
code, pre { font: 14px/1.35 "DejaVu Sans Mono", "Noto Color Emoji", monospace; color: #0f4a85 }
pre { background: #eef3f8; border-left: 3px solid #5b9bd5; border-radius: 5px; padding: 5px 8px; margin: 3px 0;
      white-space: pre-wrap }
blockquote { background: #eef6ee; border-left: 3px solid #57a65b; border-radius: 5px; padding: 4px 26px 4px 8px;
             margin: 3px 0; position: relative }
blockquote code { color: #222 }
blockquote.folded > span { display: -webkit-box; -webkit-box-orient: vertical; -webkit-line-clamp: 3;
                           overflow: hidden }
blockquote.folded::after { content: "⌄"; position: absolute; right: 8px; bottom: 3px; color: #57a65b }
.time { text-align: right; color: #8a8a8a; font-size: 12px }
.row { display: flex; gap: 5px; margin-top: 5px }
.row div { flex: 1; text-align: center; background: #5d7f69; color: #fff; border-radius: 9px; padding: 9px 0 }
.file { margin-top: 6px; display: inline-block; background: #fff; border-radius: 14px; padding: 9px 13px;
        color: #3a7fc1 }
"""


def page(card: Card) -> str:
    """Return the card as a page that looks like a chat."""
    text = re.sub(
        r"<blockquote expandable>(.*?)</blockquote>", r'<blockquote class="folded"><span>\1</span></blockquote>',
        card.html, flags=re.S,
    )  # fmt: skip
    text = re.sub(r"\n?(<(?:blockquote|pre).*?</(?:blockquote|pre)>)\n?", r"\1", text, flags=re.S)
    rows = "".join(
        '<div class="row">' + "".join(f"<div>{html.escape(button.label)}</div>" for button in row) + "</div>"
        for row in card.buttons
    )
    files = "".join(f'<div class="file">📎 {html.escape(file.name)}</div>' for file in card.attachments)
    return (
        f"<!doctype html><meta charset=utf-8><style>{STYLE}</style>"
        f'<div class="bubble"><div class="from">ops-gateway</div><div class="text">{text}</div>'
        f'<div class="time">17:34</div></div>{rows}{files}'
        "<script>document.title = document.body.getBoundingClientRect().height</script>"
    )


def draw(card: Card, picture: Path) -> None:
    """Write the picture of a card, as high as the card is."""
    with tempfile.TemporaryDirectory() as scratch:
        source = Path(scratch) / "card.html"
        source.write_text(page(card))
        chromium = [*CHROMIUM, f"--user-data-dir={scratch}/profile"]
        shown = _run([*chromium, f"--window-size={WIDTH},{TALL}", "--dump-dom", source.as_uri()])
        height = re.search(r"<title>([\d.]+)</title>", shown)
        assert height is not None, "the page has no height"
        size = f"--window-size={WIDTH},{int(float(height[1])) + 1}"
        scale = f"--force-device-scale-factor={SCALE}"
        _run([*chromium, size, scale, f"--screenshot={picture}", source.as_uri()])
        _run(["pngquant", "--force", "--output", str(picture), "64", str(picture)])
    assert picture.stat().st_size <= BYTES_MAX, f"{picture} has {picture.stat().st_size} bytes"


def _run(argv: list[str]) -> str:
    return subprocess.run(argv, check=True, capture_output=True, text=True, timeout=120).stdout


if __name__ == "__main__":
    for name, golden in PICTURES.items():
        draw(CARDS[golden](), ROOT / "docs/images" / name)
