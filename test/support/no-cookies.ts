/** A browser of a test that keeps no cookies. */
import type { BrowserContext } from 'playwright-core';

/** It accepts no cookie from a server: the test makes its requests for it, without a cookie jar. */
export async function keepNoCookies(of: BrowserContext): Promise<void> {
  await of.route('**', async (route) => {
    const asked = route.request();
    const { cookie: _dropped, ...headers } = await asked.allHeaders();
    const body = asked.postDataBuffer();
    const init = { method: asked.method(), headers, redirect: 'manual', ...(body === null ? {} : { body }) } as const;
    const answer = await fetch(asked.url(), init as RequestInit);
    const kept = [...answer.headers].filter(([name]) => !/^(?:set-cookie|content-(?:encoding|length))$/.test(name));
    await route.fulfill({
      status: answer.status,
      headers: Object.fromEntries(kept),
      body: Buffer.from(await answer.arrayBuffer()),
    });
  });
}
