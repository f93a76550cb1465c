/** A plan as lines for a person, or as JSON for a program. */
import { createHash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { printable } from '../print/printable.ts';
import { type PlannedChange, type ConfigPlan, plurals, valueOf } from './plan.ts';

/** Of one kind of one instance. A plan of a hundred thousand rules is read by its counts. */
const SHOWN_PER_GROUP = 50;
const VALUE_MAX_CHARS = 160;
const signs = { create: '+', activate: '+', change: '~', move: '>', delete: '-' } as const;
export function planLines(plan: ConfigPlan): string[] {
  const groups = Map.groupBy(changesOf(plan), ({ kind, of }) =>
    of === undefined ? plurals[kind] : `${plurals[kind]} of ${of}`,
  );
  const lines = [...groups].flatMap(([title, changes]) => [title, ...groupLines(changes), '']);
  const emptied = plan.emptied.map(({ path, message }) => `${path} ${message}`);
  return [...lines, ...[...plan.notes, ...emptied].map((note) => `Note: ${printable(note)}`), summary(plan)];
}

function groupLines(changes: readonly PlannedChange[]): string[] {
  const shown = changes.slice(0, SHOWN_PER_GROUP).flatMap(changeLines);
  const rest = changes.slice(SHOWN_PER_GROUP);
  return rest.length === 0 ? shown : [...shown, `  … and ${counted(rest)}. --json lists all.`];
}

function changeLines(change: PlannedChange): string[] {
  const { action, name } = change;
  const head = `  ${signs[action]} ${printable(name)}`;
  if (action === 'delete') return [head];
  const fields = fieldsOf(change);
  if (action === 'create') {
    const inline = fields.map(({ field, after }) => `${field} ${valueText(after)}`).join(', ');
    if (head.length + inline.length < VALUE_MAX_CHARS) return [inline === '' ? head : `${head}  ${inline}`];
  }
  return [head, ...fields.map((field) => `      ${fieldLine(change, field)}`)];
}

function fieldLine({ action }: PlannedChange, { field, before, after }: FieldChange): string {
  return action === 'create'
    ? `${field}: ${valueText(after)}`
    : `${field}: ${valueText(before)} -> ${valueText(after)}`;
}

function valueText(value: unknown): string {
  const text = printable(typeof value === 'string' ? JSON.stringify(value) : JSON.stringify(value ?? null));
  return text.length <= VALUE_MAX_CHARS ? text : `${text.slice(0, VALUE_MAX_CHARS)}…`;
}

function summary(plan: ConfigPlan): string {
  const changes = changesOf(plan);
  const kept = plan.leftAlone === 0 ? '' : ` ${count(plan.leftAlone)} that the file does not name stay.`;
  if (changes.length === 0) return `No changes. ${count(plan.unchanged)} unchanged.${kept}`;
  return `Plan ${planId(plan)}: ${counted(changes)}; ${count(plan.unchanged)} unchanged.${kept}`;
}

/** Such as `3 to create, 1 to delete`. */
function counted(changes: readonly PlannedChange[]): string {
  const counts = countsOf(changes);
  const parts = Object.entries(counts).flatMap(([action, number]) =>
    number === 0 ? [] : [`${count(number)} to ${action}`],
  );
  return parts.join(', ');
}

function countsOf(changes: readonly PlannedChange[]): Record<PlannedChange['action'], number> {
  const counts = { create: 0, activate: 0, change: 0, move: 0, delete: 0 };
  for (const { action } of changes) counts[action] += 1;
  return counts;
}

const count = (number: number): string => number.toLocaleString('en');

export interface PrintedPlan {
  id: string;
  changed: boolean;
  counts: Record<string, number>;
  notes: readonly string[];
  changes: object[];
  /** For people. JSON leaves functions out. */
  lines: () => string[];
}

export function planJson(plan: ConfigPlan): PrintedPlan {
  const changes = changesOf(plan);
  const { unchanged, leftAlone, notes, emptied } = plan;
  return {
    id: planId(plan),
    changed: changes.length > 0,
    counts: { ...countsOf(changes), unchanged, leftAlone },
    notes: [...notes, ...emptied.map(({ path, message }) => `${path} ${message}`)],
    changes: changes.map((change) => {
      const { kind, of, name, action } = change;
      return { kind, ...(of === undefined ? {} : { of }), name, action, fields: fieldsOf(change) };
    }),
    lines: () => planLines(plan),
  };
}

interface FieldChange {
  field: string;
  before: unknown;
  after: unknown;
}

/** Field by field; a group of settings is opened. */
function fieldsOf({ before, after }: Pick<PlannedChange, 'before' | 'after'>): FieldChange[] {
  const names = new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})]);
  return [...names].flatMap((field) => {
    const [was, is] = [before && valueOf(before, field), after && valueOf(after, field)];
    if (isDeepStrictEqual(was, is)) return [];
    if (field !== 'settings') return [{ field, before: was ?? null, after: is ?? null }];
    const inner = { before: (was ?? null) as object | null, after: (is ?? null) as object | null };
    return fieldsOf(inner).map((one) => ({ ...one, field: `settings.${one.field}` }));
  });
}

/** Names the changes of a plan: another plan of the same changes has the same id. */
export function planId({ steps }: ConfigPlan): string {
  const hash = createHash('sha256');
  for (const { changes } of steps) for (const change of changes) hash.update(`${JSON.stringify(change)}\n`);
  return hash.digest('hex').slice(0, 16);
}

export function changesOf({ steps }: ConfigPlan): PlannedChange[] {
  return steps.flatMap(({ changes }) => changes as PlannedChange[]);
}
