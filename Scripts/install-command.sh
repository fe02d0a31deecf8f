#!/bin/sh
# Builds the command 'garage' and installs it below a folder, with its man page and completions.
#
#   install-command.sh PREFIX
set -eu
cd "$(dirname "$0")/.."

prefix=${1:?the folder to install to, such as /usr/local}
command=$(make --silent garage | tail -n 1)
put() { install -D -m "$1" "$2" "$prefix/$3"; }

put 755 "$command" bin/garage
put 644 Docs/garage.1 share/man/man1/garage.1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
for shell in bash zsh fish; do "$command" --generate-completion-script "$shell" >"$folder/$shell"; done
put 644 "$folder/bash" share/bash-completion/completions/garage
put 644 "$folder/zsh" share/zsh/site-functions/_garage
put 644 "$folder/fish" share/fish/vendor_completions.d/garage.fish
echo "garage: installed below $prefix"
