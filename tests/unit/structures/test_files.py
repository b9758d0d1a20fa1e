"""Files are written whole or not at all, links are followed, and what is no file stays what it is."""

from __future__ import annotations

import os
import stat
import threading

import pytest

from espalier.structures.files import write_bytes, write_text, written


def test_what_fails_leaves_the_old_file_and_nothing_beside_it(tmp_path):
    place = tmp_path / "k.txt"
    write_text(place, "old")

    def interrupted():
        with written(place) as stream:
            stream.write(b"new")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert place.read_text() == "old" and list(tmp_path.iterdir()) == [place]
    with pytest.raises(IsADirectoryError, match="This is a folder"):
        write_text(tmp_path, "new")
    with pytest.raises(FileNotFoundError, match="nowhere"):
        write_text(tmp_path / "nowhere" / "k.txt", "new")


def test_links_are_followed(tmp_path):
    (tmp_path / "folder").mkdir()
    target, link = tmp_path / "folder" / "target.txt", tmp_path / "link.txt"
    link.symlink_to(target)
    for text in ("first", "second"):  # the target is not there at first
        write_text(link, text)
        assert link.is_symlink() and target.read_text() == text
    assert list(target.parent.iterdir()) == [target]


def test_pipes_are_written_to(tmp_path):
    pipe, got = tmp_path / "pipe", []
    os.mkfifo(pipe)
    reader = threading.Thread(target=lambda: got.append(pipe.read_bytes()), daemon=True)
    reader.start()
    write_bytes(pipe, b"all of it")
    reader.join(60)
    assert got == [b"all of it"] and stat.S_ISFIFO(pipe.stat().st_mode) and list(tmp_path.iterdir()) == [pipe]


def test_devices_are_written_to():
    ours, theirs = os.openpty()
    write_text(os.ttyname(theirs), "a line")
    assert os.read(ours, 100) == b"a line"
    os.close(ours)
    os.close(theirs)
