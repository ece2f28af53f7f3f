"""The frame of a report escapes what it is given and lays out tables."""

from rolecast.platform.reports.page import page, paragraph, section, table


def test_text_from_outside_cannot_become_markup() -> None:
    written = page("<b>", "a & b", [section("<i>", paragraph("<script>"), table((), [("<td>",)]))])
    for raw in ("<b>", "<i>", "<script>", "a & b"):
        assert raw not in written


def test_numbers_stand_to_the_right_with_separators() -> None:
    written = table(("what", "value"), [("steps", 400_000), ("return", 135.43), ("on", True)])
    assert '<td class="number">400,000</td>' in written
    assert '<td class="number">135.4</td>' in written


def test_a_page_is_one_document_without_links() -> None:
    written = page("title", "lead", [])
    assert written.startswith("<!doctype html>")
    assert "http" not in written
