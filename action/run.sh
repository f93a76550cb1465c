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

[ -n "${GATEHOUSE_SERVICE:-}" ] || fail 'The input service is empty. Set it to the address of the service.'
[ -n "${GATEHOUSE_API_KEY:-}" ] ||
  fail 'The input api-key is empty. Set it to a secret of the repository. Pull requests from forks have no secrets.'

file="${GATEHOUSE_FILE:-gatehouse.yaml}"
command="${GATEHOUSE_COMMAND:-auto}"
if [ "$command" = auto ]; then
  case "${GITHUB_EVENT_NAME:-}" in
    push | workflow_dispatch) command=apply ;;
    *) command=plan ;;
  esac
fi
[ "$command" = plan ] || [ "$command" = apply ] || fail 'The input command is plan, apply or auto.'

# GATEHOUSE_CLI: another program in place of the npm package, for tests.
read -r -a cli <<<"${GATEHOUSE_CLI:-npx --yes @gatehouse/cli@${GATEHOUSE_VERSION:-latest}}"
read -r -a flags <<<"${GATEHOUSE_FLAGS:-}"
[ "$command" = plan ] || flags+=(--yes)

output="$(mktemp)"
trap 'rm -f "$output"' EXIT
status=0
"${cli[@]}" "$command" "$file" --text --service "$GATEHOUSE_SERVICE" ${flags[@]+"${flags[@]}"} >"$output" 2>&1 || status=$?

# Nothing in the output is a command for the runner.
token="stop-$RANDOM$RANDOM$RANDOM"
echo "::stop-commands::$token"
cat "$output"
echo
echo "::$token::"

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
