"""`make bench-editing`: how long `trainc lsp` takes from a keystroke to its diagnostics, and its memory.

Start the server for a project of 1, 100 and 1,000 TrainJobs in two environments, and type in one of them: each change
adds a character to an argument, and the next change follows the diagnostics of its file; after every 50th change the
server checks all files. The time includes the pause of the server before a check. Print Markdown: the median and the
95th percentile in milliseconds of wall time, their ratios to a cold build of one job, and the resident memory of the
server at the end.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Final

import inputs
from lsprotocol import types as lsp
from pygls.lsp.client import LanguageClient
from racing import head, line
from sessions import RUNTIMES, SETTINGS

SIZES: Final = (1, 100, 1000)
"""The numbers of TrainJobs."""
COLD: Final = 5
"""The runs of the cold build."""


async def typed(folder: Path, job: Path, edits: int) -> tuple[list[float], float]:
    """Return the seconds from each change of a job to its diagnostics, and the megabytes of the server at the end."""
    client = LanguageClient("bench", "1")
    answered = asyncio.Event()
    uri = (folder / job).as_uri()

    @client.feature(lsp.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)  # type: ignore[untyped-decorator]
    def publish(params: lsp.PublishDiagnosticsParams) -> None:
        if params.uri == uri:
            answered.set()

    @client.feature(lsp.CLIENT_REGISTER_CAPABILITY)  # type: ignore[untyped-decorator]
    def register(_: object) -> None:
        return None

    await client.start_io(sys.executable, "-m", "trainc", "lsp")
    await client.initialize_async(
        lsp.InitializeParams(
            lsp.ClientCapabilities(), workspace_folders=[lsp.WorkspaceFolder(folder.as_uri(), "bench")]
        )
    )
    client.initialized(lsp.InitializedParams())
    text = (folder / job).read_text()
    client.text_document_did_open(lsp.DidOpenTextDocumentParams(lsp.TextDocumentItem(uri, "yaml", 0, text)))
    await client.protocol.send_request_async("trainc/settled", None)
    found = []
    for number in range(1, edits + 1):
        answered.clear()
        new = text.replace("--seed=", f"--seed={'1' * (number % 9)}")
        begin = time.perf_counter()
        client.text_document_did_change(
            lsp.DidChangeTextDocumentParams(
                lsp.VersionedTextDocumentIdentifier(number, uri), [lsp.TextDocumentContentChangeWholeDocument(new)]
            )
        )
        await asyncio.wait_for(answered.wait(), 60)
        found.append(time.perf_counter() - begin)
        if number % 50 == 0:
            await client.protocol.send_request_async("trainc/settled", None)
    await client.protocol.send_request_async("trainc/settled", None)
    assert client._server is not None
    memory = _megabytes(client._server.pid)
    await client.shutdown_async(None)
    client.exit(None)
    await client.stop()  # type: ignore[no-untyped-call]
    return found, memory


def _megabytes(pid: int) -> float:
    [resident] = [row for row in Path(f"/proc/{pid}/status").read_text().splitlines() if row.startswith("VmRSS:")]
    return int(resident.split()[1]) / 1024


def cold(job: Path) -> float:
    """Return the median of the seconds of a cold build of one job."""
    found = []
    for _ in range(COLD):
        begin = time.perf_counter()
        command = [sys.executable, "-m", "trainc", "build", str(job), "--env", "prod", "-o", "-"]
        subprocess.run(command, check=True, capture_output=True)
        found.append(time.perf_counter() - begin)
    return statistics.median(found)


def main() -> None:
    """Measure and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--edits", type=int, default=500)
    parser.add_argument("--quick", action="store_true", help="ten edits of the smallest project")
    options = parser.parse_args()
    print(head(("TrainJobs", "cold build ms", "median ms", "p95 ms", "median ratio", "p95 ratio", "server MB")))
    for size in SIZES[:1] if options.quick else SIZES:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name).resolve()
            os.chdir(folder)
            names = inputs.runtime_names(RUNTIMES)
            inputs.folder_of_runtimes(Path("runtimes"), names)
            inputs.folder_of_jobs(Path("jobs"), inputs.jobs(size, [inputs.BUILT_IN, *names]))
            Path(".git").mkdir()
            Path("trainc.yaml").write_text(SETTINGS)
            job = sorted(Path("jobs").rglob("*.yaml"))[0]
            base = cold(job)
            seconds, memory = asyncio.run(typed(folder, job, 10 if options.quick else options.edits))
            os.chdir("/")
        median, high = statistics.median(seconds), statistics.quantiles(seconds, n=20)[-1]
        times = [f"{1000 * each:.0f}" for each in (base, median, high)]
        print(line((str(size), *times, f"{median / base:.2f}", f"{high / base:.2f}", f"{memory:.0f}")), flush=True)


if __name__ == "__main__":
    main()
