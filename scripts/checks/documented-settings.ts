/** Every setting of instances and sites is described: meaning, default and example, on its page and in OpenAPI. */
import { readFileSync } from 'node:fs';
import { toJSONSchema, type $ZodType } from 'zod/v4/core';
// oxlint-disable-next-line no-restricted-imports -- only the classic build reads JSON Schema; a check ships nothing
import { fromJSONSchema } from 'zod';
import * as z from 'zod/mini';
import { instanceIdentity, newInstanceSettings } from '../../src/contract/management/instance-settings.ts';
import { siteSettings } from '../../src/contract/management/site-settings.ts';
import {
  describeSettings,
  documented,
  instancePage,
  settingNames,
  type SettingsPage,
  sitePage,
} from '../settings-pages.ts';

type Json = Record<string, unknown>;
export interface DescribedSettings {
  /** The settings' owner, for messages. */
  of: string;
  schema: $ZodType;
  page: SettingsPage;
  /** The fields without which the schema accepts nothing. */
  least: Json;
  /** The name of the schema in the OpenAPI document. */
  documentedAs: string;
}

const described: readonly DescribedSettings[] = [
  {
    of: 'instance',
    schema: z.strictObject({ ...instanceIdentity.shape, ...newInstanceSettings.shape }),
    page: instancePage,
    least: { name: 'Shop', cname: 'shop.example', globalSiteKey: 'site_1' },
    documentedAs: 'update-instance.requestBody',
  },
  {
    of: 'site',
    schema: siteSettings,
    page: sitePage,
    least: { domains: ['shop.example'] },
    documentedAs: 'SiteSettings.requestBody',
  },
];

/** Far fewer than there are. Less means that the names are no longer found. */
const NAMES_MIN = 80;

export async function checkDocumentedSettings(): Promise<string[]> {
  const { components } = JSON.parse(readFileSync('docs/openapi.json', 'utf8')) as {
    components: { schemas: Record<string, { properties: Record<string, Json> }> };
  };
  return described.flatMap((settings) => {
    const { length } = settingNames(schemaOf(settings.schema));
    return [
      ...settingsProblems(settings, components.schemas[settings.documentedAs]?.properties ?? {}),
      ...(length > NAMES_MIN ? [] : [`${settings.of}: only ${length} settings found`]),
    ];
  });
}

export function settingsProblems(settings: DescribedSettings, openapi: Record<string, Json>): string[] {
  const { of, schema, page } = settings;
  const names = settingNames(schemaOf(schema));
  const top = names.filter((name) => !/[.[]/.test(name));
  const isKnown = (name: string): boolean => names.includes(name) || names.some((one) => likeName(name).test(one));
  return [
    ...names.filter((name) => !documented(page, name)?.meaning).map((name) => `${name} has no meaning`),
    ...top.flatMap((name) => exampleProblems(settings, name)),
    ...nestedExampleProblems(settings),
    ...defaultProblems(settings, names, top),
    ...[...page.keys()].filter((name) => !isKnown(name)).map((name) => `the page names ${name}, which does not exist`),
    ...top
      .filter((name) => typeof openapi[name]?.['description'] !== 'string')
      .map((name) => `${name} has no description in docs/openapi.json`),
  ].map((problem) => `${of}: ${problem}`);
}

function exampleProblems({ schema, page, least }: DescribedSettings, name: string): string[] {
  const example = JSON.parse(documented(page, name)?.exampleText ?? 'null') as unknown;
  const { error } = z.safeParse(schema, { ...least, [name]: example });
  return error === undefined ? [] : [`the example of ${name} is not accepted: ${JSON.stringify(error.issues)}`];
}

/** Every setting inside another has an example that its schema accepts. */
function nestedExampleProblems({ schema, page }: DescribedSettings): string[] {
  const whole = schemaOf(schema);
  describeSettings(whole, page);
  return nestedIn(whole).flatMap(([name, child]) => {
    const [example] = (child['examples'] ?? []) as unknown[];
    if (example === undefined) return [`${name} has no example`];
    return fromJSONSchema(child as Parameters<typeof fromJSONSchema>[0]).safeParse(example).success
      ? []
      : [`the example of ${name} does not fit its schema: ${JSON.stringify(example)}`];
  });
}

/** Every default on the page is the real one, and no default is left out. */
function defaultProblems({ schema, page, least }: DescribedSettings, names: string[], top: string[]): string[] {
  const parsed = z.safeParse(schema, least).data;
  const real = (path: string): unknown =>
    path.split('.').reduce((found: unknown, part) => (found as Json | undefined)?.[part], parsed);
  const wrong = [...page].filter(
    ([name, { defaultText }]) =>
      defaultText !== null &&
      !/[.[*]/.test(name) &&
      JSON.stringify(real(name)) !== JSON.stringify(JSON.parse(defaultText)),
  );
  const unsaid = top.filter(
    (name) => !(name in least) && real(name) !== undefined && documented(page, name)?.defaultText === null,
  );
  return [
    ...wrong.map(
      ([name, { defaultText }]) => `the default of ${name} is ${JSON.stringify(real(name))}, not ${defaultText}`,
    ),
    // One default is a table of its own.
    ...unsaid.filter((name) => name !== 'enforcementPolicy').map((name) => `the default of ${name} is missing`),
  ];
}

function schemaOf(schema: $ZodType): Json {
  return toJSONSchema(schema, { io: 'input', unrepresentable: 'any' });
}

/** Every property with its name, at any depth. */
function nestedIn(schema: Json): [string, Json][] {
  const properties = Object.entries((schema['properties'] ?? {}) as Record<string, Json>);
  const any = schema['additionalProperties'];
  const inner = [schema['items'], any, ...((schema['anyOf'] ?? []) as unknown[])];
  return [
    ...properties.flatMap(([name, child]): [string, Json][] => [[name, child], ...nestedIn(child)]),
    ...inner.filter((child) => typeof child === 'object' && child !== null).flatMap((child) => nestedIn(child as Json)),
  ];
}

function likeName(name: string): RegExp {
  return new RegExp(`^${name.replaceAll(/[.[\]]/g, '\\$&').replaceAll('*', '[^.]+')}$`);
}
