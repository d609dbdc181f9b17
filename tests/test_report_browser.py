"""The page in a real browser, from file://: every control by mouse and keyboard, dark, narrow, and without scripts."""

from __future__ import annotations

import json

import pytest

from fixtures.report.__main__ import PUBLISHED
from fixtures.report.pages import render_page
from fixtures.report.reading import collect
from tests.browsing import choose, find, press, show
from tests.reports import fail, make_report
from tests.screenshots import LARGEST, find_browser, prefer, resize, take_pictures

# The driver talks to the browser on this machine; a test that hangs there is better ended.
pytestmark = pytest.mark.skipif(
    find_browser() is None, reason="no chromium with its driver here: apt-get install chromium chromium-driver"
)

EVIL = "</script><script>window.harmed = 1</script><img src=x onerror='window.harmed = 2'>"


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    """A page of two reports: one has a data set of its own and a cell that is not verified, and EVIL in it."""
    one = make_report(models=["bert", "lstm"])
    one["exhibits"]["lstm-toy-op"]["scores"]["gxi.logit"] = ["99" + " 0" * 49] * 12
    text = json.dumps(fail(make_report(datasets=["other"]), "bert-other-op", f"low {EVIL}", scored=True))
    other = json.loads(text.replace('"word1"', json.dumps(EVIL)))
    path = tmp_path_factory.mktemp("page") / "report.html"
    path.write_text(render_page(collect([("one", one), ("other", other)]), PUBLISHED), encoding="utf-8")
    return path


@pytest.fixture
def driver(browser, page):
    """The page as it is when opened, in a wide, light window; fails a test that leaves an error in the console."""
    resize(browser, 1440, 900)
    prefer(browser, "light")
    browser.get(page.as_uri())
    browser.get_log("browser")
    yield browser
    assert browser.get_log("browser") == []


def test_it_loads_without_errors_and_asks_for_nothing(browser, page):
    browser.get_log("browser")
    browser.get(page.as_uri())
    assert browser.get_log("browser") == []
    assert browser.execute_script("return performance.getEntriesByType('resource').length") == 0
    assert browser.execute_script("return window.harmed") is None


def test_the_answer_stands_on_the_first_screen(driver):
    for selector in ("#model-1-title", "#answer tbody tr", "#controls-title", "#answer .tag.bad"):
        assert find(driver, selector).rect["y"] + 20 < 900, selector
    assert show(driver, "#answer .doubts li")[0].startswith("not verified other op, ranked all the same")


def test_the_heat_map_is_filtered(driver):
    find(driver, "[name=method]").send_keys("IG mask")
    names = show(driver, "#heat tbody th")
    assert len(names) == 4
    assert all(name.startswith("ig_mask") for name in names)
    assert show(driver, "#filter-status") == ["4 methods shown"]
    choose(driver, "[name=dataset]", "other")
    choose(driver, "[name=shortcut]", "op")
    assert show(driver, "#heat thead th[data-shortcut]")[0].split()[:2] == ["other", "op"]
    choose(driver, "[name=model]", "lstm")
    choose(driver, "[name=family]", "gradient")
    assert show(driver, "#filter-status") == ["0 methods shown"]
    find(driver, "#filters [type=reset]").click()
    driver.execute_async_script("setTimeout(arguments[0], 20)")
    assert len(show(driver, "#heat tbody th")) == 46 + 36


def test_the_heat_map_is_sorted_by_mouse_and_by_keyboard(driver):
    from selenium.webdriver import Keys

    header = "#heat th[data-shortcut=op]"
    find(driver, f"{header} button").click()
    assert find(driver, header).get_attribute("aria-sort") == "descending"
    assert show(driver, "#heat tbody th")[0] == "grad_l1.logit"
    driver.execute_script("arguments[0].focus()", find(driver, f"{header} button"))
    press(driver, Keys.ENTER)
    assert find(driver, header).get_attribute("aria-sort") == "ascending"
    assert show(driver, "#heat tbody th")[0] == "random"


def test_cells_of_too_few_texts_are_marked_and_sorted_last_either_way(driver):
    header = "#heat th[data-shortcut=op]"
    few = {name.get_attribute("innerText") for name in driver.find_elements("css selector", "#heat tr:has(.few) th")}
    assert "ig_zero.1k.logit" in few
    for direction in ("descending", "ascending"):
        find(driver, f"{header} button").click()
        assert find(driver, header).get_attribute("aria-sort") == direction
        names = show(driver, "#heat .scroll:first-child tbody th")
        marked = [name in few for name in names]
        assert marked == sorted(marked)
        assert any(marked)
    assert "#" not in show(driver, "#heat td.few")[0]
    assert "4 texts" in show(driver, "#heat td.few")[0]


def test_the_heat_map_is_coloured_and_sorted_by_mean_rank(driver):
    header = "#heat th[data-shortcut=op]"
    find(driver, f"{header} button").click()
    before = find(driver, "#heat td").value_of_css_property("background-color")
    find(driver, "[name=measure][value=r]").click()
    # Every made-up mean rank is the same, so every method is as good as the best.
    assert find(driver, "#heat tbody td").get_attribute("data-r") == "2.0"
    assert show(driver, "#heat tbody th")[0] == "grad_l1.logit"
    find(driver, "[name=method]").send_keys("random")
    random = driver.find_elements("css selector", "#heat tr:not([hidden]) td")[0]
    assert random.value_of_css_property("background-color") == before
    assert find(driver, header).get_attribute("aria-sort") == "ascending"


