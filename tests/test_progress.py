"""Progress: redrawn on a terminal, a line per interval elsewhere, and past pytest's capture."""

from __future__ import annotations

import io

from fixtures.progress import Terminal


class Screen(io.StringIO):
    """A stream that says whether it is a terminal."""

    def __init__(self, tty):
        super().__init__()
        self.tty = tty

    def isatty(self):
        return self.tty


def draw(tty, monkeypatch):
    """What three steps of four seconds each leave on a stream."""
    import tqdm

    now = [1000.0]
    monkeypatch.setattr(tqdm.tqdm, "_time", lambda self: now[0], raising=False)
    monkeypatch.setattr(tqdm.std, "time", lambda: now[0])
    screen = Screen(tty)
    with Terminal(stream=screen).progress("training") as report:
        for step in range(1, 7):
            now[0] += 4
            report(step, 6, "validation 0.5")
    return screen.getvalue()


def test_elsewhere_there_is_a_line_at_most_every_ten_seconds(monkeypatch):
    lines = draw(False, monkeypatch).splitlines()
    assert "\r" not in "".join(lines)
    assert 2 <= len(lines) <= 3
    assert all("training" in line and "validation 0.5" in line for line in lines)
    assert "6/6" in lines[-1]
    assert "<00:12" in lines[0]  # the time that is left: three of six steps of four seconds


def test_on_a_terminal_one_line_is_redrawn(monkeypatch):
    text = draw(True, monkeypatch)
    assert text.count("\r") >= 6
    assert text.count("\n") == 1


def test_lines_go_past_the_capture(capfd, pytestconfig):
    terminal = Terminal(pytestconfig.pluginmanager.getplugin("capturemanager"), stream=Screen(False))
    terminal.say("hello")
    assert terminal.stream.getvalue() == "hello\n"
    assert capfd.readouterr().out == ""


def test_what_is_quick_shows_nothing():
    screen = Screen(False)
    with Terminal(stream=screen).progress("sweep") as report:
        report(1, 1, "")
    assert screen.getvalue() == ""
