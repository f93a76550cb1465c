// Verifies the form field `captcha-response` with Gatehouse, once per submission.
// Run: CAPTCHA_URL=… CAPTCHA_SECRET=… node verify.mjs "$FIELD"

import { realpathSync } from 'node:fs';
import { pathToFileURL } from 'node:url';

/** @returns {Promise<boolean>} Throws when the call fails. Treat that as "not verified". */
export async function isVerified(field, ip) {
  const response = await fetch(`${process.env.CAPTCHA_URL}/siteverify`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ secret: process.env.CAPTCHA_SECRET, token: field, ...(ip ? { ip } : {}) }),
    signal: AbortSignal.timeout(5000),
  });
  if (!response.ok) throw new Error(`the captcha call failed: ${response.status} ${await response.text()}`);
  return (await response.json()).verified === true;
}

// Node has `import.meta.main` since version 24 only.
const isMain = process.argv[1] !== undefined && import.meta.url === pathToFileURL(realpathSync(process.argv[1])).href;
if (isMain) console.log((await isVerified(process.argv[2] ?? '')) ? 'verified' : 'refused');
