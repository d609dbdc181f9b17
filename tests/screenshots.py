"""A headless Chromium, and pictures of a page: `python -m tests.screenshots report.html docs/`.

Browser and driver are those of the system: nothing is downloaded, nothing leaves the machine.
"""

from __future__ import annotations

import io
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

BROWSERS, DRIVERS = ("chromium", "chromium-browser", "google-chrome"), ("chromedriver", "chromium.chromedriver")


def find_browser() -> tuple[str, str] | None:
    """Paths of the browser and of its driver; None where one of them is not installed."""
    found = [next(filter(None, map(shutil.which, names)), None) for names in (BROWSERS, DRIVERS)]
    return (found[0], found[1]) if found[0] and found[1] else None


LARGEST = 200_000
"""Bytes of a picture; a repository is no place for large ones."""

PICTURES = {
    "light": ("light", 1440, 1000, ""),
    "dark": ("dark", 1440, 1000, ""),
    "phone": ("light", 390, 844, ""),
    "divergence": ("light", 1440, 1400, "divergence"),
}
"""Name -> colour scheme, width and height of the window, and the part of the page, its top by default."""


@contextmanager
def open_browser(width: int = 1440, height: int = 900) -> Iterator[Any]:
    """A selenium driver, closed at the end with its process and connections.

    Raises:
        LookupError: no browser or no driver on this machine.
    """
    from selenium.webdriver import Chrome, ChromeOptions
    from selenium.webdriver.chrome.service import Service

    paths = find_browser()
    if paths is None:
        raise LookupError("no chromium with its driver on this machine; apt-get install chromium chromium-driver")
    options = ChromeOptions()
    options.binary_location = paths[0]
    # As root, and in containers with little shared memory, Chromium starts only with the first two.
    for argument in ("--no-sandbox", "--disable-dev-shm-usage", "--headless=new", "--disable-gpu", "--hide-scrollbars"):
        options.add_argument(argument)
    options.add_argument(f"--window-size={width},{height}")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = Chrome(options=options, service=Service(executable_path=paths[1]))
    try:
        resize(driver, width, height)
        yield driver
    finally:
        driver.quit()
        # Its pool of connections is left to the garbage collector otherwise, which warns of open sockets.
        driver.command_executor.close()


def resize(driver: Any, width: int, height: int) -> None:
    """The page's own width and height, also where a window cannot be as narrow as a phone."""
    metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600}
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)


def prefer(driver: Any, scheme: str) -> None:
    """Light or dark, as the system's setting would ask for."""
    features = [{"name": "prefers-color-scheme", "value": scheme}]
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})


def take_pictures(page: Path, folder: Path) -> list[Path]:
    """A screen of a page in every way of `PICTURES`.

    Args:
        page: an HTML file.
        folder: where the pictures go, made where it is missing, as `<stem of the page>-<name>.png`.

    Raises:
        LookupError: no browser on this machine.
        ValueError: a picture is too large.
    """
    from PIL import Image

    folder.mkdir(parents=True, exist_ok=True)
    taken = []
    with open_browser() as driver:
        for name, (scheme, width, height, part) in PICTURES.items():
            resize(driver, width, height)
            prefer(driver, scheme)
            driver.get(f"{page.resolve().as_uri()}#{part}")
            path = folder / f"{page.stem}-{name}.png"
            # A page has few colours: a palette makes the file a third as large.
            with Image.open(io.BytesIO(driver.get_screenshot_as_png())) as picture:
                picture.convert("RGB").quantize(256, kmeans=1).save(path, optimize=True)
            if path.stat().st_size > LARGEST:
                raise ValueError(f"{path} has {path.stat().st_size} bytes, at most {LARGEST} are wanted")
            taken.append(path)
    return taken


def main() -> None:
    """`python -m tests.screenshots PAGE.html FOLDER`."""
    if len(sys.argv) != 3:
        sys.exit("usage: python -m tests.screenshots PAGE.html FOLDER")
    try:
        for path in take_pictures(Path(sys.argv[1]), Path(sys.argv[2])):
            print(path)
    except (LookupError, ValueError, OSError) as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main()
