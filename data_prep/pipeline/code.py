"""What code a data set runs, as a file DVC can watch: one hash per module of data_prep it reaches by imports.

The stages of a data set depend on this file instead of on a list of modules kept by hand: no module is forgotten,
and an edit reruns only the data sets that use it. Comments and docstrings do not count.

python -m data_prep.pipeline.code dataset=drift
"""

import ast
import hashlib
from collections.abc import Iterator
from pathlib import Path

from data_prep.pipeline.context import Context
from data_prep.pipeline.dataset import MODULES
from data_prep.pipeline.files import save_json
from data_prep.pipeline.stage import entry_point

ROOT = Path(__file__).resolve().parents[2]


def run(context: Context) -> None:
    reached: set[str] = set()
    collect(MODULES[context.dataset], reached)
    hashes = {module: code_hash(module) for module in sorted(reached)}
    save_json(context.work / "code" / f"{context.dataset}.json", hashes)


def collect(module: str, reached: set[str]) -> None:
    """Add a module of data_prep and all that it imports from data_prep."""
    if module in reached:
        return
    reached.add(module)
    for imported in imports(parse(module)):
        collect(imported, reached)


def imports(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and str(node.module).startswith("data_prep."):
            yield str(node.module)


def code_hash(module: str) -> str:
    """Hash of the syntax tree without docstrings; comments are not in the tree."""
    tree = parse(module)
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and ast.get_docstring(node) is not None:
            node.body = node.body[1:]
    return hashlib.sha256(ast.dump(tree).encode()).hexdigest()


def parse(module: str) -> ast.Module:
    return ast.parse((ROOT / f"{module.replace('.', '/')}.py").read_text())


main = entry_point(run)

if __name__ == "__main__":
    main()
