import { failed, ok, type Result } from '../../result.ts';

/** The part of JSON Schema that the API's description of settings uses. */
export interface SettingSchema {
  type?: string | readonly string[];
  enum?: readonly string[];
  description?: string;
  default?: unknown;
  /** What a part counts as that is left empty, where its group has a default of its own. */
  whenEmpty?: unknown;
  minimum?: number;
  maximum?: number;
  maxLength?: number;
  pattern?: string;
  /** What is wrong with a text that the pattern does not take. */
  message?: string;
  maxItems?: number;
  /** In a form: the call needs a value. */
  isRequired?: boolean;
  items?: SettingSchema;
  properties?: Readonly<Record<string, SettingSchema>>;
  /** Values by names that people choose. */
  additionalProperties?: SettingSchema;
  anyOf?: readonly SettingSchema[];
}

/** By the name of the setting. */
export type SettingSchemas = Readonly<Record<string, SettingSchema>>;

export type ControlKind = 'flag' | 'choice' | 'number' | 'text' | 'lines' | 'boxes' | 'rows' | 'group' | 'map';

/** How a setting is changed; `null`: there is no field for it. */
export function controlOf(schema: SettingSchema): ControlKind | null {
  if (schema.enum !== undefined) return 'choice';
  if (schema.type === 'boolean') return 'flag';
  if (isNumber(schema)) return 'number';
  if (schema.type === 'string') return 'text';
  if (schema.type === 'array') {
    if (schema.items?.type === 'string') return schema.items.enum === undefined ? 'lines' : 'boxes';
    return schema.items?.properties === undefined ? null : 'rows';
  }
  if (schema.additionalProperties !== undefined) return 'map';
  return Object.keys(partsOf(schema)).length > 0 ? 'group' : null;
}

/** The parts of an object, also of one that a number can stand for. */
export function partsOf({ properties, anyOf = [] }: SettingSchema): Readonly<Record<string, SettingSchema>> {
  return properties ?? anyOf.find((choice) => choice.properties !== undefined)?.properties ?? {};
}

/** Whether one number stands for each part, also as the default. */
export function hasOneDefault(schema: SettingSchema): boolean {
  return typeof schema.default === 'number' && Object.keys(partsOf(schema)).length > 0;
}

export function isNumber({ type }: SettingSchema): boolean {
  return type === 'integer' || type === 'number';
}

/** A bound that only means "any safe integer" says nothing. */
function isReal(bound: number | undefined): bound is number {
  return bound !== undefined && Math.abs(bound) < Number.MAX_SAFE_INTEGER;
}

/** Range and default in words; empty when there is nothing to say. */
export function boundsText(schema: SettingSchema): string {
  const { minimum, maximum, maxItems, default: standard, whenEmpty } = schema;
  const parts: string[] = [];
  if (isReal(minimum) && isReal(maximum)) parts.push(rangeText({ minimum, maximum })!);
  else if (isReal(minimum)) parts.push(`${minimum} or more`);
  else if (isReal(maximum)) parts.push(`${maximum} or less`);
  if (maxItems !== undefined) parts.push(`at most ${maxItems}`);
  if (typeof standard === 'boolean') parts.push(`default ${standard ? 'on' : 'off'}`);
  else if (Array.isArray(standard) && standard.length === 0) parts.push('default none');
  else if (typeof standard === 'number' || (typeof standard === 'string' && standard !== '')) {
    const each = hasOneDefault(schema) ? ' for each' : '';
    parts.push(`default ${typeof standard === 'number' ? standard.toLocaleString('en-US') : standard}${each}`);
  }
  if (typeof whenEmpty === 'number') parts.push(`${whenEmpty} where it is empty`);
  return parts.join(', ');
}

/** `5 to 10,080`, of a number with both bounds. */
export function rangeText({ minimum, maximum }: SettingSchema): string | null {
  if (!isReal(minimum) || !isReal(maximum)) return null;
  const [least, most] = [minimum, maximum].map((bound) => bound.toLocaleString('en-US').replace('-', '−'));
  return `${least} to ${most}`;
}

