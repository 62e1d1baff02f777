"""Lists what is ignored in a project that has no ignore file of its own.

What can be generated again, and the files in which `graphrag-mcp init` enters its server: a search should not find
itself. Archives are not in the list: they are indexed and marked.
"""

DEFAULT_SOURCE = "built-in defaults"

# Some projects have sources in these: what git tracks there is indexed.
MAY_BE_SOURCES = ("build/", "target/", "coverage/")

DEFAULT_PATTERNS = """
node_modules/
bower_components/
jspm_packages/
.yarn/
.pnp.*
.pnpm-store/
.venv/
.env/
venv/
virtualenv/
site-packages/
__pycache__/
__pypackages__/
*.egg-info/
.eggs/
Pods/
Carthage/
elm-stuff/
.bundle/

dist/
build/
target/
.build/
.next/
.nuxt/
.output/
.svelte-kit/
.astro/
.docusaurus/
.vercel/
.netlify/
.serverless/
.aws-sam/
.terraform/
.gradle/
.dart_tool/
.stack-work/
dist-newstyle/
.zig-cache/
zig-cache/
zig-out/
DerivedData/
storybook-static/
cmake-build-*/
CMakeFiles/

.cache/
.parcel-cache/
.turbo/
.nx/
.angular/
.sass-cache/
.mypy_cache/
.ruff_cache/
.pytest_cache/
.hypothesis/
.tox/
.nox/
.ipynb_checkpoints/
.coverage
coverage/
htmlcov/
.nyc_output/

.mcp.json
.cursor/mcp.json
.codex/config.toml
.gemini/settings.json
opencode.json
opencode.jsonc
.zed/settings.json
.junie/mcp/mcp.json

.idea/
.vscode/
.vs/
.DS_Store
Thumbs.db
*~
.#*
*.swp
*.swo
*.tmp
*.temp
*.log
*.pyc
"""
