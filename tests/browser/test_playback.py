"""The stand-alone animation in a real browser: it draws, plays, seeks, and asks for nothing from a network."""

import io
import threading

import numpy as np
import pytest

from support.browser import PATIENCE
from support.example_files import EXAMPLES
from torseur.formats import load
from torseur.simulation.results.channels import Channel, Role
from torseur.simulation.results.result import Run
from torseur.views.scene import Arrow, view

pytestmark = pytest.mark.browser

LARGEST = 3_000_000  # bytes


def ten_seconds() -> Run:
    """A double pendulum that swings for ten seconds, recorded every 10 ms, with a force on it."""
    mechanism = load(EXAMPLES / "double_pendulum" / "double_pendulum.yaml")
    time = np.linspace(0.0, 10.0, 1001)
    q = np.stack([2.0 * np.cos(3.0 * time), 1.5 * np.sin(2.0 * time)], axis=1)
    pull = np.stack([10.0 * np.cos(time), 0.0 * time, 20.0 + 0.0 * time], axis=1)
    return Run.from_arrays(mechanism, time, q, 0.0 * q, channels=[Channel("pull", "N", "a force", pull, Role.FORCE)])


@pytest.fixture(scope="module")
def animation(tmp_path_factory):
    file = tmp_path_factory.mktemp("animation") / "run.html"
    ten_seconds().animate(file, traces=["lower"], arrows=[Arrow("lower", "pull")])
    return file


def opened(page, address: str):
    page.goto(address)
    page.wait_for_selector("canvas")
    # A note that the processor draws would lie over the picture.
    page.add_style_tag(content=".mantine-Notification-root { display: none !important }")
    return page


def pixels(page) -> np.ndarray:
    """The picture (height, width, 3), without the controls below it."""
    from matplotlib.image import imread

    image = imread(io.BytesIO(page.screenshot(timeout=PATIENCE)))
    return image[: image.shape[0] - 45, :, :3]


def pixels_such_that(page, holds) -> np.ndarray:
    """The first picture that has a property, however long it takes to be drawn."""
    image = pixels(page)
    while not holds(image):
        page.wait_for_timeout(100)
        image = pixels(page)
    return image


def press_play_or_pause(page) -> None:
    page.locator(".mantine-ActionIcon-root").first.click()


def clock(page):
    return page.locator("input[inputmode=decimal]").first


def time_of(page) -> float:
    return float(page.locator("[role=slider]").first.get_attribute("aria-valuenow"))


def wait_until_later_than(page, time: float) -> None:
    page.wait_for_function(f"() => +document.querySelector('[role=slider]').getAttribute('aria-valuenow') > {time}")


def drawn_anew(page) -> None:
    """Wait until the page has drawn several pictures more."""
    page.evaluate(
        "() => new Promise(r => { let n = 0; const f = () => ++n > 6 ? r() : requestAnimationFrame(f); f() })"
    )


def seek(page, time: float) -> np.ndarray:
    """Go to a time by typing it; the picture there."""
    clock(page).fill(str(time))
    clock(page).press("Enter")
    drawn_anew(page)
    return pixels(page)


def differing(a: np.ndarray, b: np.ndarray) -> int:
    return int((np.abs(a - b).max(axis=2) > 0.1).sum())


def test_an_animation_of_ten_seconds_is_small(animation):
    assert animation.stat().st_size < LARGEST


def test_the_animation_draws_plays_pauses_and_seeks_without_a_network(page, animation):
    opened(page, animation.as_uri())
    wait_until_later_than(page, 0.2)
    assert time_of(page) > 0.0  # it plays by itself

    press_play_or_pause(page)
    at_one = seek(page, 1.0)
    assert time_of(page) == pytest.approx(1.0, abs=0.05)
    assert at_one.std() > 0.01  # not one colour
    assert len(np.unique(np.round(at_one.reshape(-1, 3), 1), axis=0)) > 4

    at_two = seek(page, 2.0)
    assert differing(at_one, at_two) > 30
    assert differing(at_one, seek(page, 1.0)) < differing(at_one, at_two) / 4  # the same time is the same picture

    press_play_or_pause(page)
    wait_until_later_than(page, 1.3)
    assert differing(at_one, pixels(page)) > 30

    assert page.asked == [animation.as_uri()] or all(u.startswith(("file:", "data:", "blob:")) for u in page.asked)
    assert not page.errors


def test_the_slider_sets_the_time(page, animation):
    opened(page, animation.as_uri())
    wait_until_later_than(page, 0.2)
    press_play_or_pause(page)
    track = page.locator(".mantine-Slider-track").first.bounding_box()
    page.mouse.click(track["x"] + 0.5 * track["width"], track["y"] + 0.5 * track["height"])
    wait_until_later_than(page, 4.0)
    assert time_of(page) == pytest.approx(5.0, abs=0.4)


def test_curves_beside_the_view_follow_the_time_and_set_it(page, animation):
    page.set_viewport_size({"width": 1000, "height": 500})
    opened(page, animation.as_uri())
    wait_until_later_than(page, 0.2)
    press_play_or_pause(page)
    cursor = page.locator("#curves .cursor").first

    def place() -> float:
        drawn_anew(page)
        return float(cursor.get_attribute("x1"))

    seek(page, 0.0)
    left = place()
    seek(page, 8.0)
    right = place()
    assert right > left + 100.0
    seek(page, 4.0)
    assert place() == pytest.approx((left + right) / 2, abs=2.0)
    assert "4.00 s" in page.locator("#caption .clock").text_content()
    assert page.locator("#caption h1").text_content().startswith("Two point masses")
    box = page.locator("#curves svg").first.bounding_box()
    share = (left + 0.25 * (right - left)) / 400.0
    page.mouse.click(box["x"] + share * box["width"], box["y"] + 0.5 * box["height"])
    drawn_anew(page)
    assert time_of(page) == pytest.approx(2.0, abs=0.1)
    assert not page.errors


def test_the_page_is_named_after_the_run(page, animation):
    opened(page, animation.as_uri())
    assert page.title() == "double pendulum"


@pytest.mark.parametrize("shown", [ten_seconds, lambda: ten_seconds().mechanism], ids=["run", "mechanism"])
def test_a_live_view_draws_and_moves(page, shown):
    address, answered, stop = [], threading.Event(), threading.Event()

    def ready(url: str) -> None:
        address.append(url)
        answered.set()

    options = {"browser": False, "ready": ready, "stop": stop}
    worker = threading.Thread(target=view, args=(shown(),), kwargs=options)
    worker.start()
    try:
        assert answered.wait(PATIENCE / 1000)
        opened(page, address[0])
        first = pixels_such_that(page, lambda image: image.std() > 0.01)
        if shown is not ten_seconds:
            page.locator("input[inputmode=decimal]").first.fill("0.5")
        pixels_such_that(page, lambda image: differing(first, image) > 20)
        assert all(url.startswith(("http://127.0.0.1", "ws://127.0.0.1", "data:", "blob:")) for url in page.asked)
    finally:
        stop.set()
        worker.join(PATIENCE / 1000)
    assert not worker.is_alive()
