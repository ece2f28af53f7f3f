"""The comparison of the gallery is that of its experiment file; its page can be written anew."""

import re
import shutil
from pathlib import Path

from rolecast.core.files import read_json
from rolecast.platform.cli.app import main
from rolecast.platform.tuning.loading import load_experiment

GALLERY = Path(__file__).resolve().parent.parent / "docs" / "gallery"
HUNTERS = GALLERY / "hunters"
MOST_BYTES = 3_000_000
VERDICT = re.compile(r'<p class="verdict">(.*?)</p>')


def test_the_comparison_is_that_of_its_experiment() -> None:
    planned = [plan.trial for plan in load_experiment(GALLERY / "hunters.py").experiment.trials()]
    stored = read_json(HUNTERS / "experiment.json")
    assert [plan["trial"] for plan in stored["trials"]] == planned
    assert stored["command"][:3] == ["rolecast", "compare", "docs/gallery/hunters.py"]


def test_its_page_is_written_anew_from_what_is_kept(tmp_path: Path) -> None:
    shutil.copytree(HUNTERS, tmp_path / "hunters", ignore=shutil.ignore_patterns("report*"))
    assert main(["report", str(tmp_path / "hunters"), "--trials", "0"]) == 0
    kept, again = (
        (folder / "hunters" / "report.html").read_text() for folder in (GALLERY, tmp_path)
    )
    assert VERDICT.findall(kept) == VERDICT.findall(again) != []
    assert "9 of 9 trials finished" in kept
    assert len(kept) < MOST_BYTES


def test_no_report_of_the_gallery_leads_nowhere_or_names_a_folder_of_its_author() -> None:
    pages = sorted(GALLERY.glob("*/report.html"))
    assert len(pages) == 2
    for page in pages:
        targets = re.findall(r'<a [^>]*href="([^"#:]+)"', page.read_text())
        assert [each for each in targets if not (page.parent / each).exists()] == []
        assert re.findall(r"/(?:home|root|tmp)/", page.read_text()) == []
