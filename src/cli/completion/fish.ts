/** Completion for fish. */
import { byNoun, type DescribedCommand, type DescribedFlag, type Values } from './described-commands.ts';

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
