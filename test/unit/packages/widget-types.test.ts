/** The types that `@gatehouse/widget` publishes are those of the widget that the service serves. */
import { readFileSync } from 'node:fs';
import { expect, expectTypeOf, test } from 'vitest';
import type * as published from '../../../packages/widget/src/index.ts';
import { scriptUrl } from '../../../packages/widget/src/index.ts';
import type * as widget from '../../../src/widget/widget.ts';

test('names of modes, sizes, themes and errors are the same', () => {
  expectTypeOf<published.StartMode>().toEqualTypeOf<widget.StartMode>();
  expectTypeOf<published.Size>().toEqualTypeOf<widget.Size>();
  expectTypeOf<published.Theme>().toEqualTypeOf<widget.Theme>();
  expectTypeOf<published.CaptchaErrorCode>().toEqualTypeOf<widget.CaptchaErrorCode>();
});

test('every setting of the widget can be set', () => {
  type Kebab<Name extends string> = Name extends 'userToken' ? 'user-token' : Name;
  type Settings = Exclude<keyof widget.RenderOptions, `${string}callback`>;
  expectTypeOf<Kebab<keyof published.WidgetSettings>>().toEqualTypeOf<Settings>();
});

test.each([
  ['https://gatehouse.test', 'https://gatehouse.test/widget.js'],
  ['https://gatehouse.test/captcha//', 'https://gatehouse.test/captcha/widget.js'],
  ['/__protect', '/__protect/widget.js'],
])('the script of %s is at %s', (serviceUrl, url) => {
  expect(scriptUrl(serviceUrl)).toBe(url);
});

test('every event of the element reaches the application', () => {
  const notified = readFileSync('src/widget/element/widget-element.ts', 'utf8').matchAll(/#notify\('(\w+)'/g);
  const handled = readFileSync('packages/widget/src/widget/mount-widget.ts', 'utf8').matchAll(/^  (\w+): \(events/gm);
  const names = (matches: Iterable<RegExpExecArray>) => [...new Set([...matches].map(([, name]) => name))].toSorted();
  expect(names(handled)).toEqual(names(notified));
});
