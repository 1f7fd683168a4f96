#!/usr/bin/env bash
# Gradescope runs this once, as root, when it builds the image.  It ends with an error, and the
# build with it, rather than leave an autograder that fails at the first student.
#
# Settings: change them here, or give them in the environment.  pip's own variables hold besides,
# such as PIP_INDEX_URL for a mirror.
: "${PYTHON:=python3}"               # 3.10 or later; the system's own stays as it is
: "${TORCH:=torch==2.13.0+cpu}"      # the label +cpu keeps pip from taking a CUDA build
: "${TORCH_INDEX=}"                 # PyTorch's index of CPU builds; empty: where pip looks anyway
: "${ROOT:=/autograder}"

set -euo pipefail
umask 022
source_folder=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
venv=$ROOT/venv
step="starting"

stop() {
  printf '\n*** The autograder was not built, while %s.\n*** %s\n' "$step" "$1" >&2
  exit 1
}
trap 'stop "What went wrong stands above."' ERR

step="looking for Python"
"$PYTHON" -c 'import sys; sys.exit(sys.version_info < (3, 10))' ||
  stop "Python 3.10 or later is needed and $PYTHON is not: choose Ubuntu 22.04 or later as base image."
if ! "$PYTHON" -c 'import ensurepip, venv' 2>/dev/null; then
  step="installing what makes virtual environments"
  version=$("$PYTHON" -c 'import sys; print("python%d.%d" % sys.version_info[:2])')
  apt-get update -qq ||
    stop "$PYTHON cannot make virtual environments, and Ubuntu's packages are out of reach."
  DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$version-venv" ||
    stop "$PYTHON cannot make virtual environments, and $version-venv could not be installed."
fi

step="making a virtual environment in $venv"
"$PYTHON" -m venv "$venv"
pip=("$venv/bin/python" -m pip install --quiet --disable-pip-version-check --no-cache-dir
     --no-deps --only-binary :all:)

step="installing $TORCH"
"${pip[@]}" ${TORCH_INDEX:+--index-url "$TORCH_INDEX"} "$TORCH" ||
  stop "The CPU build of torch was not found. Is TORCH_INDEX in setup.sh PyTorch's index of CPU builds?"

step="installing what the grader needs"
"${pip[@]}" --requirement "$source_folder/requirements.txt"
"${pip[@]}" --no-index --force-reinstall "$source_folder"/wheels/*.whl
"$venv/bin/python" -m pip check ||
  stop "The packages do not fit together: the versions in requirements.txt are those to look at."
"$venv/bin/python" -I -c 'import sys, torch; sys.exit(torch.version.cuda is not None)' ||
  stop "torch cannot be imported, or is a CUDA build, which is too large for the container."

step="closing the tests to student code"
chmod -R go-rwx "$source_folder" "$venv"/lib/python*/site-packages/grader

step="grading the solution"
"$venv/bin/python" -I -m grader.gradescope check "$source_folder/assignment/rubric.yaml" ||
  stop "The solution does not earn every point here, so no student would be graded rightly."
