#!/usr/bin/env bash
# Installs what ingot is built and tested with: the Debian packages of packages.txt (as root, only the missing ones) and, into a virtual
# environment given as the first argument, the Python packages of requirements.txt. Without an argument only the Debian packages.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)

missing=()
while read -r package; do
  dpkg-query -W -f '${db:Status-Status}\n' "$package" 2>/dev/null | grep -qx installed || missing+=("$package")
done < <(grep -v '^#' "$here/packages.txt")
if ((${#missing[@]})); then
  echo "installing: ${missing[*]}"
  export DEBIAN_FRONTEND=noninteractive
  apt-get update -q
  apt-get install -q -y --no-install-recommends "${missing[@]}"
fi

venv=${1:-}
if [[ -n $venv ]] && ! cmp -s "$here/requirements.txt" "$venv/requirements.txt"; then
  /usr/bin/python3 -m venv "$venv"
  "$venv/bin/pip" install -q --disable-pip-version-check -r "$here/requirements.txt"
  cp "$here/requirements.txt" "$venv/requirements.txt" # the mark that everything is there
fi
