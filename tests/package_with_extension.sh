#!/bin/sh
# Lays out FOLDER/package, which Python imports `pathweave` from: links to the sources, and the extension, metadata and
# command of the wheel in FOLDER/wheel.
set -eu
folder=$1
package=$folder/package
sources=$PWD/python/pathweave

rm -rf "$package"
uv pip install --quiet --offline --no-deps --python .venv/bin/python --target "$package" "$folder"/wheel/*.whl
find "$package/pathweave" -mindepth 1 -maxdepth 1 ! -name '_core*.so' -exec rm -rf {} +
for each in "$sources"/*; do
	case $each in
		*/_core*.so|*/__pycache__) ;;
		*) ln -s "$each" "$package/pathweave/" ;;
	esac
done
