/** The shell line that makes the same call as the console. */
import type { Sent } from './send.ts';

/** In single quotes, which a POSIX shell leaves alone. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

export function curlLine({ method, path, body }: Sent, origin: string = location.origin): string {
  const parts = ['curl -s'];
  if (method === 'PUT') parts.push('-X PUT');
  parts.push(quoted(origin + path), `-H "Authorization: Bearer $KEY"`);
  if (method !== 'GET') parts.push(`-H 'Content-Type: application/json'`, `-d ${quoted(JSON.stringify(body ?? {}))}`);
  return parts.join(' ');
}
