/** The scripts that complete commands, flags and values in bash, zsh and fish. */

/** What can follow a flag, or stand in a place. */
export type Values = { kind: 'words'; words: readonly string[] } | { kind: 'files' } | { kind: 'none' };

export interface DescribedFlag {
  /** With its dashes. */
  flag: string;
  /** `null`: the flag has no value. */
  values: Values | null;
}

export interface DescribedCommand {
  noun: string;
  /** `null`: the command is one word. */
  verb: string | null;
  about: string;
  flags: DescribedFlag[];
  /** The values that any operand of the command can have. */
  operands: Values;
}

/** From version 3.2 on, which macOS has. */
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
      ${flagsWithValue(commands)}) ((at++)) ;;
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
      ${flagsWithValue(commands)}) return ;;
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

function assigned(values: Values): string {
  return values.kind === 'words' ? `words='${values.words.join(' ')}'` : 'files=1';
}

export function zshCompletion(commands: readonly DescribedCommand[]): string {
  const groups = byNoun(commands);
  const nouns = [...groups].map(([noun, ones]) => described(noun, ones[0]?.verb === null ? ones[0].about : ''));
  const verbs = [...groups].flatMap(([noun, ones]) => {
    const names = ones.flatMap(({ verb, about }) => (verb === null ? [] : [described(verb, about)]));
    return names.length === 0 ? [] : [`    ${noun}) names=(${names.join(' ')}) ;;`];
  });
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
      ${flagsWithValue(commands)}) (( at++ )) ;;
      -*) ;;
      *) if [[ -z $first ]]; then first=$word; elif [[ -z $second ]]; then second=$word; fi ;;
    esac
    (( at++ ))
  done
  case "$first $second:$prev" in
${values.join('\n')}
  esac
  case $prev in
    ${flagsWithValue(commands)}) return ;;
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

function added(values: Values): string {
  return values.kind === 'words' ? `compadd -- ${values.words.join(' ')}` : '_files';
}

export function fishCompletion(commands: readonly DescribedCommand[]): string {
  const lines = ['# Completion of gatehouse for fish. For this shell: gatehouse completion fish | source'];
  lines.push('complete -c gatehouse -f');
  for (const [noun, ones] of byNoun(commands)) {
    const [only] = ones;
    const about = only?.verb === null ? ` -d '${only.about}'` : '';
    lines.push(`complete -c gatehouse -n __fish_use_subcommand -a ${noun}${about}`);
    const verbs = ones.flatMap(({ verb }) => (verb === null ? [] : [verb]));
    for (const one of ones) {
      if (one.verb !== null) lines.push(verbLine(one, verbs));
      const at = conditionOf(one);
      for (const flag of one.flags) lines.push(`complete -c gatehouse -n '${at}' ${flagText(flag)}`);
      if (one.operands.kind === 'words')
        lines.push(`complete -c gatehouse -n '${at}' -a '${one.operands.words.join(' ')}'`);
      if (one.operands.kind === 'files') lines.push(`complete -c gatehouse -n '${at}' -F`);
    }
  }
  return `${lines.join('\n')}\n`;
}

function verbLine({ noun, verb, about }: DescribedCommand, verbs: readonly string[]): string {
  const at = `__fish_seen_subcommand_from ${noun}; and not __fish_seen_subcommand_from ${verbs.join(' ')}`;
  return `complete -c gatehouse -n '${at}' -a ${verb} -d '${about}'`;
}

function conditionOf({ noun, verb }: DescribedCommand): string {
  const ofNoun = `__fish_seen_subcommand_from ${noun}`;
  return verb === null ? ofNoun : `${ofNoun}; and __fish_seen_subcommand_from ${verb}`;
}

function flagText({ flag, values }: DescribedFlag): string {
  return `-l ${flag.slice(2)}${values === null ? '' : valueText(values)}`;
}

function valueText(values: Values): string {
  if (values.kind === 'files') return ' -r -F';
  return values.kind === 'words' ? ` -x -a '${values.words.join(' ')}'` : ' -x';
}

/** A command of one word has operands where others have their second word. */
function patternOf({ noun, verb }: DescribedCommand, end = ''): string {
  return verb === null ? `'${noun} '*${end}` : `'${noun} ${verb}${end}'`;
}

/** As a pattern of the shell. */
function flagsWithValue(commands: readonly DescribedCommand[]): string {
  const flags = commands.flatMap((one) => one.flags.flatMap(({ flag, values }) => (values === null ? [] : [flag])));
  return [...new Set(flags)].join('|');
}

/** The commands by their first word, in the order of the table. */
function byNoun(commands: readonly DescribedCommand[]): Map<string, DescribedCommand[]> {
  const groups = new Map<string, DescribedCommand[]>();
  for (const one of commands) groups.set(one.noun, [...(groups.get(one.noun) ?? []), one]);
  return groups;
}
