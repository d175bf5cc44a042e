"""Which code a result depends on, and a hash of it that comments, docstrings and the Python version do not move.

    code_digest("data_prep.split", "data_prep.datasets.drift")

The import graph knows imports at module level and inside functions. What is imported by name (a data set's module)
it cannot see: such modules are given as roots of their own.
"""

import ast
import hashlib
from functools import cache
from pathlib import Path

import grimp

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("cams", "data_prep", "experiments")
# Names that say something about a module and compute nothing.
LABELS = {"__all__", "__version__"}


def code_digest(*roots: str) -> str:
    """One hash of all code that the root modules reach."""
    lines = (f"{module} {digest}\n" for module, digest in code_hashes(*roots).items())
    return hashlib.sha256("".join(lines).encode()).hexdigest()


def code_hashes(*roots: str) -> dict[str, str]:
    """Module -> hash of its code, for all modules that the roots reach and the packages they lie in.

    Importing `cams.errors` also runs `cams/__init__.py`. Of such a package only what it does itself counts, not what
    it imports for the convenience of others.
    """
    modules = reached(*roots)
    packages = {package for module in modules for package in parents(module)} - set(modules)
    hashes = {module: module_hash(module) for module in modules} | {name: package_hash(name) for name in packages}
    return dict(sorted(hashes.items()))


def reached(*roots: str) -> list[str]:
    """The root modules and all modules of this project that they import, however far down."""
    graph = import_graph()
    modules = set(roots)
    for root in roots:
        if root not in graph.modules:
            raise ValueError(f"there is no module '{root}' in {', '.join(PACKAGES)}")
        modules |= graph.find_upstream_modules(root)
    return sorted(modules)


@cache
def import_graph() -> grimp.ImportGraph:
    return grimp.build_graph(*PACKAGES, cache_dir=None)


def parents(module: str) -> list[str]:
    parts = module.split(".")
    return [".".join(parts[:i]) for i in range(1, len(parts))]


@cache
def module_hash(module: str) -> str:
    return hash_of(statements(module))


@cache
def package_hash(package: str) -> str:
    return hash_of([node for node in statements(package) if not isinstance(node, ast.Import | ast.ImportFrom)])


def statements(module: str) -> list[ast.stmt]:
    path = ROOT.joinpath(*module.split("."))
    file = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
    return ast.parse(file.read_text(encoding="utf-8")).body


def hash_of(nodes: list[ast.stmt]) -> str:
    return hashlib.sha256(canonical(nodes).encode()).hexdigest()


def canonical(node: object) -> str:
    """A syntax tree as text. Not `ast.dump`: versions of Python differ in the empty fields they add."""
    if isinstance(node, list):
        return f"[{','.join(canonical(entry) for entry in node if not is_label(entry))}]"
    if isinstance(node, ast.AST):
        fields = ((name, value) for name, value in ast.iter_fields(node) if value is not None and value != [])
        return f"{type(node).__name__}({','.join(f'{name}={canonical(value)}' for name, value in fields)})"
    return repr(node)


def is_label(node: object) -> bool:
    """Whether a statement computes nothing: a docstring, another bare string, or one of LABELS."""
    if isinstance(node, ast.Assign):
        return all(isinstance(target, ast.Name) and target.id in LABELS for target in node.targets)
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
