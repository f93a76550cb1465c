/**
 * What has to happen so that the service runs what a file says: steps in a safe order, each with its changes and the
 * calls that make them. Making a plan only reads.
 */
import { isDeepStrictEqual } from 'node:util';
import type { FieldPath, Problem, Report } from './report.ts';
import type { Environment } from './secret-reference.ts';
import type { ServiceState } from './service-state.ts';

/** What a change can be about, with the word for several. */
export const plurals = {
  site: 'sites',
  instance: 'instances',
  rule: 'rules',
  policy: 'policies',
  limit: 'limits',
  origin: 'origins',
  list: 'lists',
  'access control rule': 'access control rules',
  bot: 'bots',
  user: 'users',
  'alert channel': 'alert channels',
} as const;
export type ItemKind = keyof typeof plurals;

type Action = 'create' | 'change' | 'activate' | 'move' | 'delete';

export interface PlannedChange {
  kind: ItemKind;
  /** `cname` of the instance that it belongs to. */
  of?: string;
  name: string;
  action: Action;
  before: object | null;
  after: object | null;
}

/**
 * The order of steps. What others refer to comes first, what lets visitors through before what stops them: a new
 * setting of an instance takes effect when its rules and policies are there. Deletions come last. Those of rules come
 * after what may replace them and before the lists: the first reading of a list is a new version of the rules.
 */
export const phases = {
  site: 10,
  defaultSite: 15,
  newInstance: 20,
  rules: 30,
  policies: 40,
  bots: 50,
  accessControl: 55,
  ruleDeletion: 58,
  lists: 60,
  instance: 70,
  others: 80,
  deletion: 90,
  instanceDeletion: 95,
  siteDeletion: 99,
} as const;

export interface PlanStep {
  phase: number;
  /** Such as `update the site shop`. */
  title: string;
  changes: readonly PlannedChange[];
  run: (made: Made) => Promise<unknown>;
}

/** Keys that only the service knows, and that a step before has received. */
export class Made {
  /** Of sites, by name in lower case. */
  readonly siteKeys = new Map<string, string>();
  /** Of instances, by cname. */
  readonly instanceKeys = new Map<string, string>();
  /** Versions of rules after a batch, by cname. */
  readonly ruleVersions = new Map<string, number>();

  siteKeyOf(name: string): string {
    return this.siteKeys.get(name.toLowerCase()) ?? name;
  }

  instanceKeyOf(cname: string): string {
    const key = this.instanceKeys.get(cname);
    if (key === undefined) throw new Error(`The instance ${cname} has no site key`);
    return key;
  }
}

interface PlanOptions {
  /** Whether what the file does not name is deleted, of the kinds that it names. */
  prune: boolean;
  /** Whether secrets are sent although nothing else of their object differs. */
  sendSecrets: boolean;
}

export interface Planning {
  state: ServiceState;
  report: Report;
  options: PlanOptions;
  environment: Environment;
  nowMs: number;
  plan: PlanBuilder;
  made: Made;
}

export interface ConfigPlan {
  steps: readonly PlanStep[];
  unchanged: number;
  /** Of the service, not in the file, and left alone. */
  leftAlone: number;
  notes: readonly string[];
  /** Lists of the file that are empty and would delete everything of their kind. */
  emptied: readonly Problem[];
  made: Made;
}

export class PlanBuilder {
  readonly #steps: PlanStep[] = [];
  readonly #notes: string[] = [];
  readonly #emptied: Problem[] = [];
  #unchanged = 0;
  #leftAlone = 0;

  add(phase: keyof typeof phases, title: string, changes: readonly PlannedChange[], run: PlanStep['run']): void {
    this.#steps.push({ phase: phases[phase], title, changes, run });
  }

  /** A step with one change. */
  addChange(phase: keyof typeof phases, change: PlannedChange, run: PlanStep['run']): void {
    const { kind, of, name, action } = change;
    const place = of === undefined ? '' : ` of ${of}`;
    this.add(phase, `${action} the ${kind} ${name}${place}`, [change], run);
  }

  keep(count = 1): void {
    this.#unchanged += count;
  }

  leaveAlone(count: number): void {
    this.#leftAlone += count;
  }

  note(text: string): void {
    this.#notes.push(text);
  }

  empty(problem: Problem): void {
    this.#emptied.push(problem);
  }

  finish(made: Made): ConfigPlan {
    const steps = this.#steps.toSorted((a, b) => a.phase - b.phase);
    const counts = { unchanged: this.#unchanged, leftAlone: this.#leftAlone };
    return { steps, ...counts, notes: this.#notes, emptied: this.#emptied, made };
  }
}

/**
 * The items that are to be deleted, because the file does not name them. `apply` does not empty a list unless the operator
 * says so: a list that a template or a script left empty would take the protection away.
 */
export function pruned<Item>(
  { options, report, plan }: Pick<Planning, 'options' | 'report' | 'plan'>,
  unnamed: readonly Item[],
  section: { path: FieldPath; isEmpty: boolean; what: string },
): readonly Item[] {
  if (unnamed.length === 0) return unnamed;
  if (!options.prune) {
    plan.leaveAlone(unnamed.length);
    return [];
  }
  if (section.isEmpty) {
    const all = unnamed.length === 1 ? `the only one of the ${section.what}` : `all ${unnamed.length} ${section.what}`;
    const message = `is empty and would delete ${all}. Remove the section to leave them alone, or add --allow-empty`;
    plan.empty(report.problem(section.path, message));
  }
  return unnamed;
}

interface Deletion<Item> {
  kind: ItemKind;
  /** `cname` of the instance that the items belong to. */
  of?: string;
  path: FieldPath;
  isEmpty: boolean;
  phase?: keyof typeof phases;
  nameOf: (item: Item) => string;
  /** What of it the plan shows. */
  shown?: (item: Item) => object;
  remove: (item: Item, made: Made) => Promise<unknown>;
}

/** Deletes what the file does not name, one by one. @returns what goes. */
export function planDeletions<Item>(
  planning: Planning,
  unnamed: readonly Item[],
  { kind, of, path, isEmpty, phase = 'deletion', nameOf, shown, remove }: Deletion<Item>,
): readonly Item[] {
  const ofInstance = of === undefined ? '' : ` of ${of}`;
  const gone = pruned(planning, unnamed, { path, isEmpty, what: `${plurals[kind]}${ofInstance}` });
  for (const item of gone) {
    const subject = { kind, ...(of === undefined ? {} : { of }), name: nameOf(item) };
    const change: PlannedChange = { ...subject, action: 'delete', before: shown?.(item) ?? null, after: null };
    planning.plan.addChange(phase, change, (made) => remove(item, made));
  }
  return gone;
}

/** The fields of `wanted` that differ, as they are and as they will be. */
export function differing<Fields extends object>(
  wanted: Fields,
  current: object,
): { before: Partial<Fields>; after: Partial<Fields> } | null {
  const names = Object.entries(wanted)
    .filter(([name, value]) => value !== undefined && !isDeepStrictEqual(value, valueOf(current, name)))
    .map(([name]) => name);
  if (names.length === 0) return null;
  const pick = (of: object) => Object.fromEntries(names.map((name) => [name, valueOf(of, name)])) as Partial<Fields>;
  return { before: pick(current), after: pick(wanted) };
}

export function valueOf(of: object, name: string): unknown {
  return (of as Record<string, unknown>)[name];
}
