/** The widget and its proof-of-work Worker are on every protected form: 10 KiB together, and no tricks in them. */
import { gzipSync } from 'node:zlib';
import { clientAssets } from '../../src/widget/bundle.generated.ts';

const WIDGET_MAX_GZIP_BYTES = 10 * 1024;
const counted = ['widget.js', 'pow-worker.js'];

/** What the strictest CSP forbids, and hosts that are not the service's own. */
const forbidden: readonly [RegExp, string][] = [
  [/\beval\(|new Function\(/, 'evaluates text as code'],
  [/\bWebAssembly\b/, 'uses WebAssembly'],
  [/["'`](https?:)?\/\/(?!www\.w3\.org\/)[a-z0-9-]+\.[a-z]/i, 'names a host'],
];

export async function checkClientSize(): Promise<string[]> {
  const problems: string[] = [];
  const bytes = counted.reduce((sum, name) => sum + gzipSync(clientAssets[name]?.body ?? '', { level: 9 }).length, 0);
  if (bytes > WIDGET_MAX_GZIP_BYTES) {
    problems.push(`${counted.join(' + ')}: ${bytes} bytes gzipped, at most ${WIDGET_MAX_GZIP_BYTES}`);
  }
  for (const [name, { body }] of Object.entries(clientAssets)) {
    for (const [pattern, what] of forbidden) if (pattern.test(body)) problems.push(`${name} ${what}`);
  }
  return problems;
}
