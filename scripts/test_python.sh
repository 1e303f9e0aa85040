#!/usr/bin/env bash
# Builds the Python package and runs its tests, where Python 3.11 or later, maturin, numpy and pytest are there; says what is
# missing where not. Touches nothing outside target/. PYTHON names another interpreter, further words go to pytest.
set -euo pipefail
cd "$(dirname "$0")/.."
python=${PYTHON:-python3}

skip() {
    echo "Python tests skipped: $1 (docs/python.md says how to get it)"
    exit 0
}

command -v "$python" >/dev/null || skip "no $python"
"$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' || skip "$python is older than 3.11"
# In the interpreter's own environment, or else on the path.
if "$python" -c 'import maturin' 2>/dev/null; then maturin=("$python" -m maturin); else maturin=(maturin); fi
command -v "${maturin[0]}" >/dev/null || skip "no maturin"
for module in numpy pytest pip; do
    "$python" -c "import $module" 2>/dev/null || skip "no $module for $python"
done

rm -rf target/python-tests
"${maturin[@]}" build --quiet --profile dev --interpreter "$python" --out target/python-tests/wheel
"$python" -m pip install --quiet --no-deps --no-index --target target/python-tests/site target/python-tests/wheel/aerofed-*.whl
export MYPY_CACHE_DIR="$PWD/target/mypy"
# The package as it was built, not the folder of its sources.
PYTHONPATH="$PWD/target/python-tests/site${PYTHONPATH:+:$PYTHONPATH}" "$python" -m pytest crates/py/tests "$@"
