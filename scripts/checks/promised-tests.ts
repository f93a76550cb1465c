/** Each promise of the README has one test over HTTP and one in a browser, in the order of the README. */
import { readFileSync } from 'node:fs';
import { promises } from '../../test/promises/readme.ts';

const FILES = ['test/promises/over-http.test.ts', 'test/promises/in-a-browser.test.ts'];

export async function checkPromisedTests(): Promise<string[]> {
  return FILES.flatMap((path) => promisesWithoutTest(path, readFileSync(path, 'utf8')));
}

/** A test names its promise before the first colon of its title. */
function promisesWithoutTest(path: string, source: string): string[] {
  const tested = [...source.matchAll(/^test\('([^:']+): /gm)].map(([, promise = '']) => promise);
  if (tested.join('\n') === promises.join('\n')) return [];
  return [
    `${path} tests the promises "${tested.join('", "')}", and README.md makes the promises "${promises.join('", "')}"`,
  ];
}
