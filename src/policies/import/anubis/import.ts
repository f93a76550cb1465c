/** Reads a policy file of Anubis: the rules under `bots`, in YAML or JSON. */
import { isJsonObject } from '../../../bytes/json.ts';
import { POLICIES_MAX } from '../../../contract/management/policy-set/policy.ts';
import { failed, ok, type Result } from '../../../result.ts';
import { PolicyNames } from '../names.ts';
import { type ImportedRule, type ImportReport, type ImportSettings, NotExpressible } from '../report.ts';
import { takenRule } from '../taken-rule.ts';
import { readYaml } from './document.ts';
import { readAnubisRule } from './rule.ts';

const NOTES_MAX = 20;

/** Fails for a file that holds no rules. A rule that cannot be taken is in the report. */
export function importAnubisPolicy(content: string, { mode }: ImportSettings): Result<ImportReport, string> {
  const document = readYaml(content);
  if (!document.ok) return document;
  const bots = isJsonObject(document.value) ? document.value['bots'] : document.value;
  if (!Array.isArray(bots)) return failed('has no list of rules under "bots"');
  if (bots.length === 0) return failed('has no rule');
  if (bots.length > POLICIES_MAX) {
    return failed(`has ${bots.length} rules, and a policy set has at most ${POLICIES_MAX}`);
  }
  const names = new PolicyNames();
  const rules = bots.map((rule, index): ImportedRule => {
    const fields = isJsonObject(rule) ? rule : {};
    const name = typeof fields['name'] === 'string' ? fields['name'] : '';
    const source = name || (typeof fields['import'] === 'string' ? `import: ${fields['import']}` : '');
    const place = `rule ${index + 1}`;
    return takenRule({ place, source, name, fallbackName: `rule-${index + 1}` }, names, (differences) => {
      if (!isJsonObject(rule)) throw new NotExpressible('it is no rule');
      return readAnubisRule(rule, mode, differences);
    });
  });
  return ok({ rules, notes: notesOn(document.value) });
}

function notesOn(document: unknown): string[] {
  const others = isJsonObject(document) ? Object.keys(document).filter((key) => key !== 'bots') : [];
  return others.slice(0, NOTES_MAX).map((key) => `"${key.slice(0, 60)}" has no counterpart and is left out`);
}
