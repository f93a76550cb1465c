/**
 * What a write has changed, noted by its handler for the audit trail. Only fields that differ are kept, without secrets, and of
 * many things the first ten with the number of the others.
 */
import { isJsonObject } from '../../bytes/json.ts';
import type { AuditChanges, ChangedKind } from '../../contract/management/audit-changes.ts';
import { redactedBody } from './redacted-body.ts';

type Item = AuditChanges['items'][number];
type Change = Item['change'];

const ITEMS_MAX = 10;
const FIELDS_MAX = 40;

export interface ChangedThing {
  /** As people call it. */
  name: string;
  /** `null`: there was none. */
  before: object | null;
  /** `null`: there is none any more. */
  after: object | null;
  /** Values of a new thing that need no mention. */
  defaults?: object;
  change?: Change;
}

export class ChangeNotes {
  /** Name of the instance that the call is about. */
  instance: string | null = null;
  readonly #items: Item[] = [];
  readonly #counts: AuditChanges['counts'] = [];

  /** @param totals where more has changed than is listed. */
  note(kind: ChangedKind, things: readonly ChangedThing[], totals?: Partial<Record<Change, number>>): void {
    const items = things.map((thing) => itemOf(kind, thing));
    const counted = totals ?? Object.groupBy(items, ({ change }) => change);
    for (const [change, of] of Object.entries(counted) as [Change, number | Item[]][]) {
      const count = typeof of === 'number' ? of : of.length;
      if (count > 0) this.#counts.push({ kind, change, count });
    }
    this.#items.push(...items.slice(0, ITEMS_MAX - this.#items.length));
  }

  /** The write is about this, and changes no value of it. */
  name(kind: ChangedKind, name: string): void {
    this.note(kind, [{ name, before: null, after: null, change: 'named' }]);
  }

  noted(): AuditChanges | null {
    if (this.#counts.length === 0 && this.instance === null) return null;
    return { instance: this.instance, counts: this.#counts, items: this.#items };
  }
}

function itemOf(kind: ChangedKind, { name, before, after, defaults, change }: ChangedThing): Item {
  const made = change ?? (before === null ? 'added' : after === null ? 'deleted' : 'changed');
  const fields = changedFields(before ?? defaults ?? {}, after ?? {});
  if (before !== null && after !== null) return { kind, name, change: made, fields };
  // What a new thing differs from was never there, and its name stands above.
  const shown = fields.filter(({ field }) => field !== 'name');
  return {
    kind,
    name,
    change: made,
    fields: before === null ? shown.map(({ before: _none, ...rest }) => rest) : shown,
  };
}

function changedFields(before: object, after: object): Item['fields'] {
  const [old, now] = [leaves(before), leaves(after)];
  const names = [...new Set([...old.keys(), ...now.keys()])];
  const changed = names.filter((name) => JSON.stringify(old.get(name)) !== JSON.stringify(now.get(name)));
  return changed.slice(0, FIELDS_MAX).map((field) => {
    const [was, is] = differing(old.get(field), now.get(field));
    return { field, ...kept('before', field, was), ...kept('after', field, is) };
  });
}

/** Fields of fields too, by their path. An action is one value. */
function leaves(value: object, path = ''): Map<string, unknown> {
  return new Map(
    Object.entries(value).flatMap(([name, field]): [string, unknown][] => {
      if (field === undefined || field === null || (Array.isArray(field) && field.length === 0)) return [];
      const isGroup = isJsonObject(field) && !('action' in field);
      return isGroup ? [...leaves(field, `${path}${name}.`)] : [[path + name, field]];
    }),
  );
}

function without(list: readonly unknown[], other: readonly unknown[]): unknown[] {
  const known = new Set(other.map((one) => JSON.stringify(one)));
  return list.filter((one) => !known.has(JSON.stringify(one)));
}

/** Of two lists, what only one of them has. If they have the same in another order, both. */
function differing(was: unknown, is: unknown): [unknown, unknown] {
  if (!Array.isArray(was) || !Array.isArray(is)) return [was, is];
  const [went, came] = [without(was, is), without(is, was)];
  return went.length + came.length === 0 ? [was, is] : [went, came];
}

function kept<Name extends 'before' | 'after'>(name: Name, path: string, value: unknown): { [Key in Name]?: unknown } {
  if (value === undefined || (Array.isArray(value) && value.length === 0)) return {};
  // The name says whether it is a secret.
  const field = path.slice(path.lastIndexOf('.') + 1);
  const redacted = redactedBody({ [field]: value }) as Record<string, unknown>;
  return { [name]: redacted[field] } as { [Key in Name]?: unknown };
}
