/** Every language is complete and plain, and reaches the browser in the order of the English fields. */
import { describe, expect, test } from 'vitest';
import { localeProblems, readLocales } from '../../../scripts/build-locales.ts';
import { localised, tagsFor } from '../../../src/locales/language.ts';
import type { Locale } from '../../../src/locales/messages.ts';
import { expandRows } from '../../../src/locales/rows.ts';
import { taskRows } from '../../../src/locales/tasks.generated.ts';
import { widgetRows } from '../../../src/locales/widget.generated.ts';
import { expectRows } from '../../support/rows.ts';

const { en, others } = readLocales();
const complete = Object.entries(others).filter(([, locale]) => locale.pages !== undefined);

describe('the languages', () => {
  test('are 43 for the widget and 17 for everything', () => {
    expect(Object.keys(others)).toHaveLength(42);
    expect(complete).toHaveLength(16);
  });

  test('are written from right to left where they are', () => {
    const rightToLeft = Object.keys(others).filter((tag) => localised([tag], others).direction === 'rtl');
    expect(rightToLeft).toEqual(['ar', 'fa', 'he', 'ur']);
  });

  test('serve a visitor in the nearest language', () =>
    expectRows(
      [
        ['pt-BR', 'pt'],
        ['zh-TW', 'zh-tw'],
        ['zh-Hans-CN', 'zh'],
        ['xx', 'en'],
        ['', 'en'],
        ['constructor', 'en'],
      ],
      ([language, tag]) => {
        expect(localised(tagsFor(language), { en, ...others }).tag).toBe(tag);
      },
    ));

  test('no language has a page text left in English', () =>
    expectRows(complete, ([, { pages, waitPage }]) => {
      for (const [field, text] of Object.entries({ ...pages })) expect(text, field).not.toBe(valueOf(en.pages, field));
      for (const [field, text] of Object.entries({ ...waitPage }))
        expect(text, field).not.toBe(valueOf(en.waitPage, field));
    }));
});

describe('a language file is refused', () => {
  const { de } = others as { de: Required<Locale> };
  const { close: _close, ...withoutClose } = de.widget;
  const { waitPage: _waitPage, ...withoutWaitPage } = de;
  test('that lacks a text, has another, or would leave its place', () =>
    expectRows(
      [
        ['that lacks a text', { ...de, widget: withoutClose }, ['widget.close is missing']],
        [
          'with a text that English has not',
          { ...de, widget: { ...de.widget, ok: 'Ja' } },
          ['widget.ok is not in en.json'],
        ],
        ['with an empty text', { widget: { ...de.widget, close: ' ' } }, ['widget.close is empty or not plain text']],
        ['with markup', { widget: { ...de.widget, close: '<b>Zu</b>' } }, ['widget.close is empty or not plain text']],
        [
          'with a quotation mark that would end an attribute',
          { widget: { ...de.widget, close: '"' } },
          ['widget.close is empty or not plain text'],
        ],
      ],
      ([, locale, problems]) => {
        expect(localeProblems(locale as Locale, en)).toEqual(problems);
      },
    ));

  test('that has some sections beside the widget, but not all', () => {
    expect(localeProblems(withoutWaitPage, en)).toEqual(
      Object.keys(en.waitPage).map((field) => `waitPage.${field} is missing`),
    );
  });
});

describe('rows for the browser', () => {
  test('say in every language what its file says', () =>
    expectRows(Object.entries(others), ([tag, { widget, tasks }]) => {
      expect(expandRows(widgetRows)[tag]).toEqual(widget);
      expect(expandRows(taskRows)[tag]).toEqual(tasks);
    }));
});

function valueOf(texts: Readonly<Record<string, string>>, field: string): string | undefined {
  return texts[field];
}