/** What is wrong with the text of a field; `null`: nothing. An empty one is only wrong where it must be filled in. */
export function problemIn(schema: SettingSchema, text: string): string | null {
  const given = text.trim();
  if (given === '' && !(isNumber(schema) && mustBeFilled(schema))) return null;
  if (isNumber(schema)) return problemInNumber(schema, given);
  if (schema.type === 'array') return problemInLines(schema, filledLines(text));
  if (schema.pattern === undefined || new RegExp(schema.pattern, 'u').test(given)) return null;
  return schema.message ?? 'does not have the form that it must have';
}

function problemInNumber(schema: SettingSchema, text: string): string | null {
  const { minimum = -Infinity, maximum = Infinity, type } = schema;
  const isRead = type === 'integer' ? /^-?\d+$/.test(text) : text !== '';
  const value = isRead ? Number(text) : NaN;
  if (value >= minimum && value <= maximum) return null;
  const range = rangeText(schema);
  return `A ${type === 'integer' ? 'whole ' : ''}number${range === null ? '' : ` from ${range}`}.`;
}

function problemInLines({ maxItems = Infinity, items = {} }: SettingSchema, lines: readonly string[]): string | null {
  if (lines.length > maxItems) return `must have at most ${maxItems} lines`;
  const at = lines.findIndex((line) => line.length > (items.maxLength ?? Infinity) || problemIn(items, line) !== null);
  if (at === -1) return null;
  return `line ${at + 1}: ${problemIn(items, lines[at]!) ?? `must have at most ${items.maxLength} characters`}`;
}

/** The lines of a text that have something in them. */
export function filledLines(text: string): string[] {
  return text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
}

/** A number that starts with a value must keep one. */
export function mustBeFilled({ isRequired = false, default: standard }: SettingSchema): boolean {
  return isRequired || typeof standard === 'number';
}

/** The schema of a number in a larger unit, such as hours of a field that has seconds. */
export function inUnits({ minimum, maximum, ...schema }: SettingSchema, size: number): SettingSchema {
  return {
    ...schema,
    ...(minimum === undefined ? {} : { minimum: Math.ceil(minimum / size) }),
    ...(maximum === undefined ? {} : { maximum: Math.floor(maximum / size) }),
  };
}

/** By the name of a form's field. One without a schema is not checked here. */
export type FormSchemas<Draft> = { readonly [Name in keyof Draft]?: SettingSchema };
/** A field of a form → what is wrong with it. */
export type Problems<Draft> = { readonly [Name in keyof Draft]?: string };

/** What is wrong with the fields: by their schemas, else by the form's own rules. */
export function fieldProblems<Draft extends object>(
  draft: Draft,
  schemas: FormSchemas<Draft>,
  own: Problems<Draft> = {},
): Problems<Draft> {
  const names = Object.keys(draft) as (keyof Draft)[];
  const found = names.map((name) => {
    const [schema, text] = [schemas[name], draft[name]];
    return [name, (schema !== undefined && typeof text === 'string' && problemIn(schema, text)) || own[name]] as const;
  });
  return Object.fromEntries(found.filter(([, problem]) => problem !== undefined)) as Problems<Draft>;
}

/** Whether everything has a value that needs one. */
export function isFilled<Draft extends object>(draft: Draft, schemas: FormSchemas<Draft>): boolean {
  const given = Object.entries(schemas) as [keyof Draft, SettingSchema][];
  return given.every(([name, schema]) => !mustBeFilled(schema) || String(draft[name]).trim() !== '');
}

/** A value as the text of its field. */
export function settingText(schema: SettingSchema, value: unknown): string {
  if (value === undefined || value === null) return '';
  return controlOf(schema) === 'lines' ? (value as readonly string[]).join('\n') : String(value as string | number);
}

/** A field's text as a value. Empty text is no value: the member is left out. */
export function settingValue(schema: SettingSchema, text: string): Result<unknown, string> {
  const kind = controlOf(schema);
  if (kind === 'lines') return ok(filledLines(text));
  if (text.trim() === '') return ok(undefined);
  if (kind !== 'number') return ok(text);
  const value = Number(text);
  return Number.isFinite(value) ? ok(value) : failed('is not a number');
}
