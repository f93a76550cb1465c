/** Adds an entry of a list to a compile, by its key: a million addresses are compiled without their texts. */
import { lengthOf, ruleOfKey, wordAt } from '../../lists/entry-key.ts';
import type { RulesetCompiler } from '../../rules/compiler.ts';
import type { RuleContent } from '../../rules/types.ts';

const words = new Uint32Array(4);

export function addEntry(compiler: RulesetCompiler, key: string, rule: RuleContent): void {
  const kind = key.charAt(0);
  if (kind !== '4' && kind !== '6') {
    compiler.add({ ...ruleOfKey(key), ...rule });
    return;
  }
  for (let w = 0; w < (kind === '4' ? 1 : 4); w++) words[w] = wordAt(key, 1 + 8 * w);
  compiler.addNetwork(kind === '4' ? 4 : 6, words, lengthOf(key), rule);
}
