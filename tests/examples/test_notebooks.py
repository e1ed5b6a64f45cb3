"""The notebooks of the examples run from the first cell to the last, and show pictures and formulas."""

import pytest

from support.example_files import EXAMPLES

NOTEBOOKS = {
    "arm": {"Mechanism": "text/html", "Equations": "text/latex", "Linearised": "text/html", "Run": "text/html"},
    "four_bar": {"Mechanism": "text/html", "Mobility": "text/html", "Run": "text/html", "Audit": "text/html"},
}
"""What is shown in each, and how."""


@pytest.mark.slow
@pytest.mark.parametrize("name", NOTEBOOKS)
def test_a_notebook_runs_and_shows_what_it_makes(name, tmp_path):
    nbclient, nbformat = pytest.importorskip("nbclient"), pytest.importorskip("nbformat")
    pytest.importorskip("ipykernel")
    book = nbformat.read(EXAMPLES / "notebooks" / f"{name}.ipynb", as_version=4)
    assert not [cell for cell in book.cells if cell.get("outputs")]  # kept without what an earlier run has shown
    client = nbclient.NotebookClient(
        book, timeout=None, kernel_name="python3", resources={"metadata": {"path": tmp_path}}
    )
    client.execute()
    shown = [o.data for cell in book.cells for o in cell.get("outputs", ()) if o.output_type == "execute_result"]
    assert not [o for cell in book.cells for o in cell.get("outputs", ()) if o.get("name") == "stderr"]
    for kind, form in NOTEBOOKS[name].items():
        texts = [data[form] for data in shown if kind in data["text/plain"] and form in data]
        assert texts, kind
        assert all(len(text) > 80 for text in texts), texts
    assert [data for data in shown if "<img" in (html := data.get("text/html", "")) or "<svg" in html]
