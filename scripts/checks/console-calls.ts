/** What the API can do, the console can do: it calls every operation that has a view. */
import { globSync, readFileSync } from 'node:fs';

/** For visitors and for other services' clients, not for people who run an account. */
const FOR_VISITORS = /^\/captcha\/|^\/(?:turnstile|hcaptcha|recaptcha)\//;

/** The console saves a whole draft of policies, and checks a condition with the parser of the service. */
const IN_THE_DRAFT = /^\/protect\/policies\/(?:add|update|move|remove|check)$/;

/** The preview of limits is part of the command line as well. */
const WITHOUT_A_VIEW = [FOR_VISITORS, IN_THE_DRAFT, /^\/protect\/limits\/preview$/];

export async function checkConsoleCalls(): Promise<string[]> {
  const { paths } = JSON.parse(readFileSync('docs/openapi.json', 'utf8')) as { paths: Record<string, unknown> };
  const source = globSync('src/console/**/*.{ts,tsx}')
    .filter((path) => !path.endsWith('.d.ts'))
    .map((path) => readFileSync(path, 'utf8'))
    .join('\n');
  return Object.keys(paths)
    .filter((path) => !WITHOUT_A_VIEW.some((pattern) => pattern.test(path)) && !source.includes(`'${path}'`))
    .map((path) => `the console does not call ${path}`);
}
