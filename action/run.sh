#!/usr/bin/env bash
# Plans or applies a configuration file, and writes what it did into the summary of the job. A plan that differs is no
# failure; a rejected file is.
set -euo pipefail

# The summary of a step has at most 1 MiB.
SUMMARY_MAX_BYTES=200000

fail() {
  echo "::error::$1"
  exit 1
}

# Nothing in the output is a command for the runner.
quoted() {
  local token="stop-$RANDOM$RANDOM$RANDOM"
  echo "::stop-commands::$token"
  cat "$output"
  echo
  echo "::$token::"
}

[ -n "${GATEHOUSE_SERVICE:-}" ] || fail 'The input service is empty. Set it to the address of the service.'
[ -n "${GATEHOUSE_API_KEY:-}" ] ||
  fail 'The input api-key is empty. Set it to a secret of the repository. Pull requests from forks have no secrets.'

file="${GATEHOUSE_FILE:-gatehouse.yaml}"
command="${GATEHOUSE_COMMAND:-auto}"
if [ "$command" = auto ]; then
  case "${GITHUB_EVENT_NAME:-}:${GITHUB_REF:-}" in
    "push:refs/heads/${GATEHOUSE_DEFAULT_BRANCH:-}" | "workflow_dispatch:refs/heads/${GATEHOUSE_DEFAULT_BRANCH:-}")
      command=apply
      ;;
    *) command=plan ;;
  esac
fi
[ "$command" = plan ] || [ "$command" = apply ] || fail 'The input command is plan, apply or auto.'

version="${GATEHOUSE_VERSION:-}"
[ -n "$version" ] || version="$(node -p 'require(process.argv[1]).version' "$GITHUB_ACTION_PATH/../packages/cli/package.json")"
[[ "$version" =~ ^[0-9A-Za-z.-]+$ ]] || fail 'The input version is no version. Use one such as 0.1.0.'

# In a folder of its own: the checkout, which a pull request can change, has an .npmrc and node_modules too. No script of
# a package runs, and npm gets no key.
folder="$(mktemp -d "${RUNNER_TEMP:-/tmp}/gatehouse.XXXXXX")"
output="$folder/output"
trap 'rm -rf "$folder"' EXIT
echo '{"private":true}' >"$folder/package.json"
(
  cd "$folder" &&
    unset GATEHOUSE_API_KEY NPM_CONFIG_USERCONFIG &&
    npm_config_userconfig="$folder/npmrc" npm install --ignore-scripts --no-audit --no-fund --loglevel=error \
      "@gatehouse/cli@$version" >"$output" 2>&1
) || {
  quoted
  fail "@gatehouse/cli@$version could not be installed. The log of this step says why."
}

read -r -a flags <<<"${GATEHOUSE_FLAGS:-}"
[ "$command" = plan ] || flags+=(--yes)

status=0
"$folder/node_modules/.bin/gatehouse" "$command" "$file" --text --service "$GATEHOUSE_SERVICE" ${flags[@]+"${flags[@]}"} >"$output" 2>&1 || status=$?

quoted

{
  echo "### gatehouse $command"
  echo
  echo '<pre>'
  head -c "$SUMMARY_MAX_BYTES" "$output" | sed -e 's/&/\&amp;/g' -e 's/</\&lt;/g' -e 's/>/\&gt;/g'
  echo '</pre>'
} >>"${GITHUB_STEP_SUMMARY:-/dev/null}"

plan="$(sed -n 's/^Plan \([0-9a-f]\{16\}\): .*/\1/p' "$output" | tail -n 1)"
changed=false
[ -z "$plan" ] || changed=true
{
  echo "plan=$plan"
  echo "changed=$changed"
} >>"${GITHUB_OUTPUT:-/dev/null}"

case "$command:$status" in
  *:0 | plan:2) exit 0 ;;
  *) fail "gatehouse $command failed. The log of this step and the summary of the job say why." ;;
esac
