"""How the page is laid out in a real browser: nothing is cut, nothing stands there twice, nothing is empty."""

from __future__ import annotations

import pytest

from fixtures.report.__main__ import PUBLISHED
from fixtures.report.pages import render_page
from fixtures.report.reading import collect
from tests.browsing import find, show
from tests.reports import fail, make_report
from tests.screenshots import find_browser, resize

pytestmark = pytest.mark.skipif(
    find_browser() is None, reason="no chromium with its driver here: apt-get install chromium chromium-driver"
)

CUT = "return [...document.querySelectorAll(arguments[0])].filter((e) => e.scrollWidth > e.clientWidth).length"


def write(folder, *reports):
    path = folder / "report.html"
    path.write_text(
        render_page(collect([(f"{n}.json", report) for n, report in enumerate(reports)]), PUBLISHED), "utf-8"
    )
    return path


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    """Three models, so that the cards take two lines."""
    three = [make_report(models=["bert", "lstm"]), make_report(models=["bert"], profile="local", datasets=["other"])]
    return write(tmp_path_factory.mktemp("layout"), *three)


@pytest.fixture
def driver(browser, page):
    """The page in a wide window; fails a test that leaves an error in the console."""
    resize(browser, 1440, 900)
    browser.get(page.as_uri())
    browser.get_log("browser")
    yield browser
    assert browser.get_log("browser") == []


def test_a_closed_card_has_its_first_methods_and_an_open_one_all_of_them_once(driver):
    first = "#answer .card:first-child"
    assert len(show(driver, f"{first} tbody tr")) == 5
    assert "seconds" not in show(driver, f"{first} thead th")
    find(driver, f"{first} summary").click()
    names = show(driver, f"{first} tbody th .method")
    assert len(names) == len(set(names)) == 46
    assert "seconds" in show(driver, f"{first} thead th")
    assert len(show(driver, "#answer .card:nth-child(2) tbody tr")) == 5


def test_a_wide_window_shows_every_column(driver):
    driver.execute_script("document.querySelectorAll('details').forEach((one) => { one.open = true })")
    assert driver.execute_script(CUT, "#answer .scroll, #provenance .scroll") == 0
    assert show(driver, "#answer .hint") == []


def test_a_table_that_goes_on_to_the_right_says_so_until_its_end(driver):
    resize(driver, 390, 844)
    driver.execute_async_script("setTimeout(arguments[0], 100)")
    assert show(driver, "#answer .hint")[0] == "Scroll sideways for more columns →"
    area = find(driver, "#answer .scroll")
    assert "wide" in area.get_attribute("class")
    driver.execute_script("arguments[0].scrollLeft = 10000", area)
    driver.execute_async_script("setTimeout(arguments[0], 100)")
    assert "wide" not in area.get_attribute("class")


def test_what_the_numbers_mean_stands_below_all_cards(driver):
    lowest = max(card.rect["y"] for card in driver.find_elements("css selector", "#answer .card"))
    assert find(driver, "#controls-title").rect["y"] > lowest


def test_specificity_on_few_texts_is_sorted_last_either_way(browser, tmp_path):
    browser.get(write(tmp_path, make_report(shortcuts=["op"])).as_uri())
    find(browser, "#answer summary").click()
    for _ in range(2):
        find(browser, "#answer thead th:nth-child(3) button").click()
        marked = browser.execute_script(
            "return [...document.querySelectorAll('#answer td.bar')].map((e) => e.matches('.few'))"
        )
        assert marked == sorted(marked)
        assert any(marked)


def test_of_a_report_without_scores_nothing_empty_is_shown_and_one_sentence_says_why(browser, tmp_path):
    report = fail(
        make_report(only=["gxi.logit"], shortcuts=["op"]), "bert-toy-op", "synthetic_accuracy = 0.5", scored=False
    )
    browser.get(write(tmp_path, report).as_uri())
    for name in ("heat", "filters", "cost", "choices", "texts"):
        assert browser.find_elements("css selector", f"#{name}") == [], name
    assert "Left out, because nothing was scored: heat, cost, choices, texts." in show(browser, "#answer .note")
    assert show(browser, "nav a") == ["Answer", "Verification", "Published", "Not passed", "Provenance"]
    assert browser.get_log("browser") == []


def test_specificity_stands_beside_what_it_is_the_difference_of(driver):
    row = find(driver, "#answer tbody tr").text.split()
    # Half of the texts have a control: all were found, and none on the placebo.
    assert row[row.index("−") - 1 : row.index("−") + 2] == ["1.00", "−", "0.00"]
