/** The part of JSON Schema that the API's description of settings uses. */
export interface SettingSchema {
  type?: string | readonly string[];
  enum?: readonly string[];
  description?: string;
  default?: unknown;
  minimum?: number;
  maximum?: number;
  maxLength?: number;
  maxItems?: number;
  items?: SettingSchema;
  properties?: Readonly<Record<string, SettingSchema>>;
  anyOf?: readonly SettingSchema[];
}

/** By the name of the setting. */
export type SettingSchemas = Readonly<Record<string, SettingSchema>>;

export type ControlKind = 'flag' | 'choice' | 'number' | 'text' | 'lines' | 'group' | 'json';

/** How a setting is changed. What has no field of its own is written as JSON, and the service checks it. */
export function controlOf(schema: SettingSchema): ControlKind {
  if (schema.enum !== undefined) return 'choice';
  if (schema.type === 'boolean') return 'flag';
  if (schema.type === 'integer' || schema.type === 'number') return 'number';
  if (schema.type === 'string') return 'text';
  if (schema.type === 'array' && schema.items?.type === 'string') return 'lines';
  const members = Object.values(schema.properties ?? {});
  const isFlat = members.length > 0 && members.every((member) => !['group', 'json'].includes(controlOf(member)));
  return isFlat ? 'group' : 'json';
}

/** A bound that only means "any safe integer" says nothing. */
function isReal(bound: number | undefined): bound is number {
  return bound !== undefined && Math.abs(bound) < Number.MAX_SAFE_INTEGER;
}

/** Range and default in words; empty when there is nothing to say. */
export function boundsText({ minimum, maximum, maxItems, default: standard }: SettingSchema): string {
  const parts: string[] = [];
  if (isReal(minimum) && isReal(maximum)) parts.push(`${minimum} to ${maximum}`);
  else if (isReal(minimum)) parts.push(`${minimum} or more`);
  else if (isReal(maximum)) parts.push(`${maximum} or less`);
  if (maxItems !== undefined) parts.push(`at most ${maxItems}`);
  if (standard !== undefined && typeof standard !== 'object') parts.push(`default ${JSON.stringify(standard)}`);
  return parts.join(', ');
}
