"""Files are written whole or not at all, links are followed, and what is no file stays what it is."""

from __future__ import annotations

import errno
import os
import resource
import secrets
import stat
import subprocess
import sys
import threading

import numpy as np
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


@pytest.mark.skipif(not os.path.exists("/dev/stdout"), reason="this system has no /dev/stdout")
@pytest.mark.parametrize("name", ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1", "link"])
def test_a_file_that_is_open_already_is_written_to_where_it_stands(tmp_path, name):
    log = tmp_path / "log"
    log.write_text("earlier\n")
    (tmp_path / "link").symlink_to("/dev/stdout")
    program = f"from espalier.structures.files import write_text; print('before'); write_text({name!r}, 'text\\n')"
    for mode, start in (("a", "earlier\n"), ("w", "")):
        with log.open(mode) as stream:
            run = [sys.executable, "-c", program]
            subprocess.run(run, stdout=stream, check=True, cwd=tmp_path)
            subprocess.run([sys.executable, "-c", "print('after')"], stdout=stream, check=True)
        assert log.read_text() == start + "before\ntext\nafter\n"


def test_devices_are_written_to():
    ours, theirs = os.openpty()
    write_text(os.ttyname(theirs), "a line")
    assert os.read(ours, 100) == b"a line"
    os.close(ours)
    os.close(theirs)


def test_two_writers_of_one_path_never_damage_a_reader(tmp_path):
    place, wrong, done = tmp_path / "k.bin", [], threading.Event()
    whole = {bytes([letter]) * 300_000 for letter in b"ab"}
    write_bytes(place, min(whole))

    def write(data):
        while not done.is_set():
            with written(place) as stream:
                for first in range(0, len(data), 10_000):
                    stream.write(data[first : first + 10_000])

    writers = [threading.Thread(target=write, args=(data,)) for data in whole]
    for writer in writers:
        writer.start()
    for _ in range(100):
        if place.read_bytes() not in whole:
            wrong.append(1)
    done.set()
    for writer in writers:
        writer.join(60)
    assert not wrong and list(tmp_path.iterdir()) == [place]


def test_a_replaced_file_keeps_its_mode_and_a_new_one_has_that_of_the_mask(tmp_path):
    mask = os.umask(0o027)
    try:
        write_text(tmp_path / "new", "text")
    finally:
        os.umask(mask)
    assert stat.S_IMODE((tmp_path / "new").stat().st_mode) == 0o640
    for mode in (0o600, 0o444, 0o664):
        place = tmp_path / f"{mode:o}"
        place.write_text("old")
        place.chmod(mode)
        write_text(place, "new")
        assert place.read_text() == "new" and stat.S_IMODE(place.stat().st_mode) == mode


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may give files away")
def test_a_replaced_file_keeps_its_owner(tmp_path):
    place = tmp_path / "k.txt"
    place.write_text("old")
    os.chown(place, 12345, 23456)
    write_text(place, "new")
    assert (place.stat().st_uid, place.stat().st_gid) == (12345, 23456)


@pytest.mark.skipif(not hasattr(os, "setxattr"), reason="this system has no extended attributes")
def test_a_replaced_file_keeps_its_extended_attributes(tmp_path):
    place = tmp_path / "k.txt"
    place.write_text("old")
    try:
        os.setxattr(place, "user.origin", b"by hand")
    except OSError as error:
        pytest.skip(f"this file system keeps no extended attributes: {error}")
    write_text(place, "new")
    assert place.read_text() == "new" and os.getxattr(place, "user.origin") == b"by hand"


def test_a_group_that_cannot_be_kept_gets_no_more_than_everybody(tmp_path, monkeypatch):
    place = tmp_path / "k.txt"
    place.write_text("old")
    place.chmod(0o664)
    real = os.fstat

    def of_another_group(descriptor):
        own = list(real(descriptor))
        own[5] += 1
        return os.stat_result(own)

    def refused(*_):
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "fstat", of_another_group)
    monkeypatch.setattr(os, "fchown", refused)
    write_text(place, "new")
    assert stat.S_IMODE(place.stat().st_mode) == 0o644


def test_the_draft_of_a_private_file_is_private(tmp_path):
    place = tmp_path / "k.txt"
    place.write_text("old")
    place.chmod(0o600)
    with written(place) as stream:
        (draft,) = set(tmp_path.iterdir()) - {place}
        assert stat.S_IMODE(draft.stat().st_mode) == 0o600
        stream.write(b"new")


def test_a_link_at_the_name_of_the_draft_is_not_followed(tmp_path, monkeypatch):
    names = iter(["taken0000000", "free00000000"])
    monkeypatch.setattr(secrets, "token_hex", lambda n: next(names))
    precious = tmp_path / "precious"
    precious.write_text("do not touch")
    (tmp_path / ".taken0000000.part").symlink_to(precious)
    write_text(tmp_path / "k.txt", "new")
    assert precious.read_text() == "do not touch" and (tmp_path / "k.txt").read_text() == "new"


def test_a_name_as_long_as_the_file_system_takes_can_be_written(tmp_path):
    place = tmp_path / ("n" * 255)
    write_text(place, "text")
    assert place.read_text() == "text"


def test_the_file_and_its_folder_are_on_the_disk_in_the_right_order(tmp_path, monkeypatch):
    steps = []

    def sync(descriptor):
        steps.append("folder" if stat.S_ISDIR(os.fstat(descriptor).st_mode) else "file")

    real = os.replace

    def rename(draft, target):
        steps.append("rename")
        real(draft, target)

    monkeypatch.setattr(os, "fsync", sync)
    monkeypatch.setattr(os, "replace", rename)
    write_text(tmp_path / "k.txt", "text")
    assert steps == ["file", "rename", "folder"]


@pytest.mark.parametrize("step", ["fsync", "replace", "fchmod", "open"])
def test_whatever_step_fails_the_error_names_the_file_and_nothing_is_left(tmp_path, monkeypatch, step):
    place = tmp_path / "k.txt"
    place.write_text("old")

    def full(first, *_):
        raise OSError(errno.ENOSPC, "No space left on device", first if isinstance(first, str) else None)

    monkeypatch.setattr(os, step, full)
    with pytest.raises(OSError, match="No space left on device") as caught:
        write_text(place, "new")
    monkeypatch.undo()
    assert caught.value.filename == str(place)
    assert place.read_text() == "old" and list(tmp_path.iterdir()) == [place]


def test_an_error_of_another_file_inside_the_block_keeps_its_name(tmp_path):
    def copied():
        with written(tmp_path / "k.txt") as stream:
            stream.write((tmp_path / "not there").read_bytes())

    with pytest.raises(FileNotFoundError, match="not there"):
        copied()
    assert list(tmp_path.iterdir()) == []


def test_an_array_that_does_not_fit_on_the_disk_is_an_error_that_names_the_file(tmp_path):
    place = tmp_path / "k.npy"
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, limits[1]))
    try:
        with pytest.raises(OSError, match=r"k\.npy"):
            write_bytes(place, bytes(1_000_000))
        with pytest.raises(OSError, match=r"k\.npy"), written(place) as stream:
            np.save(stream, np.zeros(1_000_000))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert list(tmp_path.iterdir()) == []


def test_a_device_without_room_is_an_error_that_names_it():
    with pytest.raises(OSError, match="/dev/full"):
        write_text("/dev/full", "text")
