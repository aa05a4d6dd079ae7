"""Any bytes, taken for a patch or a binary file, give lines or nothing, and never an error."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from executor.git.unshown_text import binary_files, file_names, lines_of, pieces_of

ID = "1" * 40
PATCH = f"""diff --git a/logo.png b/logo.png
new file mode 100644
index {"0" * 40}..{ID}
Binary files /dev/null and b/logo.png differ
diff --git a/a.txt b/a.txt
index {"2" * 40}..{"3" * 40} 100644
--- a/a.txt
+++ b/a.txt
@@ -1 +1 @@
-one
+Binary files /dev/null and b/fake.png differ
diff --git a/gone.bin b/gone.bin
deleted file mode 100644
index {ID}..{"0" * 40}
Binary files a/gone.bin and /dev/null differ
""".encode()


def test_what_a_patch_calls_binary_is_known_by_its_id_and_path() -> None:
    assert binary_files(PATCH) == {ID: "logo.png"}


def test_the_names_that_files_have_afterwards_are_told_once() -> None:
    assert [line.text for line in file_names(PATCH + PATCH)] == ["logo.png", "a.txt"]


@given(st.text(alphabet=st.characters(codec="ascii", categories=["L", "N"]), min_size=20, max_size=60))
def test_ascii_text_in_utf_16_is_read_with_and_without_a_mark(text: str) -> None:
    for encoding in ("utf-16", "utf-16-le", "utf-16-be"):
        (line,) = lines_of("a", text.encode(encoding))
        assert line.text.lstrip("\ufeff") == text


@given(st.binary(max_size=400))
def test_no_bytes_are_too_odd_to_be_looked_at(content: bytes) -> None:
    list(lines_of("a", content))
    list(pieces_of("a", content))
    list(file_names(content))
    binary_files(content)
