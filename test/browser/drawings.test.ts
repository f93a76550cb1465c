/** The drawings of the documentation, as a browser draws them: every text is whole, in its box, and to be read. */
import { globSync, readFileSync } from 'node:fs';
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { expectRows } from '../support/rows.ts';
import { useVisitor } from '../support/visitor.ts';

const MARGIN_PX = 4;
/** WCAG 2.2, 1.4.3, for text of normal size. */
const CONTRAST_MIN = 4.5;

const drawings = globSync('docs/**/*.svg');
const visitor = useVisitor();

interface DrawnText {
  text: string;
  /** From the edge of the text to that of the smallest rectangle around its middle; negative outside of it. */
  roomPx: number;
  contrast: number;
}

/** Runs in the page. */
function drawnTexts(): DrawnText[] {
  const luminance = (colour: string): number => {
    const [red = 0, green = 0, blue = 0] = (colour.match(/[\d.]+/g) ?? []).map((part) => {
      const share = Number(part) / 255;
      return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  };
  const fillOf = (element: Element): number => luminance(getComputedStyle(element).fill);
  const boxes = [...document.querySelectorAll('rect')].map((rect) => ({ rect, box: rect.getBoundingClientRect() }));
  return [...document.querySelectorAll('text')].map((element) => {
    const text = element.getBoundingClientRect();
    const [x, y] = [text.left + text.width / 2, text.top + text.height / 2];
    const around = boxes
      .filter(({ box }) => box.left <= x && x <= box.right && box.top <= y && y <= box.bottom)
      .toSorted((a, b) => a.box.width * a.box.height - b.box.width * b.box.height)[0];
    if (around === undefined) return { text: element.textContent ?? '', roomPx: -1, contrast: 0 };
    const { box, rect } = around;
    const shades = [fillOf(element), fillOf(rect)].toSorted((a, b) => b - a);
    return {
      text: element.textContent ?? '',
      roomPx: Math.min(text.left - box.left, box.right - text.right, text.top - box.top, box.bottom - text.bottom),
      contrast: ((shades[0] ?? 0) + 0.05) / ((shades[1] ?? 0) + 0.05),
    };
  });
}

async function drawn(page: Page, path: string): Promise<DrawnText[]> {
  await page.setContent(`<body style="margin:0">${readFileSync(path, 'utf8')}`);
  return page.evaluate(drawnTexts);
}

test('every text of a drawing is whole and in contrast, in both themes', () =>
  expectRows(
    drawings.flatMap((path) => (['light', 'dark'] as const).map((colorScheme) => [path, colorScheme] as const)),
    async ([path, colorScheme]) => {
      await visitor.comesAs({ colorScheme, viewport: { width: 900, height: 600 } });
      const texts = await drawn(visitor.page, path);
      expect(texts.length).toBeGreaterThan(5);
      expect(texts.filter(({ roomPx, contrast }) => roomPx < MARGIN_PX || contrast < CONTRAST_MIN)).toEqual([]);
    },
  ));

test('a drawing says in words what it shows', () =>
  expectRows(drawings, (path) => {
    expect(readFileSync(path, 'utf8')).toMatch(/<title id="t">.+<\/title>\s*<desc id="d">.{80,}<\/desc>/);
  }));

test('a text that is too long for its box is found', async () => {
  const long = readFileSync('docs/gatehouse.svg', 'utf8').replace('>Your site<', '>Your site, with a name<');
  await visitor.page.setContent(`<body style="margin:0">${long}`);
  const texts = await visitor.page.evaluate(drawnTexts);
  expect(texts.filter(({ roomPx }) => roomPx < MARGIN_PX).map(({ text }) => text)).toEqual(['Your site, with a name']);
});
