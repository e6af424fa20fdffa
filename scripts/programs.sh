#!/usr/bin/env bash
# The programs that make targets need and pip cannot install: asked for all at once, before anything is made.
#
#     scripts/programs.sh test        what `make test` needs
#     scripts/programs.sh unit pdf    what these two need
#
# What is missing is installed where that may be done without asking (root, or sudo without a password, and apt-get).
# Elsewhere it is named, with the line to type.
set -euo pipefail
cd "$(dirname "$0")/.."

needed_by() {
  case $1 in
    make) echo make ;;
    test | check) echo git node chromium bwrap ;;
    unit | coverage | matrix) echo git node bwrap ;;
    colab) echo git ;;
    myst) echo node ;;
    browser | bench) echo node chromium ;;
    pdf) echo chromium tex ;;
    image) echo docker ;;
  esac
}

has() { command -v "$1" >/dev/null; }

is_there() {
  case $1 in
    chromium) if [ -n "${CHROMIUM:-}" ]; then has "$CHROMIUM"; else has chromium-headless-shell || has chromium || has google-chrome; fi ;;
    tex) has latexmk && has xelatex ;;
    bwrap) [ "$(uname)" != Linux ] || has bwrap ;; # built of what Linux alone has: see `make unit`
    *) has "$1" ;;
  esac
}

packages_of() { # on Debian and Ubuntu
  case $1 in
    node) echo nodejs ;;
    chromium) echo chromium-headless-shell ;;
    bwrap) echo bubblewrap ;;
    docker) echo docker.io ;;
    tex) sed -n "s/^TEX *:= *//p" Makefile ;;
    *) echo "$1" ;;
  esac
}

missing=() packages=()
for target in "$@"; do
  for program in $(needed_by "$target"); do
    if is_there "$program" || [[ " ${missing[*]-} " == *" $program "* ]]; then continue; fi
    missing+=("$program")
    read -ra names <<<"$(packages_of "$program")"
    packages+=("${names[@]}")
  done
done
[ ${#missing[@]} -gt 0 ] || exit 0

as_root=()
if [ "$(id -u)" != 0 ]; then as_root=(sudo -n); fi
if has apt-get && { [ "$(id -u)" = 0 ] || { has sudo && sudo -n true 2>/dev/null; }; }; then
  echo "==> installing ${packages[*]}"
  "${as_root[@]}" apt-get update -qq &&
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq "${packages[@]}" >/dev/null && exit 0
fi
echo "make $* needs programs that are not here: ${missing[*]}."
echo "  Debian, Ubuntu: sudo apt-get install ${packages[*]}"
echo "  macOS: brew install the same, with mactex for tex"
echo "  Ubuntu and macOS have no such Chromium. Any other, or Chrome, will do: CHROMIUM=/path/to/it make $*"
exit 1
