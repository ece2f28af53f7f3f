"""Folder of a bandit run: its request, a journal of all queries, and the result."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import numpy as np

from rolecast.core.errors import RequestError
from rolecast.core.files import read_json, write_sealed_json
from rolecast.core.locks import LockedFolder
from rolecast.core.types import Float
from rolecast.platform.search.bandit.engine import QueryBlock
from rolecast.platform.search.planning.request import folder_exists, make_run_folder
from rolecast.platform.search.records import journal
from rolecast.platform.search.records.history import Batch, Kind
from rolecast.platform.search.records.journal import Journal

BANDIT_SCHEMA: Final = 1
"""Version of the folder's layout."""

BANDIT_FILE: Final = "bandit.json"
RESULT_FILE: Final = "result.json"
JOURNAL_FILE: Final = "journal.bin"


class BanditFolder(LockedFolder):
    """Paths and files of one run."""

    def __init__(self, path: str | Path) -> None:
        super().__init__(path)
        self._journal = Journal(self.path / JOURNAL_FILE)

    @property
    def known(self) -> bool:
        """Whether a bandit run is there."""
        return (self.path / BANDIT_FILE).is_file()

    def create(self, request: Mapping[str, Any], placement: Mapping[str, Any]) -> None:
        """Make and lock the folder.

        Args:
            request: fields of `BanditRequest`.
            placement: "workers" and "address", which are no part of the result.
        Raises:
            RequestError: the path exists or cannot be written.
        """
        make_run_folder(self.path)
        self.lock()
        if self.known:  # another process was quicker
            raise folder_exists(self.path)
        written = {
            "schema": BANDIT_SCHEMA,
            "request": dict(request),
            "placement": dict(placement),
        }
        write_sealed_json(self.path / BANDIT_FILE, written)

    def read_request(self) -> dict[str, Any]:
        """Return the request.

        Raises:
            RequestError: there is none, or it is damaged or of another schema.
        """
        stored = self._read()
        if stored.get("schema") != BANDIT_SCHEMA:
            raise RequestError(
                f"{self.path} has schema {stored.get('schema')}; expected {BANDIT_SCHEMA}"
            )
        request = stored.get("request")
        if not isinstance(request, dict):
            raise RequestError(f"{self.path / BANDIT_FILE} is damaged: it has no request")
        return request

    def read_placement(self) -> tuple[int, str | None]:
        """Return workers and address of the run; those of one process where none are stored."""
        placement = self._read().get("placement", {})
        return placement.get("workers", 0), placement.get("address")

    def _read(self) -> dict[str, Any]:
        return read_json(self.path / BANDIT_FILE)

    def append(self, first: int, block: QueryBlock, incumbent: Float) -> None:
        """Keep a block of queries, from which point on no kill can lose it."""
        numbers = np.arange(first, first + len(block.points))
        batch = Batch(
            index=first,
            kind=Kind.SEARCH,
            first=first,
            spent=0.0,
            candidates=block.points,
            episodes_of=numbers,
            episode_returns=block.exact[:, None],
            observed_returns=block.observed[:, None],
            env_steps=numbers + 1,
            wall_time_s=0.0,
            incumbent=incumbent,
        )
        self.require_held()
        self._journal.append(batch)

    def read_blocks(self, *, repair: bool = False) -> list[QueryBlock]:
        """Return all whole blocks; with `repair` what a killed process left half written goes."""
        if repair:
            self._journal.repair()
        return [
            QueryBlock(batch.candidates, batch.episode_returns[:, 0], batch.observed_returns[:, 0])
            for batch in journal.read(self.path / JOURNAL_FILE)
        ]

    def write_result(self, result: Mapping[str, Any]) -> None:
        """Replace the result."""
        self.require_held()
        write_sealed_json(self.path / RESULT_FILE, result)

    def read_result(self) -> dict[str, Any] | None:
        """Return the result; None while the run has not finished."""
        path = self.path / RESULT_FILE
        return read_json(path) if path.is_file() else None
