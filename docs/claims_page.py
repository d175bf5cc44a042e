"""The claims ledger as a page of the site: results/claims.md with its pictures found from here, and links led to it."""

from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page


def on_files(files: Files, config: MkDocsConfig) -> Files:
    ledger = Path(config.config_file_path).parent / "results" / "claims.md"
    text = ledger.read_text(encoding="utf-8").replace("](figures/", "](../results/figures/")
    files.append(File.generated(config, "claims.md", content=text))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    return markdown.replace("../results/claims.md", "claims.md")
