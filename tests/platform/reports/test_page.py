"""The frame of a report escapes what it is given and lays out tables."""

from rolecast.platform.reports.page import inline_image, page, paragraph, rounded, section, table


def test_text_from_outside_cannot_become_markup() -> None:
    written = page("<b>", "a & b", [section("<i>", paragraph("<script>"), table((), [("<td>",)]))])
    for raw in ("<b>", "<i>", "<script>", "a & b"):
        assert raw not in written


def test_numbers_stand_to_the_right_with_separators() -> None:
    written = table(("what", "value"), [("steps", 400_000), ("return", 135.43), ("on", True)])
    assert '<td class="number">400,000</td>' in written
    assert '<td class="number">135.4</td>' in written


def test_a_mean_has_the_digits_that_its_error_leaves() -> None:
    for mean, error, cells in (
        (12345.678, 12.3, ("12,346", "12")),
        (188.612, 0.0026, ("188.6120", "0.0026")),
        (-0.00044, 0.00012, ("-0.00044", "0.00012")),
        (188.6, 6.5e-15, ("188.6",)),
    ):
        written = table(("mean", "error"), [rounded(mean, error)])
        for cell in cells:
            assert f'<td class="number">{cell}</td>' in written


def test_a_page_is_one_document_without_links() -> None:
    written = page("title", "lead", [])
    assert written.startswith("<!doctype html>")
    assert "http" not in written


def test_an_inline_image_needs_no_other_file() -> None:
    text = inline_image(b"data", "png", "a curve")
    assert text == '<img alt="a curve" src="data:image/png;base64,ZGF0YQ==">'


def test_a_description_from_outside_cannot_end_its_attribute() -> None:
    assert 'alt="a &#34;quoted&#34; task"' in inline_image(b"", "png", 'a "quoted" task')


def test_a_table_without_a_head_has_its_rows_alone() -> None:
    assert table((), [("name", 1.0)]) == (
        '<table><tr><td>name</td><td class="number">1</td></tr></table>'
    )
