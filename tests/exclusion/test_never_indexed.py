"""What no rule can bring into the index."""

from pathlib import Path

import pytest
from project_files import write_files

from graphrag_mcp.exclusion.manager import ExclusionManager
from graphrag_mcp.exclusion.patterns import ExclusionKind


def explain_kind(root: Path, path: str, *, is_dir: bool = False) -> ExclusionKind | None:
    """Return what excludes the path in a project whose rules re-include everything."""
    found = ExclusionManager(write_files(root, graphragignore="!*\n")).explain(path, is_dir)
    return found.kind if found else None


@pytest.mark.requirement("K-04")
@pytest.mark.parametrize(
    "path",
    [
        *(".env", "app/.env.production", ".envrc", "deploy/prod.env", "id_rsa", "ID_RSA", "keys/id_ed25519", "tls.pem"),
        *("server.key", "a.p12", "a.pfx", "a.jks", "vault.kdbx", ".netrc", ".pgpass", ".npmrc", ".pypirc"),
        *("credentials.json", ".aws/credentials", ".docker/config.json", "infra/terraform.tfstate", ".ssh/known_hosts"),
        *("service-account-prod.json", "my_service_account.json", "client_secret_1.json", "config/secrets.yml"),
        *(
            "id_rsa.bak",
            "server.key.bak",
            ".netrc.bak",
            ".pgpass.old",
            "cert.pem~",
            ".env~",
            ".aws/credentials.orig.bak",
        ),
        *(".docker/config.json.bak", "terraform.tfstate.backup", "terraform.tfvars", ".dev.vars", ".dev.vars.staging"),
        *("env.prod", "deploy/env.local", "prod.auto.tfvars", "secret.json", "group_vars/all/vault.yml", ".Renviron"),
        *(
            "local.settings.json",
            "auth.json",
            "filezilla.xml",
            "passwords.txt",
            "key.txt",
            "key.txt.bak",
            "secret.yaml",
        ),
        *(".vault_pass", ".bash_history", ".zsh_history", "home/.psql_history"),
    ],
)
def test_secrets_are_never_indexed(path: str, tmp_path: Path) -> None:
    """Secrets are excluded by name, even where a rule re-includes everything."""
    assert explain_kind(tmp_path, path) is ExclusionKind.SECRET


@pytest.mark.requirement("000-47")
@pytest.mark.parametrize(
    "path",
    [
        *(".env.example", "app/.env.sample", ".env.template", "example.env", "id_rsa.pub", "secrets.py", "keys.py"),
        *("env.d.ts", "env.py", "wp-config.php", "appsettings.Production.json", "gradle.properties", "settings.xml"),
        *("passwords.py", "auth.ts", "vault.go", "key.md", "dump.sql", "environment.prod.ts", "nuget.config"),
        *("environment.ts", "config.json", "docker/config.json", "credentials.py", "src/key/store.go", "README.com"),
        *(
            "credentials.py.bak",
            "store.go~",
            ".dev.vars.example",
            "terraform.tfvars.example",
            "variables.tfvars",
            "history",
        ),
    ],
)
def test_what_only_looks_like_a_secret_is_indexed(path: str, tmp_path: Path) -> None:
    """Templates without values, public keys and code that deals with secrets stay."""
    assert explain_kind(tmp_path, path) is None


@pytest.mark.requirement("K-04")
@pytest.mark.parametrize(
    "path",
    ["logo.PNG", "a.tar.gz", "font.woff2", "talk.mp4", "lib/x.so", "app.db", "plan.docx", "m.wasm", "w.safetensors"],
)
def test_binaries_are_never_indexed(path: str, tmp_path: Path) -> None:
    """Binaries are excluded by extension, whatever its case."""
    assert explain_kind(tmp_path, path) is ExclusionKind.BINARY


@pytest.mark.requirement("K-04")
@pytest.mark.parametrize("path", [".git/config", "sub/.git/HEAD", ".hg/store", "old/.svn/entries"])
def test_version_control_is_never_indexed(path: str, tmp_path: Path) -> None:
    """Version control's own folders are excluded at any depth."""
    assert explain_kind(tmp_path, path) is ExclusionKind.VCS


@pytest.mark.requirement("K-04")
def test_the_git_file_of_a_submodule_is_version_control_too(tmp_path: Path) -> None:
    """`.git` may be a file."""
    assert explain_kind(tmp_path, "vendored/lib/.git") is ExclusionKind.VCS
