/** Browser code: within its size limits, and without anything that the strictest CSP refuses. */
import { buildClient, checkClientSizes } from '../build-client.ts';
import { buildConsole, checkConsoleSizes } from '../build-console.ts';

/** The last pattern finds a foreign host. XML namespaces are names, not hosts. */
const forbidden: readonly [RegExp, string][] = [
  [/\beval\(|new Function\(/, 'evaluates text as code'],
  [/\bWebAssembly\b/, 'uses WebAssembly'],
  [/["'`](https?:)?\/\/(?!www\.w3\.org\/)[a-z0-9-]+\.[a-z]/i, 'names a host'],
];

export async function checkClientSize(): Promise<string[]> {
  const assets = await buildClient();
  const console = await buildConsole();
  const bodies = [
    ...Object.entries(assets).map(([name, { body }]) => [name, body] as const),
    ...Object.entries(console.files),
  ];
  const refused = bodies.flatMap(([name, body]) =>
    forbidden.flatMap(([pattern, what]) => (pattern.test(body) ? [`${name} ${what}`] : [])),
  );
  return [...checkClientSizes(assets), ...checkConsoleSizes(console), ...refused];
}
