/** Completion for bash, from version 3.2 on, which macOS has. */
import { byNoun, type DescribedCommand, type Values } from './described-commands.ts';

export function bashCompletion(commands: readonly DescribedCommand[]): string {
  const groups = byNoun(commands);
  const verbs = [...groups].flatMap(([noun, ones]) => {
    const words = ones.flatMap(({ verb }) => (verb === null ? [] : [verb]));
    return words.length === 0 ? [] : [`    '${noun}') words='${words.join(' ')}' ;;`];
  });
  const flags = commands.map(
    (one) => `    ${patternOf(one)}) flags='${one.flags.map(({ flag }) => flag).join(' ')}' ;;`,
  );
  const values = commands.flatMap((one) =>
    one.flags.flatMap(({ flag, values: known }) =>
      known === null || known.kind === 'none' ? [] : [`    ${patternOf(one, `:${flag}`)}) ${assigned(known)} ;;`],
    ),
  );
  const takesValue = [
    ...new Set(commands.flatMap((one) => one.flags.flatMap((of) => (of.values === null ? [] : [of.flag])))),
  ];
  const operands = commands.flatMap((one) =>
    one.operands.kind === 'none' ? [] : [`    ${patternOf(one)}) ${assigned(one.operands)} ;;`],
  );
  return `# Completion of gatehouse for bash. For this shell: source <(gatehouse completion bash)
_gatehouse() {
  local cur=\${COMP_WORDS[COMP_CWORD]} prev=\${COMP_WORDS[COMP_CWORD-1]}
  # bash takes --flag=value apart.
  if [[ $prev == '=' ]]; then prev=\${COMP_WORDS[COMP_CWORD-2]}; fi
  if [[ $cur == '=' ]]; then cur=''; fi
  local first='' second='' at word
  for ((at = 1; at < COMP_CWORD; at++)); do
    word=\${COMP_WORDS[at]}
    case $word in
      ${takesValue.join('|')}) ((at++)) ;;
      -*|=) ;;
      *) if [[ -z $first ]]; then first=$word; elif [[ -z $second ]]; then second=$word; fi ;;
    esac
  done
  local flags='' words='' files=''
  case "$first $second:$prev" in
${values.join('\n')}
  esac
  if [[ -z $words$files && $prev == -* ]]; then
    case $prev in
      ${takesValue.join('|')}) return ;;
    esac
  fi
  if [[ -z $words$files && $cur == -* ]]; then
    flags='--help --version'
    case "$first $second" in
${flags.join('\n')}
    esac
    words=$flags
  elif [[ -z $words$files && -z $first ]]; then
    words='${[...groups.keys(), 'help'].join(' ')}'
  elif [[ -z $words$files && -z $second ]]; then
    case $first in
${verbs.map((line) => `  ${line}`).join('\n')}
    esac
  fi
  if [[ -z $words$files && $cur != -* ]]; then
    case "$first $second" in
${operands.map((line) => `  ${line}`).join('\n')}
    esac
  fi
  local IFS=$' \\t\\n'
  if [[ -n $files ]]; then
    compopt -o filenames 2>/dev/null
    IFS=$'\\n'
    COMPREPLY=($(compgen -f -- "$cur"))
  else
    COMPREPLY=($(compgen -W "$words" -- "$cur"))
  fi
}
complete -F _gatehouse gatehouse
`;
}

/** A command of one word has operands where others have their second word. */
function patternOf({ noun, verb }: DescribedCommand, end = ''): string {
  return verb === null ? `'${noun} '*${end}` : `'${noun} ${verb}${end}'`;
}

function assigned(values: Values): string {
  return values.kind === 'words' ? `words='${values.words.join(' ')}'` : 'files=1';
}
