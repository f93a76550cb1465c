/** What a schema says of a value, as a sentence for the person who wrote the file. */
import * as core from 'zod/v4/core';
import english from 'zod/v4/locales/en.js';
import type { ConfigDocument } from './document.ts';
import { type FieldPath, pathText, type Problem, stepsOf } from './report.ts';

// The mini build of zod has no messages of its own.
core.config(english());

const KEY_MAX_CHARS = 128;
const NO_SECRETS = 'must be a reference such as ${ENV:NAME}: a file has no secrets';
const typeNames: Readonly<Record<string, string>> = {
  string: 'a text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
  record: 'an object',
  null: 'null',
};

/** `base`: where in the document the checked value is. */
export function problemsOf(error: core.$ZodError, document: ConfigDocument, base: FieldPath = []): Problem[] {
  return error.issues.flatMap((issue) => problemsOfIssue(issue, document, base));
}

function problemsOfIssue(given: core.$ZodIssue, document: ConfigDocument, base: FieldPath): Problem[] {
  const { issue, path: inner } = nearest(given);
  const path: FieldPath = [...base, ...stepsOf(inner)];
  const secret = path.findIndex((step) => step === 'authorization' || step === 'webhookUrl');
  const isOwnSentence = issue.code === 'invalid_format' || issue.code === 'custom';
  if (secret !== -1 && !isOwnSentence) {
    // What somebody wrote there may be the secret, so nothing of it is repeated.
    const at = path.slice(0, secret + 1);
    const message = document.has(at) ? NO_SECRETS : 'is missing';
    return [{ place: document.place(at), path: pathText(at), message }];
  }
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) => ({
      place: document.keyPlace(path, key),
      path: pathText([...path, key.slice(0, KEY_MAX_CHARS)]),
      message: 'is not a known field',
    }));
  }
  return [{ place: document.place(path), path: pathText(path), message: messageOf(issue, document, path) }];
}

type Branch = readonly core.$ZodIssue[];

const deepest = (branch: Branch): number => Math.max(...branch.map(({ path }) => path.length));

const isOtherType = (branch: Branch): boolean =>
  branch.every(({ code, path }) => path.length === 0 && (code === 'invalid_type' || code === 'invalid_value'));

/** Of the branches of a union, the one that fits best: its problem is the deepest, or it has the fewest. */
function nearest(issue: core.$ZodIssue): { issue: core.$ZodIssue; path: PropertyKey[] } {
  if (issue.code !== 'invalid_union' || issue.errors.length === 0) return { issue, path: [...issue.path] };
  const branches = issue.errors.filter((branch) => branch.length > 0 && !isOtherType(branch));
  if (branches.length === 0) return { issue, path: [...issue.path] };
  const [best] = branches.toSorted((a, b) => deepest(b) - deepest(a) || a.length - b.length);
  const found = nearest(best![0]!);
  return { issue: found.issue, path: [...issue.path, ...found.path] };
}

function messageOf(issue: core.$ZodIssue, document: ConfigDocument, path: FieldPath): string {
  if (issue.code === 'invalid_type') return typeMessage([issue.expected], issue.input, document, path);
  if (issue.code === 'invalid_union') {
    const expected = issue.errors.flatMap((branch) =>
      branch.flatMap((one) => (one.code === 'invalid_type' ? [one.expected as string] : [])),
    );
    if (expected.length > 0) return typeMessage(expected, issue.input, document, path);
  }
  if (issue.code === 'invalid_value' && isMissing(document, path)) return 'is missing';
  return `is not valid: ${issue.message}`.replace(/^is not valid: (?=(?:must|is|has|may|needs) )/, '');
}

function typeMessage(expected: readonly string[], _: unknown, document: ConfigDocument, path: FieldPath): string {
  if (isMissing(document, path)) return 'is missing';
  const wanted = [...new Set(expected.map((name) => typeNames[name] ?? name))].join(' or ');
  const written = document.written(path);
  const isRead = written !== null && expected.includes('string');
  if (isRead) return `must be ${wanted}. YAML reads ${written} as something else: write ${JSON.stringify(written)}`;
  if (written !== null && expected.includes('boolean') && /^(?:yes|no|on|off)$/i.test(written)) {
    return `must be true or false. YAML reads ${written} as a text`;
  }
  return `must be ${wanted}`;
}

function isMissing(document: ConfigDocument, path: FieldPath): boolean {
  return path.length > 0 && !document.has(path);
}
