/**
 * A parsed body against the schema of its route. Form fields arrive as text. Only the schema decides which of them is
 * a number, a flag, a list or nested JSON: where it asks for another type, the text is read as that type. So a site may
 * be called "123", a limit of "10" is 10, and one value is a list where a list is asked for.
 */
import * as core from 'zod/v4/core';
import english from 'zod/v4/locales/en.js';
import { JSON_DEPTH_MAX, jsonShape } from '../../../bytes/json.ts';
import type { ErrorDetail } from '../../../contract/errors.ts';
import { failed, ok, type Result } from '../../../result.ts';
import type { BodyError } from '../service-error.ts';
import { isForbiddenName } from './form-object.ts';

// The mini build of zod has no messages of its own. Only the service tells a caller why a body does not fit.
core.config(english());

/**
 * `empty`: the body has no bytes. `form`: every leaf is a text, which the schema may still read as another type.
 */
export type ParsedBody =
  | { kind: 'empty' }
  | { kind: 'json'; value: unknown }
  | { kind: 'form'; value: Record<string, unknown> };

/** Details in one response. */
const DETAILS_MAX = 100;
/** Each round opens one level of nested text; no schema nests deeper. */
const CONVERSION_ROUNDS_MAX = 8;

/** `maxValues`: of JSON in a field of a form. More than that stays a text. */
export function parseWithSchema<Schema extends core.$ZodType>(
  schema: Schema,
  body: ParsedBody,
  maxValues = Number.POSITIVE_INFINITY,
): Result<core.output<Schema>, BodyError> {
  if (body.kind === 'empty') {
    const parsed = core.safeParse(schema, {});
    return parsed.success ? ok(parsed.data) : failed({ kind: 'body-missing', details: issueDetails(parsed.error) });
  }
  if (typeof body.value !== 'object' || body.value === null || Array.isArray(body.value)) {
    return failed({ kind: 'body-not-object' });
  }
  let value: unknown = body.value;
  for (let round = 0; ; round++) {
    const parsed = core.safeParse(schema, value);
    if (parsed.success) return ok(parsed.data);
    const converted =
      body.kind === 'form' && round < CONVERSION_ROUNDS_MAX
        ? convertAtIssues(value, parsed.error.issues, maxValues)
        : undefined;
    if (converted === undefined) {
      const details = issueDetails(parsed.error);
      return failed({
        kind: 'body-mismatch',
        details: body.kind === 'form' ? details.map(nameRepeated(value)) : details,
      });
    }
    value = converted;
  }
}

/** `{path, message}` of each issue. The value is left out: it may be a secret. */
export function issueDetails(error: core.$ZodError): ErrorDetail[] {
  const details: ErrorDetail[] = [];
  for (const issue of error.issues) {
    if (details.length >= DETAILS_MAX) break;
    const path = issue.path.map(String);
    if (issue.code === 'unrecognized_keys') {
      for (const key of issue.keys.slice(0, DETAILS_MAX - details.length)) {
        details.push({ path: [...path, key.slice(0, 128)].join('.'), message: 'is not a known field' });
      }
    } else {
      details.push({ path: path.join('.').slice(0, 512), message: issue.message });
    }
  }
  return details;
}

/** A field of a form that was given twice is a list where the schema asks for one value. */
function nameRepeated(form: unknown): (detail: ErrorDetail) => ErrorDetail {
  return (detail) => {
    const parts = detail.path.split('.');
    const given = parts.reduce<unknown>((at, part) => (at as Record<string, unknown> | undefined)?.[part], form);
    return Array.isArray(given) && detail.message.includes('received array')
      ? { ...detail, message: 'is given more than once' }
      : detail;
  };
}

/** A copy in which every text is converted that an issue wants to be another type; `undefined` if there is none. */
function convertAtIssues(value: unknown, issues: readonly core.$ZodIssue[], maxValues: number): unknown {
  const copy = structuredClone(value);
  let changed = false;
  const visit = (list: readonly core.$ZodIssue[], base: readonly PropertyKey[]): void => {
    for (const issue of list) {
      const path = [...base, ...issue.path];
      if (issue.code === 'invalid_union') {
        for (const branch of issue.errors) visit(branch, path);
      } else if (issue.code === 'invalid_type' && convertAt(copy, path, issue.expected, maxValues)) {
        changed = true;
      }
    }
  };
  visit(issues, []);
  return changed ? copy : undefined;
}

function convertAt(root: unknown, path: readonly PropertyKey[], expected: string, maxValues: number): boolean {
  const name = path.at(-1);
  if (name === undefined) return false;
  let parent: unknown = root;
  for (const part of path.slice(0, -1)) {
    if (typeof parent !== 'object' || parent === null) return false;
    parent = (parent as Record<PropertyKey, unknown>)[part];
  }
  if (typeof parent !== 'object' || parent === null) return false;
  const fields = parent as Record<PropertyKey, unknown>;
  const text = fields[name];
  if (typeof text !== 'string') return false;
  const converted = convert(text, expected, maxValues);
  if (converted === undefined) return false;
  fields[name] = converted;
  return true;
}

function convert(text: string, expected: string, maxValues: number): unknown {
  if (expected === 'number' || expected === 'int') {
    return /^-?\d+(\.\d+)?([eE][+-]?\d{1,3})?$/.test(text) ? Number(text) : undefined;
  }
  if (expected === 'boolean') return text === 'true' ? true : text === 'false' ? false : undefined;
  if (expected === 'null') return text === 'null' ? null : undefined;
  if (expected !== 'object' && expected !== 'array' && expected !== 'record') return undefined;
  const parsed = jsonOf(text, maxValues);
  // A text that is no JSON is a list of one.
  return expected === 'array' && parsed === undefined ? [text] : parsed;
}

/** The object or list that a text is, if it is one. */
function jsonOf(text: string, maxValues: number): object | undefined {
  const { depth, values } = jsonShape(text);
  if (depth > JSON_DEPTH_MAX || values > maxValues) return undefined;
  try {
    const parsed: unknown = JSON.parse(text, (key, field: unknown) => (isForbiddenName(key) ? undefined : field));
    return typeof parsed === 'object' && parsed !== null ? parsed : undefined;
  } catch {
    return undefined;
  }
}
