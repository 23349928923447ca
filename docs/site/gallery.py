# SPDX-License-Identifier: Apache-2.0
"""The gallery: what the programs in examples show, their sources, and what they print."""
import re
from dataclasses import dataclass, field
from pathlib import Path

import prose

LANGUAGES = {".c": "c", ".h": "c", ".cpp": "cpp", ".py": "python"}
DATA = "/usr/share/datasets/fashion-mnist"


@dataclass
class Example:
    """`files` are below examples; the first line of comment in the first says what it shows."""
    title: str
    files: list
    command: list = field(default_factory=list)  # the program below examples of a build, its words
    environment: dict = field(default_factory=dict)


EXAMPLES = {
    "quickstart": Example("A training script", [
        "quickstart.c", "quickstart.cpp", "python/quickstart.py"], ["quickstart", DATA]),
    "custom_module": Example("A module of one's own", ["custom_module.c"], ["custom_module"]),
    "mlp_mnist": Example("A multi-layer perceptron", ["mlp_mnist/main.c", "common/training.c"], [
        "mlp_mnist/mlp_mnist", "--epochs", "2", "--limit", "10000"]),
    "cnn_mnist": Example("A convolutional network", ["cnn_mnist/main.c", "cnn_mnist/net.c"], [
        "cnn_mnist/cnn_mnist", "--epochs", "1", "--limit", "5000"]),
    "resnet18": Example("ResNet-18", ["resnet18/main.c"], [
        "resnet18/resnet18", "--epochs", "1", "--limit", "500"]),
    "pretrained": Example("Weights of PyTorch's, and another task", [
        "pretrained/main.c", "pretrained/train.py"], [
        "pretrained/pretrained", "examples/pretrained", DATA]),
    "gpu_tour": Example("What devices do", [
        "gpu_tour/gpu_tour.c", "gpu_tour/devices.c", "gpu_tour/moves.c", "gpu_tour/memory.c",
        "gpu_tour/timing.c", "gpu_tour/parallel.c", "gpu_tour/graph.c"], [
        "gpu_tour/gpu_tour", "--quick"], {"TERN_CPU_DEVICES": "3"}),
}


def ports(root):
    """Scripts for PyTorch beside their C, where there are some: {name: Example}."""
    found = {}
    for path in sorted((root / "examples/ports").glob("*.c")):
        script = path.with_suffix(".py")
        files = [f"ports/{each.name}" for each in (path, script) if each.exists()]
        found[path.stem] = Example(path.stem.replace("_", " "), files)
    return found


def opening(text):
    """The comment with which a program begins, after the licence."""
    lines = text.split("\n")
    lines = [line for line in lines if not line.startswith(("#!", "// SPDX", "# SPDX"))]
    found = []
    for line in lines:
        if not line.startswith("//") or line.startswith("// Usage:"):
            break
        found.append(re.sub(r"^// ?", "", line))
    return found


def output_of(root, name):
    """What was recorded, of a port by PyTorch; None where nothing was."""
    for path in (root / f"docs/site/output/{name}.txt",
                 root / f"examples/ports/expected/{name}.txt"):
        if path.exists():
            return path.read_text(encoding="utf-8")
    return None


def listing(root, path):
    text = (root / "examples" / path).read_text(encoding="utf-8")
    text = re.sub(r"^(?:#!.*\n)?(?://|#) SPDX.*\n", "", text)
    return f"### {path}\n\n````{LANGUAGES[Path(path).suffix]}\n{text.rstrip()}\n````"


def page(root, name, example):
    first = (root / "examples" / example.files[0]).read_text(encoding="utf-8")
    parts = [f"# {example.title}", prose.markdown(opening(first))]
    output = output_of(root, name)
    if output and not example.command:
        parts += ["## What it prints", "As PyTorch printed it; the C program agrees to rounding.",
                  f"```text\n{output.rstrip()}\n```"]
    elif output:
        words = " ".join([f"{key}={value}" for key, value in example.environment.items()]
                         + ["build/examples/" + example.command[0], *example.command[1:]])
        parts += ["## What it prints", f"```console\n$ {words}\n{output.rstrip()}\n```"]
    parts += ["## The program", *(listing(root, path) for path in example.files)]
    return "\n\n".join(parts) + "\n"


def index(root, shown):
    """`shown` is {page: (name, Example)}."""
    parts = ["# Examples",
             "What the programs in `examples` show, their sources, and what they print."]
    for where, (_, example) in shown.items():
        first = (root / "examples" / example.files[0]).read_text(encoding="utf-8")
        parts.append(f"## [{example.title}]({where})\n\n{prose.markdown(opening(first))}")
    names = "\n".join([*shown, *(["ports.md"] if ports(root) else [])])
    if ports(root):
        parts.append("## [PyTorch scripts and the same programs](ports.md)\n\n"
                     "Scripts for PyTorch, and beside each the same program in C.")
    parts.append(f"```{{toctree}}\n:hidden:\n\n{names}\n```")
    return "\n\n".join(parts) + "\n"
