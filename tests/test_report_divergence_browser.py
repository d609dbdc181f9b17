"""The parts about divergence in a real browser: pictures, sorting, filtering, dark and narrow windows."""

from __future__ import annotations

import pytest

from fixtures.report.__main__ import PUBLISHED
from fixtures.report.pages import render_page
from fixtures.report.reading import collect
from tests.browsing import find, show
from tests.divergence_reports import make_image_report, make_text_report
from tests.screenshots import find_browser, prefer, resize

pytestmark = pytest.mark.skipif(
    find_browser() is None, reason="no chromium with its driver here: apt-get install chromium chromium-driver"
)

OPEN = "document.querySelectorAll('details').forEach((one) => { one.open = true })"


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    path = tmp_path_factory.mktemp("divergence") / "report.html"
    collection = collect([("images", make_image_report()), ("texts", make_text_report())])
    path.write_text(render_page(collection, PUBLISHED), encoding="utf-8")
    return path


@pytest.fixture
def driver(browser, page):
    """The page in a wide, light window; fails a test that leaves an error in the console."""
    resize(browser, 1440, 900)
    prefer(browser, "light")
    browser.get(page.as_uri())
    browser.get_log("browser")
    yield browser
    assert browser.get_log("browser") == []


def test_pictures_are_shown_side_by_side_and_nothing_is_fetched(driver):
    driver.execute_script(OPEN)
    shown = "return [...document.images].every((one) => one.complete && one.naturalWidth > 0)"
    assert driver.execute_script(shown)
    first, second = driver.find_elements("css selector", ".view")[:2]
    assert first.rect["y"] == second.rect["y"]
    assert first.text.startswith("spurious model")
    assert second.text.startswith("clean model")


def test_the_papers_line_stays_below_ours_when_a_table_is_sorted(driver):
    names = "#images-1-title + .verified + .scroll tbody th"
    assert show(driver, names)[::2] == ["heatmap", "influence", "concept"]
    find(driver, "#images-1-title + .verified + .scroll thead th:nth-child(2) button").click()
    assert show(driver, names)[::2] == ["influence", "heatmap", "concept"]
    assert all("paper" in name for name in show(driver, names)[1::2])


def test_the_heat_map_is_sorted_by_a_pair_of_populations(driver):
    find(driver, ".heat.eds thead th:last-child button").click()
    assert show(driver, ".heat.eds tbody th") == ["heatmap", "influence", "concept"]
    assert show(driver, ".heat.eds thead th")[1].split() == ["dsprites", "square"]


def test_methods_of_texts_are_filtered(driver):
    find(driver, "[data-rows] [name=method]").send_keys("IG prob")
    assert set(show(driver, "#text-divergence tbody th")) == {"ig_zero.100.prob", "ig_unk.100.prob"}
    assert show(driver, "[data-rows] output") == ["2 methods shown"]
    assert len(show(driver, "#divergence .populations tbody th")) == 6 * 3 * 2


def test_every_column_that_can_be_sorted_is_sorted_without_losing_a_row(driver):
    count = "return document.querySelectorAll('table[data-sortable] tbody tr').length"
    before = driver.execute_script(count)
    for button in driver.find_elements("css selector", "table[data-sortable] th[data-sort] button"):
        driver.execute_script("arguments[0].click(); arguments[0].click()", button)
    assert driver.execute_script(count) == before


def test_a_wide_window_shows_every_column(driver):
    cut = "return [...document.querySelectorAll('main .scroll')].filter((e) => e.scrollWidth > e.clientWidth).length"
    assert driver.execute_script(cut) == 0


@pytest.mark.parametrize("width", [320, 390, 768])
def test_a_narrow_window_never_scrolls_sideways(driver, width):
    resize(driver, width, 844)
    driver.execute_script(OPEN)
    assert driver.execute_script("return document.documentElement.scrollWidth") <= width


def test_charts_follow_the_systems_dark_mode(driver):
    read = "return getComputedStyle(document.querySelector('.chart text')).fill"
    light = driver.execute_script(read)
    prefer(driver, "dark")
    assert driver.execute_script(read) != light


def test_without_scripts_the_numbers_are_there_and_no_dead_control_is(driver):
    driver.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
    try:
        driver.refresh()
        assert not find(driver, "[data-rows]").is_displayed()
        assert find(driver, ".heat.eds td b").text == "0.77"
    finally:
        driver.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})
