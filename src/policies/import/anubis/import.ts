/** Reads a policy file of Anubis: the rules under `bots`, in YAML or JSON. */
import { isJsonObject } from '../../../bytes/json.ts';
import { POLICIES_MAX } from '../../../contract/management/policy-set/policy.ts';
import { failed, ok, type Result } from '../../../result.ts';
import { NotExpressible, PolicyNames, type ImportReport, type ImportSettings, type ImportedRule } from '../report.ts';
import { takenRule } from '../taken-rule.ts';
import { readAnubisRule } from './rule.ts';
import { Composer, Lexer, Parser, type CST } from 'yaml';

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

/** Files with a hundred rules have 20,000. */
const CONTENT_MAX_CHARS = 128 * 1024;
const DEPTH_MAX = 30;
const tooDeep = `is nested deeper than ${DEPTH_MAX} levels`;

/**
 * Reads YAML of unknown origin. References (`*name`) are not followed, so that a short file cannot stand for a long one.
 * Length and depth are bounded before the tree is built: the library builds it by calling itself, and takes time with the
 * square of the depth.
 */
function readYaml(content: string): Result<unknown, string> {
  if (content.length > CONTENT_MAX_CHARS) return failed(`is longer than ${CONTENT_MAX_CHARS} characters`);
  if (isDeepInALine(content)) return failed(tooDeep);
  const tokens = [...new Parser().parse(content)];
  if (tokens.some((token) => depthOf(token) > DEPTH_MAX)) return failed(tooDeep);
  const documents = [...new Composer({ schema: 'core', merge: false, logLevel: 'error' }).compose(tokens)];
  const [document] = documents;
  if (document === undefined) return failed('is empty');
  if (documents.length > 1) return failed('has more than one YAML document');
  const [error] = document.errors;
  if (error) return failed(`is no YAML: ${error.message.split('\n', 1)[0]!.slice(0, 200)}`);
  try {
    return ok(document.toJS({ maxAliasCount: 0 }));
  } catch (thrown) {
    return failed(`is no plain YAML: ${(thrown instanceof Error ? thrown.message : String(thrown)).slice(0, 200)}`);
  }
}

/** Brackets open at once, and indicators such as `- - -` on one line. Depth by indentation needs many lines. */
function isDeepInALine(content: string): boolean {
  let open = 0;
  let onLine = 0;
  for (const lexeme of new Lexer().lex(content)) {
    if (lexeme === '[' || lexeme === '{') open += 1;
    else if (lexeme === ']' || lexeme === '}') open -= 1;
    else if (lexeme === '-' || lexeme === '?') onLine += 1;
    else if (lexeme === '\n' || lexeme === '\r\n') onLine = 0;
    if (open > DEPTH_MAX || onLine > DEPTH_MAX) return true;
  }
  return false;
}

/** In a loop, because a stack would not hold the depth that it looks for. */
function depthOf(root: CST.Token): number {
  let deepest = 0;
  const waiting: [token: CST.Token, depth: number][] = [[root, 1]];
  for (let visit = waiting.pop(); visit !== undefined; visit = waiting.pop()) {
    const [token, depth] = visit;
    deepest = Math.max(deepest, depth);
    if (deepest > DEPTH_MAX) return deepest;
    if (token.type === 'document' && token.value) waiting.push([token.value, depth]);
    if (!('items' in token)) continue;
    for (const { key, value } of token.items) {
      if (key) waiting.push([key, depth + 1]);
      if (value) waiting.push([value, depth + 1]);
    }
  }
  return deepest;
}
