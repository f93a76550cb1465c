/** What the API can do, the console can do: it calls every operation that has a view. */
import { globSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

const { paths } = JSON.parse(readFileSync('docs/openapi.json', 'utf8')) as {
  paths: Record<string, Record<string, { tags: string[] }>>;
};
const source = globSync('src/console/**/*.{ts,tsx}')
  .filter((path) => !path.endsWith('.d.ts'))
  .map((path) => readFileSync(path, 'utf8'))
  .join('\n');

/** For visitors and for other services' clients, not for people who run an account. */
const FOR_VISITORS = /^\/captcha\/|^\/(?:turnstile|hcaptcha|recaptcha)\//;

/** The console saves a whole draft of policies, and checks a condition with the parser of the service. */
const IN_THE_DRAFT = /^\/protect\/policies\/(?:add|update|move|remove|check)$/;

const WITHOUT_A_VIEW = [FOR_VISITORS, IN_THE_DRAFT];
const managed = Object.keys(paths).filter((path) => !WITHOUT_A_VIEW.some((pattern) => pattern.test(path)));

/** Of the command line as well. */
const PREVIEW_OF_LIMITS = '/protect/limits/preview';

test.each(managed.filter((path) => path !== PREVIEW_OF_LIMITS))('the console calls %s', (path) => {
  expect(source.includes(`'${path}'`)).toBe(true);
});
