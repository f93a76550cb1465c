/** The version of this checkout. */
import { readFileSync } from 'node:fs';

export function version(): string {
  return (JSON.parse(readFileSync('package.json', 'utf8')) as { version: string }).version;
}