def test_every_column_that_can_be_sorted_is_sorted_without_losing_a_row(driver):
    driver.execute_script("document.querySelectorAll('details').forEach((one) => { one.open = true })")
    count = "return document.querySelectorAll('table[data-sortable] tbody tr').length"
    before = driver.execute_script(count)
    for button in driver.find_elements("css selector", "table[data-sortable] th[data-sort] button"):
        driver.execute_script("arguments[0].click(); arguments[0].click()", button)
    assert driver.execute_script(count) == before
    assert driver.execute_script("return document.querySelectorAll('th[aria-sort]').length") == driver.execute_script(
        "return document.querySelectorAll('table[data-sortable]').length"
    )


def test_two_methods_are_laid_side_by_side_and_an_example_is_opened(driver):
    choose(driver, "[name=left]", "grad_l2.logit")
    choose(driver, "[name=right]", "lime_unk.3k")
    assert show(driver, "#examples h4") == ["grad_l2.logit: P@k 1.00", "lime_unk.3k: P@k 0.00"]
    tokens = driver.find_elements("css selector", "#examples .injected")
    # The left method ranks them second and first; the right one does not have them among its top two.
    assert [token.text for token in tokens] == ["context02", "indicator11", "context0", "indicator1"]
    assert tokens[0].value_of_css_property("outline-style") == "solid"
    assert "indicator1 at rank" in show(driver, "#examples .told")[0]
    last = driver.find_elements("css selector", "#examples summary")[-1]
    last.click()
    driver.execute_async_script("setTimeout(arguments[0], 50)")
    assert "This method did not score this text." in show(driver, "#examples .told")
    choose(driver, "[name=cell]", "lstm toy op")
    assert show(driver, "#examples h4")[0].startswith("grad_l2.logit")


def test_scores_that_rounding_made_equal_are_not_taken_for_a_ranking(driver):
    choose(driver, "[name=cell]", "lstm toy op")
    choose(driver, "[name=left]", "gxi.logit")
    told = show(driver, "#examples .told")[0]
    assert told.startswith("Top 2: not known, ties in the rounded scores. Injected: context0 at rank 1, score 99;")
    assert "indicator1 at one of the ranks 2 to 50, score 0" in told
    assert [rank.text for rank in driver.find_elements("css selector", "#examples p:first-of-type sup")][:1] == ["1"]


def test_an_example_is_opened_by_keyboard(driver):
    from selenium.webdriver import Keys

    summaries = driver.find_elements("css selector", "#examples summary")
    driver.execute_script("arguments[0].focus()", summaries[1])
    press(driver, Keys.ENTER)
    driver.execute_async_script("setTimeout(arguments[0], 50)")
    assert len(show(driver, "#examples h4")) == 4


def test_a_text_that_holds_a_script_is_shown_and_does_not_run(driver):
    choose(driver, "[name=cell]", "bert other op")
    assert EVIL in show(driver, "#examples .token")
    assert EVIL in " ".join(show(driver, "#answer .doubts li"))
    assert driver.execute_script("return window.harmed") is None
    assert driver.execute_script("return document.images.length") == 0


def test_the_first_key_leads_past_the_navigation_and_focus_is_seen(driver):
    from selenium.webdriver import Keys

    press(driver, Keys.TAB)
    skip = driver.switch_to.active_element
    assert (skip.text, skip.rect["x"] >= 0) == ("Skip to the answer", True)
    assert skip.value_of_css_property("outline-style") == "solid"
    press(driver, Keys.ENTER, Keys.TAB)
    assert driver.execute_script("return document.activeElement.closest('#answer') !== null")


def test_it_follows_the_systems_dark_mode_with_its_charts(driver):
    look = "return [document.body, document.querySelector('.chart text')].map((e) => getComputedStyle(e))"
    read = f"{look}.map((s) => s.backgroundColor + s.fill)"
    light = driver.execute_script(read)
    prefer(driver, "dark")
    dark = driver.execute_script(read)
    assert all(one != other for one, other in zip(light, dark, strict=True))


@pytest.mark.parametrize("width", [320, 390, 768])
def test_a_narrow_window_never_scrolls_sideways(driver, width):
    resize(driver, width, 844)
    driver.execute_script("document.querySelectorAll('details').forEach((one) => { one.open = true })")
    assert driver.execute_script("return document.documentElement.scrollWidth") <= width


def test_without_scripts_the_numbers_are_there_and_no_dead_control_is(driver):
    driver.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
    try:
        driver.refresh()
        assert not find(driver, "#filters").is_displayed()
        assert not find(driver, "#chooser").is_displayed()
        assert find(driver, "#heat td b").text == "0.02"
        assert find(driver, ".scriptless summary").is_displayed()
    finally:
        driver.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})


def test_pictures_are_taken_for_the_documentation(page, tmp_path):
    taken = take_pictures(page, tmp_path / "pictures" / "of it")
    names = ("light", "dark", "phone", "divergence")
    assert [path.name for path in taken] == [f"report-{name}.png" for name in names]
    assert all(path.stat().st_size <= LARGEST for path in taken)
