/** The nonce of a page load, as the protect script finds it in the address by which its page names it. */
import { browse } from './browse.ts';

/** Loads a page without a session's cookie. `null`: the page has no script, or one without a nonce. */
export async function pageLoadAt(pageUrl: string, headers: Record<string, string>): Promise<string | null> {
  const response = await browse(pageUrl, { headers });
  return loadNonceOf(await response.text());
}

export function loadNonceOf(page: string): string | null {
  const found = /\/__protect\/protect\.js\?v=[0-9a-f]*#([\w.-]+)"|data-session="([\w.-]+)"/.exec(page);
  return found?.[1] ?? found?.[2] ?? null;
}
