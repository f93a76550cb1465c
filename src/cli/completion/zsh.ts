/** Completion for zsh. */
import { byNoun, type DescribedCommand, type Values } from './described-commands.ts';

export function zshCompletion(commands: readonly DescribedCommand[]): string {
  const groups = byNoun(commands);
  const nouns = [...groups].map(([noun, ones]) => described(noun, ones[0]?.verb === null ? ones[0].about : ''));
  const verbs = [...groups].flatMap(([noun, ones]) => {
    const names = ones.flatMap(({ verb, about }) => (verb === null ? [] : [described(verb, about)]));
    return names.length === 0 ? [] : [`    ${noun}) names=(${names.join(' ')}) ;;`];
  });
  const takesValue = [
    ...new Set(commands.flatMap((one) => one.flags.flatMap(({ flag, values }) => (values === null ? [] : [flag])))),
  ];
  const values = commands.flatMap((one) =>
    one.flags.flatMap(({ flag, values: known }) =>
      known === null || known.kind === 'none' ? [] : [`    ${patternOf(one, `:${flag}`)}) ${added(known)}; return ;;`],
    ),
  );
  const flags = commands.map(
    (one) => `      ${patternOf(one)}) compadd -- ${one.flags.map(({ flag }) => flag).join(' ')} ;;`,
  );
  const operands = commands.flatMap((one) =>
    one.operands.kind === 'none' ? [] : [`    ${patternOf(one)}) ${added(one.operands)} ;;`],
  );
  return `#compdef gatehouse
# Completion of gatehouse for zsh. For this shell: source <(gatehouse completion zsh)
_gatehouse() {
  local cur=\${words[CURRENT]} prev=\${words[CURRENT-1]} first='' second='' word
  local -i at=2
  local -a names
  while (( at < CURRENT )); do
    word=\${words[at]}
    case $word in
      ${takesValue.join('|')}) (( at++ )) ;;
      -*) ;;
      *) if [[ -z $first ]]; then first=$word; elif [[ -z $second ]]; then second=$word; fi ;;
    esac
    (( at++ ))
  done
  case "$first $second:$prev" in
${values.join('\n')}
  esac
  case $prev in
    ${takesValue.join('|')}) return ;;
  esac
  if [[ $cur == -* ]]; then
    case "$first $second" in
${flags.join('\n')}
      *) compadd -- --help --version ;;
    esac
    return
  fi
  if [[ -z $first ]]; then
    names=(${nouns.join(' ')})
    _describe command names
    return
  fi
  if [[ -z $second ]]; then
    case $first in
${verbs.join('\n')}
    esac
    if (( \${#names} )); then
      _describe command names
      return
    fi
  fi
  case "$first $second" in
${operands.join('\n')}
  esac
}
if [[ \${funcstack[1]} == _gatehouse ]]; then _gatehouse "$@"; else compdef _gatehouse gatehouse; fi
`;
}

function described(name: string, about: string): string {
  return `'${name}${about === '' ? '' : `:${about.replaceAll(':', '')}`}'`;
}

function patternOf({ noun, verb }: DescribedCommand, end = ''): string {
  return verb === null ? `'${noun} '*${end}` : `'${noun} ${verb}${end}'`;
}

function added(values: Values): string {
  return values.kind === 'words' ? `compadd -- ${values.words.join(' ')}` : '_files';
}
