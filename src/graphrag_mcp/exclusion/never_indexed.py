"""Lists what is never indexed, whatever the rules are: files of version control, secrets and binaries.

The decision depends on the name alone, also for a deleted file, and ignores case (`ID_RSA` is like `id_rsa`).
"""

import re

from graphrag_mcp.exclusion.patterns import Exclusion, ExclusionKind


def find_barrier(name: str, parent: str, *, is_folder: bool) -> Exclusion | None:
    """Return why a file or folder with this name is never indexed, None if it may. parent: its folder's name."""
    if name in _VCS:
        return Exclusion(ExclusionKind.VCS, name)
    name = name.lower()
    if is_folder:
        return Exclusion(ExclusionKind.SECRET, f"{name}/") if name in _SECRET_FOLDERS else None
    if secret := _find_secret(name, parent.lower()):
        return Exclusion(ExclusionKind.SECRET, secret)
    suffix = name[name.rfind(".") :]
    return Exclusion(ExclusionKind.BINARY, f"*{suffix}") if suffix in _BINARY_SUFFIXES else None


def _find_secret(name: str, parent: str) -> str:
    """Return the pattern of secrets that the name matches, or the secret file of which it is a copy; "" if none."""
    name = _COPY.sub("", name)
    if name.startswith(".dev.vars"):
        return ".dev.vars*" if _ENV_TEMPLATES.isdisjoint(name.split(".")) else ""
    if name.startswith(".env") or name.endswith(".env"):
        # `.env.example` has names without values.
        return ".env*" if _ENV_TEMPLATES.isdisjoint(name.split(".")) else ""
    if _STAGED.fullmatch(name):
        return "env.*"
    if name.endswith(".auto.tfvars"):
        return "*.auto.tfvars"
    if name in _SECRET_NAMES:
        return name
    suffix = name[name.rfind(".") :]
    if suffix in _SECRET_SUFFIXES:
        return f"*{suffix}"
    if suffix == ".json" and (part := next((part for part in _SECRET_JSON_PARTS if part in name), "")):
        return f"*{part}*.json"
    return f"{parent}/{name}" if (parent, name) in _SECRET_PATHS else ""


_VCS = frozenset({".git", ".hg", ".svn", ".bzr", ".jj", ".sl", "_darcs", ".pijul", "CVS"})

_COPY = re.compile(r"(?:~|\.(?:bak|backup|old|orig|save|copy))+\Z")  # Backup copies have these suffixes.
_STAGED = re.compile(r"env\.(?:prod|production|stage|staging|dev|development|test|local)")  # `env.d.ts` has types.
_SECRET_FOLDERS = frozenset({".ssh", ".gnupg", ".password-store"})
_CREDENTIAL_FILES = """
id_rsa id_dsa id_ecdsa id_ecdsa_sk id_ed25519 id_ed25519_sk
.netrc _netrc .pgpass .my.cnf .npmrc .pypirc .git-credentials .htpasswd .dockercfg .s3cfg .boto .vault-token
.vault_pass .vault_password .terraformrc terraform.rc terraform.tfvars terraform.tfvars.json kubeconfig
.bash_history .zsh_history .sh_history fish_history .python_history .node_repl_history
.psql_history .mysql_history .sqlite_history .rediscli_history
credentials credentials.json credentials.toml credentials.yml credentials.yaml application_default_credentials.json
secrets.json secrets.toml secrets.yml secrets.yaml secrets.txt secret.json secret.toml secret.yml secret.yaml secret.txt
vault.yml vault.yaml local.settings.json auth.json filezilla.xml sitemanager.xml .renviron credentials.csv
key.txt keys.txt token.txt tokens.txt password.txt passwords.txt passwords.csv credentials.txt accesskeys.csv
"""
_SECRET_NAMES = frozenset(_CREDENTIAL_FILES.split())
_KEY_FILES = "pem key p8 p12 pfx pkcs12 ppk jks keystore kdb kdbx agekey ovpn tfstate"
_SECRET_SUFFIXES = frozenset(f".{suffix}" for suffix in _KEY_FILES.split())
_SECRET_JSON_PARTS = ("service-account", "service_account", "client_secret")
_SECRET_PATHS = frozenset({(".aws", "config"), (".docker", "config.json"), (".kube", "config"), ("gh", "hosts.yml")})
_ENV_TEMPLATES = frozenset({"example", "sample", "template", "dist"})

_BINARY_FILES = """
png jpg jpeg jpe jfif gif bmp ico icns tif tiff webp avif heic heif jxl psd ai eps xcf cr2 nef dds tga exr hdr
mp3 wav flac ogg oga opus m4a aac wma aiff mid midi
mp4 m4v mov avi mkv webm wmv flv mpg mpeg 3gp
ttf otf woff woff2 eot ttc pfb
zip tar gz tgz bz2 tbz xz txz zst lz lz4 lzma 7z rar br cab iso dmg img vhd vmdk qcow2
jar war ear aar apk aab ipa deb rpm msi snap appimage whl egg gem nupkg crx xpi vsix
o obj a lib so dylib dll exe bin elf class pyc pyo pyd beam wasm rlib rmeta pdb ilk node
db db3 sqlite sqlite3 mdb accdb ibd myd dbf rdb ldb
pdf doc docx xls xlsx xlsm xlsb ppt pptx pps ppsx odt ods odp odg rtf pages numbers epub mobi djvu vsd vsdx
safetensors onnx pt pth ckpt h5 hdf5 pb tflite gguf ggml npy npz pkl pickle joblib mat rds rdata
parquet feather arrow avro orc pack idx mo gpg pgp enc der crt cer keychain
blend fbx glb 3ds stl dwg skp unitypackage uasset swf fla sketch fig xd
"""
_BINARY_SUFFIXES = frozenset(f".{suffix}" for suffix in _BINARY_FILES.split())
