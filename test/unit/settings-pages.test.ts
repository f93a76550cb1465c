/** Every setting of instances and sites is described: meaning, default and example, on its page and in OpenAPI. */
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { toJSONSchema } from 'zod/v4/core';
import type { $ZodType } from 'zod/v4/core';
// oxlint-disable-next-line no-restricted-imports -- only the classic build reads JSON Schema; a test ships nothing
import { fromJSONSchema } from 'zod';
import * as z from 'zod/mini';
import { describeSettings, documented, instancePage, settingNames, sitePage } from '../../scripts/settings-pages.ts';
import type { SettingsPage } from '../../scripts/settings-pages.ts';
import { instanceIdentity } from '../../src/contract/management/instance-identity.ts';
import { newInstanceSettings } from '../../src/contract/management/instance-settings.ts';
import { siteSettings } from '../../src/contract/management/site-settings.ts';

type Json = Record<string, unknown>;
const schemaOf = (schema: $ZodType): Json => toJSONSchema(schema, { io: 'input', unrepresentable: 'any' });
const instance = z.strictObject({ ...instanceIdentity.shape, ...newInstanceSettings.shape });
const leastInstance = { name: 'Shop', cname: 'shop.example', globalSiteKey: 'site_1' };

describe.each<[string, $ZodType, SettingsPage, Json, string]>([
  ['an instance', instance, instancePage, leastInstance, 'update-instance.requestBody'],
  ['a site', siteSettings, sitePage, { domains: ['shop.example'] }, 'SiteSettings.requestBody'],
])('of %s', (_, schema, page, least, documentedAs) => {
  const names = settingNames(schemaOf(schema));
  const parse = (value: unknown) => z.safeParse(schema, value);
  const valueAt = (value: unknown, path: string): unknown =>
    path.split('.').reduce((found: unknown, part) => (found as Json | undefined)?.[part], value);

  test.each(names)('%s has a meaning', (name) => {
    expect(documented(page, name)?.meaning).toBeTruthy();
  });

  test.each(names.filter((name) => !/[.[]/.test(name)))('%s has an example that is accepted', (name) => {
    const example = JSON.parse(documented(page, name)?.exampleText ?? 'null') as unknown;
    const parsed = parse({ ...least, [name]: example });
    expect(parsed.error?.issues).toBeUndefined();
  });

  test('every setting inside another has an example that its schema accepts', () => {
    const described = schemaOf(schema);
    describeSettings(described, page);
    const wrong = nestedIn(described).filter(([, child]) => {
      const [example] = (child['examples'] ?? []) as unknown[];
      return (
        example === undefined ||
        !fromJSONSchema(child as Parameters<typeof fromJSONSchema>[0]).safeParse(example).success
      );
    });
    expect(names.length).toBeGreaterThan(80);
    expect(wrong.map(([name, child]) => [name, child['examples']])).toEqual([]);
  });

  test('every default on the page is the real one', () => {
    const parsed = parse(least).data;
    const wrong = [...page].filter(
      ([name, { defaultText }]) =>
        defaultText !== null &&
        !/[.[*]/.test(name) &&
        JSON.stringify(valueAt(parsed, name)) !== JSON.stringify(JSON.parse(defaultText)),
    );
    expect(wrong).toEqual([]);
    const unsaid = names.filter(
      (name) =>
        !/[.[]/.test(name) &&
        !(name in least) &&
        valueAt(parsed, name) !== undefined &&
        documented(page, name)?.defaultText === null,
    );
    // One default is a table of its own.
    expect(unsaid.filter((name) => name !== 'enforcementPolicy')).toEqual([]);
  });

  test('the page names nothing that does not exist', () => {
    const known = new Set(names);
    const matches = (name: string) => known.has(name) || names.some((one) => likeName(name).test(one));
    expect([...page.keys()].filter((name) => !matches(name))).toEqual([]);
  });

  test('OpenAPI has every description', () => {
    const { components } = JSON.parse(readFileSync('docs/openapi.json', 'utf8')) as {
      components: { schemas: Record<string, { properties: Record<string, Json> }> };
    };
    const settings = components.schemas[documentedAs]!.properties;
    const top = names.filter((name) => !/[.[]/.test(name));
    expect(top.filter((name) => typeof settings[name]?.['description'] !== 'string')).toEqual([]);
  });
});

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
