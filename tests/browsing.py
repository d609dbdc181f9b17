"""What a reader does on a page: finds, chooses, presses."""

from __future__ import annotations

from typing import Any

SHOWN = "return [...document.querySelectorAll(arguments[0])].filter((e) => e.checkVisibility()).map((e) => e.innerText)"


def find(driver: Any, selector: str) -> Any:
    return driver.find_element("css selector", selector)


def show(driver: Any, selector: str) -> list[str]:
    """Texts of the elements that can be seen."""
    return driver.execute_script(SHOWN, selector)


def choose(driver: Any, selector: str, option: str) -> None:
    from selenium.webdriver.support.ui import Select

    Select(find(driver, selector)).select_by_visible_text(option)


def press(driver: Any, *keys: str) -> None:
    from selenium.webdriver import ActionChains

    ActionChains(driver).send_keys(*keys).perform()
