/** The container's health check: gate and service respond and say that they are well. */
import { readFileSync } from 'node:fs';

/** Below the five seconds that the image gives this program. */
const TIMEOUT_MS = 4000;

try {
  // It is there once everything runs.
  const { edgeUrl, serviceUrl } = JSON.parse(readFileSync('.gatehouse/stack.json', 'utf8'));
  for (const url of [`${edgeUrl}/__protect/health`, `${serviceUrl}/health`]) {
    const response = await fetch(url, { signal: AbortSignal.timeout(TIMEOUT_MS) });
    if (!response.ok) throw new Error(`${url} returned ${response.status}`);
  }
} catch (error) {
  console.error(error.message);
  process.exitCode = 1;
}
